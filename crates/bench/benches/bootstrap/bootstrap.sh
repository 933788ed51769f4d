#!/usr/bin/env bash
# Joins an EKS cluster as the script of EKS' images did: written for this comparison, with the same programs at the same
# points, no more processes than were counted of the original, and the same number of requests.
# shellcheck disable=SC2016
set -euo pipefail

say() { echo "$(date '+%FT%T%z') [bootstrap] $*" >&2; }

cluster='' authority='' endpoint='' services='' more=''
while [[ $# -gt 0 ]]; do
    case $1 in
    --b64-cluster-ca) authority=$2; say "$1='$2'"; shift 2 ;;
    --apiserver-endpoint) endpoint=$2; say "$1='$2'"; shift 2 ;;
    --service-ipv4-cidr) services=$2; say "$1='$2'"; shift 2 ;;
    --kubelet-extra-args) more=$2; say "$1='$2'"; shift 2 ;;
    *) cluster=$1; shift ;;
    esac
done

SESSION=$(ask token)
export SESSION

version=$(kubelet --version | grep --extended-regexp --only-matching '[0-9]\.[0-9]+\.[0-9]+')
say "kubelet is $version"
at-least "$version" 1.24.0 || { say 'too old'; exit 1; }
say 'the runtime is containerd'

region=$(ask dynamic/instance-identity/document | jq --raw-output .region)
domain=$(ask meta-data/services/domain)
[[ $(uname --machine) == x86_64 ]] || { say 'unknown machine'; exit 1; }
bpf
pause=$(registry "$region" "$domain")/eks/pause:3.5

mkdir --parents /etc/kubernetes/pki
echo "$authority" | base64 --decode >/etc/kubernetes/pki/ca.crt
kubeconfig=/var/lib/kubelet/kubeconfig
sed --in-place "s,MASTER_ENDPOINT,$endpoint,g" "$kubeconfig"
sed --in-place "s,AWS_REGION,$region,g" "$kubeconfig"
sed --in-place "s,CLUSTER_NAME,$cluster,g" "$kubeconfig"

ask meta-data/mac >/dev/null
say "the range of services is $services"

# edit FILTER [OPTIONS…]: kubelet's configuration anew, through jq.
config=/etc/kubernetes/kubelet/kubelet-config.json
edit() {
    local filter=$1 text
    shift
    text=$(jq "$@" "$filter" "$config")
    echo "$text" >"$config"
}
edit '.clusterDNS = [$address]' --arg address "${services%.*}.10"

address=$(ask meta-data/local-ipv4)
kind=$(ask meta-data/instance-type)
# shellcheck disable=SC2002
pods=$(cat /etc/eks/eni-max-pods.txt | awk "/^$kind/ { print \$2 }")
memory=$((11 * pods + 255))

# part CORES FROM TO PROMILLE…: what is kept of one range of processors.
part() { echo $(($1 > $2 ? (($1 < $3 ? $1 : $3) - $2) * $4 / 10000 : 0)); }
cores=$(($(nproc) * 1000))
processors=$(($(part $cores 0 1000 600) + $(part $cores 1000 2000 100) + $(part $cores 2000 4000 50) + $(part $cores 4000 $cores 25)))
edit '.evictionHard = {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}'
edit '.kubeReserved = {cpu: $cpu, "ephemeral-storage": "1Gi", memory: $memory}' --arg cpu "${processors}m" --arg memory "${memory}Mi"
edit ".maxPods = $pods"
edit '.providerID = $name' --arg name "$(provider-id)"
arguments="--node-ip=$address --pod-infra-container-image=$pause --v=2 --hostname-override=$(private-name) --cloud-provider=external"

mkdir --parents /etc/systemd/system
mkdir --parents /etc/containerd
mkdir --parents /etc/containerd/config.d
mkdir --parents /etc/cni/net.d
runtime=/etc/eks/containerd
sed --in-place "s,SANDBOX_IMAGE,$pause,g" $runtime/containerd-config.toml
edit '.cgroupDriver = "systemd"'
edit '.systemReservedCgroup = "/system"'
edit '.kubeReservedCgroup = "/runtime"'
if ! cmp --silent $runtime/containerd-config.toml /etc/containerd/config.toml; then
    cp $runtime/containerd-config.toml /etc/containerd/config.toml
    cp $runtime/sandbox-image.service /etc/systemd/system/sandbox-image.service
    chown root:root /etc/systemd/system/sandbox-image.service
    systemctl daemon-reload
    systemctl enable containerd sandbox-image
    systemctl restart sandbox-image containerd
fi
cp $runtime/kubelet-containerd.service /etc/systemd/system/kubelet.service
chown root:root /etc/systemd/system/kubelet.service
containerd config dump >/dev/null

drop_ins=/etc/systemd/system/kubelet.service.d
mkdir --parents $drop_ins
cat >$drop_ins/10-kubelet-args.conf <<END
[Service]
Environment='KUBELET_ARGS=$arguments'
END
cat >$drop_ins/30-kubelet-extra-args.conf <<END
[Service]
Environment='KUBELET_EXTRA_ARGS=$more'
END

systemctl daemon-reload
systemctl enable kubelet
systemctl start kubelet
say 'it is done'
