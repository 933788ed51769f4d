"""Self-managed nodes of EKS on Amazon Linux 2: settings over the image's own, and a template that calls bootstrap.sh."""

import json
import pathlib
import subprocess

import machine as bench
from machine import document

from cases.bootstrap import config, image

# What the image has, and what is laid over it.
OWN = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "serverTLSBootstrap": True,
    "hairpinMode": "hairpin-veth",
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
}
SETTINGS = {"cpuManagerPolicy": "static", "evictionHard": {"memory.available": "200Mi"}}
# Stands for the image's program that fetches the image of the pod sandbox.
PULL = "#!/bin/sh\ncat /proc/uptime >>/lab/pulled\n"
# Keeps how it was called.
SIGNAL = '#!/bin/sh\necho "$@" >>/lab/signals\n'
TEMPLATE = pathlib.Path(__file__).parents[3] / "examples/eks-flavour/cluster.yaml"


def settings(lab, kills=()):
    """The image's settings stay, ours lie over them before kubelet starts: once in each boot, with the same files."""
    machine = lab.machine(f"settings over the image's, {len(kills)} kills")
    made = document(os="amazon-linux-2", kubelet={"config": SETTINGS}, kernelModules=[], sysctls={})
    made["spec"] |= {"flavour": "eks", "kubernetes": {"version": "1.32"}}
    own = machine.give(OWN, "kubelet-config.json")
    pull = machine.give(PULL, "pull-sandbox-image.sh", 0o755)
    options = [word for step in kills for word in ("--kill", step)]
    options += ["--file", f"/etc/kubernetes/kubelet/kubelet-config.json={own}"]
    options += ["--file", f"/etc/eks/containerd/pull-sandbox-image.sh={pull}"]
    trial = machine.boot(made, *options, "--reboot", patience=90).came_up()
    assert len(trial.of("lab", "killed")) == len(kills), trial.story()
    assert [len(trial.of("kubelet.service", "started", boot)) for boot in (1, 2)] == [1, 1], trial.story()
    # Kubelet waits for the image of the pod sandbox, which containerd cannot fetch by itself.
    for boot in (1, 2):
        fetched, kubelet = trial.of("sandbox-image.service", "started", boot), trial.of("kubelet.service", "started", boot)
        assert fetched and fetched[0]["at_ms"] <= kubelet[0]["at_ms"], trial.story()
    assert len(machine.text("/lab/pulled").splitlines()) >= 2
    found = config(machine)
    # The third is bootstrap.sh's own.
    evicted = {"memory.available": "200Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}
    assert found["evictionHard"] == evicted, found
    assert found["hairpinMode"] == "hairpin-veth" and found["cpuManagerPolicy"] == "static", found
    extra = json.loads(machine.text("/etc/eksctl/kubelet-extra.json"))
    assert extra == SETTINGS, extra
    labels = next(word for word in machine.calls()[0]["arguments"] if word.startswith("--node-labels="))
    assert "node-lifecycle=on-demand" in labels and "alpha.eksctl.io/instance-id=i-" in labels, labels


def called(lab):
    """A template's user-data calls the script with its arguments and tells the stack: kubelet is started once."""
    machine = lab.machine("a template that calls")
    render = [bench.BRINGUP, "render", TEMPLATE, "--group", "called", "--as", "cloudformation"]
    template = subprocess.run(render, stdout=subprocess.PIPE, check=True).stdout.decode()
    signal = machine.give(SIGNAL, "cfn-signal", 0o755)
    trial = machine.boot(template, *image(machine), "--file", f"/opt/aws/bin/cfn-signal={signal}", gated=False).came_up()
    assert machine.text("/lab/signals") == "--exit-code 0 --stack lab --resource NodeGroup --region eu-central-1\n"
    assert len(trial.of("kubelet.service", "started")) == 1 and len(machine.calls()) == 1, trial.story()
    arguments = machine.calls()[0]["arguments"]
    assert "--node-labels=nodes.example.com/kind=called" in arguments, arguments
    assert "--register-with-taints=dedicated=batch:NoSchedule" in arguments and "--max-pods=20" in arguments, arguments


def cases():
    yield "settings are laid over the image's own, twice", settings
    killed = ("kubelet-config", "gate", "kubelet")
    yield "settings are laid over the image's own: killed three times, and a second boot", lambda lab: settings(lab, killed)
    yield "a template that calls bootstrap.sh with arguments and a signal", called
