"""Tectonic's names on a master that starts its cluster, and Tectonic's own units where they fail."""

from machine import generic

# The lab's machine, as kubelet would register it.
NODE = "node1"
API = "https://cluster.lab.example"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": API}}],
    "users": [{"name": "u", "user": {"token": "of-the-lab"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}
# Counts its runs, and says whether the mark is there already: it must not be.
STAGE = """#!/bin/sh
echo "$1 $(ls /opt/tectonic/init_$1.done 2>/dev/null)" >>/lab/stages
. /lab/behaviour
"""
STEADY = {"identify", "kernel-modules", "sysctls", "start-runtime", "gate", "kubelet"}


def master(**group):
    stages = {
        "controlPlane": {"run": ["/opt/lab/stage", "bootkube"], "waitFor": ["/opt/tectonic/bootkube.sh"], "timeout": "20s"},
        "platformStage": {"run": ["/opt/lab/stage", "tectonic"], "waitFor": ["/opt/tectonic/tectonic.sh"], "timeout": "20s"},
    }
    made = generic(role="control-plane", bootstrap=True, **(stages | group))
    spec = made["spec"]
    spec["flavour"] = "tectonic"
    spec["join"] = {"method": "kubeconfig", "kubeconfig": {"file": "/etc/lab/kubeconfig"}}
    for part in spec["nodeGroups"]:
        part["files"].append({"path": "/opt/lab/stage", "content": STAGE, "mode": "0755"})
    return made


def options(machine, *assets):
    """The API's answer for the node, the credentials, and assets that are there from the start."""
    words = [
        "--serve", f"{API}/api/v1/nodes/{NODE}={machine.give({'kind': 'Node'}, 'node')}",
        "--file", f"/etc/lab/kubeconfig={machine.give(KUBECONFIG, 'kubeconfig')}",
    ]  # fmt: skip
    for asset in assets:
        words += ["--file", f"{asset}={machine.give('asset', 'asset')}"]
    return words


SCRIPTS = ("/opt/tectonic/bootkube.sh", "/opt/tectonic/tectonic.sh")
THROUGH = ("--until", "report=finished")


def stages(machine):
    return machine.text("/lab/stages").splitlines()


def whole(trial, machine):
    """Both stages have run once, in order, each before its mark."""
    assert stages(machine) == ["bootkube ", "tectonic "], stages(machine)
    for name in ("bootkube", "tectonic"):
        assert machine.path(f"/opt/tectonic/init_{name}.done").exists(), trial.story()


def failed(trial):
    ours = ("k8s-node-bootstrap", "bringup", "kubelet", "bootkube", "tectonic")
    return [event for event in trial.events if event["event"] == "failed" and event["actor"].startswith(ours)]


def boots(lab):
    machine = lab.machine("tectonic")
    first = machine.boot(master(), *options(machine, *SCRIPTS), *THROUGH).came_up()
    whole(first, machine)
    assert not failed(first), failed(first)
    for name, follows in (("bootkube", "kubelet"), ("tectonic", "registered")):
        (handed,) = first.of(name, "handed-over")
        (began,) = first.of(f"{name}.service", "starting")
        (done,) = first.of(name, "finished")
        assert first.of(follows, "finished")[0]["at_ms"] <= handed["at_ms"] <= began["at_ms"] <= done["at_ms"], first.story()
    tree = machine.tree()
    # The second boot: nothing is done again, no path unit runs into a service that does not start.
    second = machine.boot(master(), *options(machine, *SCRIPTS)).came_up()
    assert set(second.steps("started")) <= STEADY, second.story()
    assert not second.of("bootkube", "handed-over") and not second.of("bootkube.path"), second.story()
    whole(second, machine)
    assert not failed(second), failed(second)
    machine.like(tree)


def killed(lab):
    machine = lab.machine("tectonic killed")
    trial = machine.boot(master(), *options(machine, *SCRIPTS), "--kill", "bootkube", "--kill", "tectonic", *THROUGH).came_up()
    whole(trial, machine)
    assert len(trial.of("agent", "killed")) + len(trial.of("lab", "killed")) >= 2, trial.story()


def cases():
    yield "tectonic: first boot, second boot", boots
    yield "tectonic: the agent of a stage is killed", killed
