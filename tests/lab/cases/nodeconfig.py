"""In place of nodeadm: the agent with user-data's NodeConfigs, on an image of EKS' kind."""

import base64
import json

import machine as bench
from machine import CERTIFICATE

KUBELET = """[Unit]
After=containerd.service
[Service]
EnvironmentFile=/etc/eks/kubelet/environment
ExecStartPre=/bin/sh /lab/murder kubelet
ExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS
Restart=on-failure
"""
# What stands in the place of nodeadm's own units.
UNIT = """[Unit]
Wants=network-online.target
After=network-online.target
[Service]
ExecStart=/opt/bringup/bin/bringup-node up --config imds://user-data /etc/eks/nodeadm.d
Restart=on-failure
"""
# In units that are started for the agent: where it is armed, the first start ends the agent.
MURDER = """. /lab/behaviour
[ -n "$armed" ] && mkdir /lab/murder-by-$1 2>/dev/null || exit 0
systemctl kill --signal=KILL node-config.service
"""
WANTED = "[Unit]\nWants=node-config.service\n"
DROP_IN = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": {"config": {"maxPods": 20}}}}
USER_DATA = f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: prod
    apiServerEndpoint: https://api.lab.example
    certificateAuthority: {base64.b64encode(CERTIFICATE.encode()).decode()}
    cidr: 10.100.0.0/16
  kubelet:
    flags: [--node-labels=lab.example/a=b]
  instance:
    environment: {{default: {{LAB: "50%"}}, kubelet: {{OWN: one}}}}

--//--
"""


def image(machine):
    """The options that make the machine one of EKS' kind, with the agent in the place of nodeadm."""
    files = {
        "/etc/systemd/system/kubelet.service": KUBELET,
        "/etc/systemd/system/node-config.service": UNIT,
        "/etc/systemd/system/multi-user.target.d/lab.conf": WANTED,
        "/etc/systemd/system/containerd.service.d/lab.conf": "[Service]\nExecStartPre=/bin/sh /lab/murder containerd\n",
        "/lab/murder": MURDER,
        "/etc/eks/nodeadm.d/pods.json": json.dumps(DROP_IN),
        "/etc/eks/kubelet-version.txt": "Kubernetes v1.34.1-eks-1\n",
        "/etc/eks/containerd-version.txt": "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7\n",
    }
    options = ["--file", f"/opt/bringup/bin/bringup-node={bench.BRINGUP.with_name('bringup-node')}"]
    for path, text in files.items():
        options += ["--file", f"{path}={machine.give(text, path.strip('/').replace('/', '-'))}"]
    return options


def two_boots(lab):
    """The node comes up from user-data and a drop-in, and again after a reboot; kubelet has nodeadm's files and arguments."""
    machine = lab.machine("nodeconfig")
    machine.boot(USER_DATA, *image(machine), "--reboot", gated=False, patience=90).came_up()
    calls = machine.calls()
    assert len(calls) == 2 and calls[0]["arguments"] == calls[1]["arguments"], calls
    assert calls[0]["arguments"][-1] == "--node-labels=lab.example/a=b", calls
    assert "--config-dir=/etc/kubernetes/kubelet/config.json.d" in calls[0]["arguments"], calls
    config = json.loads(machine.text("/etc/kubernetes/kubelet/config.json"))
    assert config["clusterDNS"] == ["10.100.0.10"] and config["shutdownGracePeriod"] == "2m30s"
    assert json.loads(machine.text("/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"))["maxPods"] == 20
    assert machine.text("/etc/kubernetes/pki/ca.crt") == CERTIFICATE
    assert machine.text("/etc/systemd/system.conf.d/environment.conf") == '[Manager]\nDefaultEnvironment="LAB=50%%"\n'
    # Another one, whose agent is killed while the runtime starts and while kubelet does.
    killed = lab.machine("nodeconfig killed")
    trial = killed.boot(USER_DATA, *image(killed), "--reboot", behaviour="armed=yes", gated=False, patience=90).came_up()
    murders = sorted(path.name for path in killed.path("/lab").glob("murder-by-*"))
    assert murders == ["murder-by-containerd", "murder-by-kubelet"], (murders, trial.story())
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    assert [call["arguments"] for call in killed.calls()] == [call["arguments"] for call in calls], killed.calls()
    killed.like(machine.tree())


def cases():
    yield "NodeConfigs of user-data and of a directory, twice, and killed twice", two_boots
