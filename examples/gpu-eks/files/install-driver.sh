#!/bin/sh
# Installs NVIDIA's driver for the GPU of this instance type and loads it. Run again, it finds its work done.
set -eu
instance_type=$1

case $instance_type in
    g4dn.* | g5.*) module=nvidia-open ;;
    *)
        echo "no driver is known for $instance_type" >&2
        exit 64
        ;;
esac

if [ ! -e /proc/driver/nvidia/version ]; then
    dnf --assumeyes install "kernel-devel-$(uname -r)" kernel-modules-extra
    dnf --assumeyes install "$module" nvidia-container-toolkit
    modprobe nvidia
    modprobe nvidia-uvm
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
