#!/bin/bash
# Brings a node up as eksctl's design of 2019 describes it: three questions to the metadata service, one file, one unit.
# Cloud-init has written everything else beneath /etc/eksctl beforehand.
set -euo pipefail

service=http://169.254.169.254/latest/meta-data

pods_of() {
    local kind pods
    while read -r kind pods; do
        [[ $kind != "$1" ]] || { echo "$pods"; return; }
    done </etc/eksctl/max_pods.map
}

address=$(curl --silent --fail "$service/local-ipv4")
id=$(curl --silent --fail "$service/instance-id")
kind=$(curl --silent --fail "$service/instance-type")

# It may set MAX_PODS.
# shellcheck source=/dev/null
source /etc/eksctl/kubelet.env

cat >/etc/eksctl/kubelet.local.env <<EOF
NODE_IP=$address
INSTANCE_ID=$id
INSTANCE_TYPE=$kind
MAX_PODS=${MAX_PODS:-$(pods_of "$kind")}
EOF

systemctl daemon-reload
systemctl enable kubelet
systemctl start kubelet
