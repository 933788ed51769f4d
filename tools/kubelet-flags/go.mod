// Only marks the root of a module: `run` writes the real one for each minor.
module bringup.dev/tools/kubelet-flags

go 1.24
