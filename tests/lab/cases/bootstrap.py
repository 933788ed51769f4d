"""Clusters of EKS: by name only, and in place of bootstrap.sh, by the agent under the script's name."""

import base64
import json

import machine as bench
from machine import CERTIFICATE, document

KUBELET = """[Unit]
After=containerd.service sandbox-image.service
Requires=containerd.service sandbox-image.service
[Service]
ExecStartPre=/bin/sh /lab/murder kubelet
ExecStart=/usr/bin/kubelet --config /etc/kubernetes/kubelet/kubelet-config.json --kubeconfig /var/lib/kubelet/kubeconfig $KUBELET_ARGS $KUBELET_EXTRA_ARGS
Restart=on-failure
[Install]
WantedBy=multi-user.target
"""
# Units that are started for the call: their first start may end whoever has asked for it.
SANDBOX = """[Unit]
After=containerd.service
Requires=containerd.service
[Service]
Type=oneshot
ExecStart=/bin/sh /lab/murder sandbox
[Install]
WantedBy=multi-user.target
"""
# Where it is armed, ends the agent under the script's name, once for each unit.
MURDER = """. /lab/behaviour
[ -n "$armed" ] && mkdir /lab/murder-by-$1 2>/dev/null || exit 0
for process in /proc/[0-9]*; do
    [ "$(cat $process/comm 2>/dev/null)" != bootstrap.sh ] || kill -KILL ${process#/proc/}
done
"""
CONTAINERD = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "SANDBOX_IMAGE"\n'
KUBECONFIG = "clusters:\n- cluster: {server: MASTER_ENDPOINT}\n"
CONFIG = {"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "serverTLSBootstrap": True}
AUTHORITY = base64.b64encode(CERTIFICATE.encode()).decode()
CLUSTERS = "https://eks.eu-central-1.amazonaws.com/clusters"
EKS = f"{CLUSTERS}/prod"
GIVEN = f"prod --b64-cluster-ca {AUTHORITY} --apiserver-endpoint https://one.lab.example --service-ipv4-cidr 10.100.0.0/16"


def image(machine):
    """The options that make the machine one of EKS' kind."""
    files = {
        "/etc/kubernetes/kubelet/kubelet-config.json": json.dumps(CONFIG),
        "/etc/eks/containerd/containerd-config.toml": CONTAINERD,
        "/etc/eks/containerd/kubelet-containerd.service": KUBELET,
        "/etc/eks/containerd/sandbox-image.service": SANDBOX,
        "/var/lib/kubelet/kubeconfig": KUBECONFIG,
        "/etc/eks/kubelet-version.txt": "Kubernetes v1.29.1-eks-1\n",
        "/lab/murder": MURDER,
    }
    agent = bench.BRINGUP.with_name("bringup-node")
    options = ["--file", f"/etc/eks/bootstrap.sh={agent}", "--file", f"/opt/bringup/bin/bringup-node={agent}"]
    for path, text in files.items():
        options += ["--file", f"{path}={machine.give(text, path.strip('/').replace('/', '-'))}"]
    return options


def script(*calls):
    """User-data that calls the script, and keeps how each call ended."""
    lines = [f"/etc/eks/bootstrap.sh {call}; echo $? >>/lab/ended" for call in calls]
    return "\n".join(["#!/bin/sh", *lines, ""])


def described(machine, name="prod"):
    """What EKS says of a cluster, for the lab to serve."""
    network = {"serviceIpv4Cidr": "10.200.0.0/16", "ipFamily": "ipv4"}
    cluster = {"name": name, "status": "ACTIVE", "endpoint": "https://api.lab.example", "certificateAuthority": {"data": AUTHORITY}}
    return f"{CLUSTERS}/{name}={machine.give({'cluster': cluster | {'kubernetesNetworkConfig': network}}, 'cluster.json')}"


def config(machine):
    return json.loads(machine.text("/etc/kubernetes/kubelet/kubelet-config.json"))


def named(lab):
    """With the cluster's name only, EKS is asked once; kubelet starts once in each boot, in the second one by itself."""
    machine = lab.machine("bootstrap by name")
    text = script("prod --kubelet-extra-args '--node-labels=lab.example/a=b'")
    trial = machine.boot(text, *image(machine), "--serve", described(machine), "--reboot", gated=False).came_up()
    assert machine.text("/lab/ended") == "0\n"
    assert [request["url"] for request in machine.heard()] == [EKS], machine.heard()
    calls = machine.calls()
    assert len(calls) == 2 and calls[0]["arguments"] == calls[1]["arguments"], calls
    assert "--node-labels=lab.example/a=b" in calls[0]["arguments"], calls
    assert config(machine)["clusterDNS"] == ["10.200.0.10"] and config(machine)["serverTLSBootstrap"]
    assert machine.text("/etc/kubernetes/pki/ca.crt") == CERTIFICATE
    assert "server: https://api.lab.example\n" in machine.text("/var/lib/kubelet/kubeconfig")
    # A session, the identity document, the host's name; the role's name and its credentials.
    assert trial.outcome["metadata_requests"][0]["all"] == 5, trial.outcome["metadata_requests"]
    assert trial.outcome["metadata_requests"][1]["all"] == 0, trial.outcome["metadata_requests"]
    # Another one, on which the call is killed while the sandbox' image is fetched and while kubelet starts, and made again.
    killed = lab.machine("bootstrap killed")
    text = script(*["prod --kubelet-extra-args '--node-labels=lab.example/a=b'"] * 3)
    trial = killed.boot(text, *image(killed), "--serve", described(killed), "--reboot", behaviour="armed=yes", gated=False, patience=90)
    trial.came_up()
    assert killed.text("/lab/ended") == "137\n137\n0\n", (killed.text("/lab/ended"), trial.story())
    # A kubelet that was starting when its call was killed has read what the next call would write.
    assert [len(trial.of("kubelet.service", "started", boot)) for boot in (1, 2)] == [1, 1], trial.story()
    assert len(killed.calls()) == 2, killed.calls()
    assert all(call["arguments"] == calls[0]["arguments"] for call in killed.calls()), killed.calls()
    killed.like(machine.tree())


def learned(lab):
    """A document that only names its cluster: the node asks EKS in its first boot, and nobody in its second."""
    machine = lab.machine("cluster by name")
    made = document()
    del made["spec"]["api"], made["spec"]["network"]
    made["spec"]["aws"]["clusterName"] = "prod"
    trial = machine.boot(made, "--serve", described(machine), "--reboot").came_up()
    assert [request["url"] for request in machine.heard()] == [EKS], machine.heard()
    # A session, the identity document, the life-cycle, the host's name; the role's name and its credentials.
    asked = [boot["until_gate"] for boot in trial.outcome["metadata_requests"]]
    assert asked == [6, 0], trial.outcome["metadata_requests"]
    assert "server: \"https://api.lab.example\"\n" in machine.text("/var/lib/kubelet/kubeconfig")
    assert machine.text("/etc/kubernetes/pki/ca.crt") == CERTIFICATE
    assert json.loads(machine.text("/etc/kubernetes/kubelet/config.json"))["clusterDNS"] == ["10.200.0.10"]


def again(lab):
    """A second call with other values changes what changed. The script's own way, placeholders replaced in place, does not."""
    machine = lab.machine("bootstrap again")
    other = GIVEN.replace("one.lab", "two.lab") + " --pause-container-version=3.9 --kubelet-extra-args=--v=4"
    place = "/var/lib/seed-kubeconfig"
    seed = [f"sed -i s,MASTER_ENDPOINT,https://{name}.lab.example, {place}" for name in ("one", "two")]
    text = script(GIVEN, other) + "\n".join([f"echo 'server: MASTER_ENDPOINT' >{place}", *seed, ""])
    machine.boot(text, *image(machine), gated=False, patience=90).came_up()
    assert machine.text(place) == "server: https://one.lab.example\n"
    assert machine.text("/lab/ended") == "0\n0\n"
    assert "server: https://two.lab.example\n" in machine.text("/var/lib/kubelet/kubeconfig")
    assert "eks/pause:3.9" in machine.text("/etc/containerd/config.toml")
    last = machine.calls()[-1]["arguments"]
    assert "--v=4" in last and any(word.endswith("eks/pause:3.9") for word in last), last
    once = lab.machine("bootstrap once")
    trial = once.boot(script(other), *image(once), gated=False).came_up()
    for path in ("/etc/kubernetes/kubelet/kubelet-config.json", "/etc/containerd/config.toml", "/var/lib/kubelet/kubeconfig"):
        assert machine.text(path) == once.text(path), path
    assert len(once.calls()) == 1, once.calls()
    # A session, the identity document, the host's name.
    assert trial.outcome["metadata_requests"][0]["all"] == 3, trial.outcome["metadata_requests"]


def unhealthy(lab):
    """A kubelet that dies makes the call fail, where the script would have ended well."""
    machine = lab.machine("bootstrap unhealthy")
    seed = "systemctl start kubelet; echo $? >>/lab/seed-ended\n"
    machine.boot(script(GIVEN) + seed, *image(machine), "--stand-in", "dies-after=2", gated=False, patience=45)
    assert machine.text("/lab/ended") == "1\n" and machine.text("/lab/seed-ended") == "0\n"


def cases():
    yield "a document that only names its cluster", learned
    yield "bootstrap.sh with a name only: twice, and killed twice", named
    yield "bootstrap.sh called again", again
    yield "bootstrap.sh and a kubelet that dies", unhealthy
