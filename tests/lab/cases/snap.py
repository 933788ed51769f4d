"""Ubuntu's kubelet, which is a snap: set and started through snapd's socket once the gate is open.

No snap runs in the lab: its snapd is a stand-in that answers as snapd does, keeps what it is told, and writes the arguments of
kubelet as the snap's own hook does; the snap's unit starts the lab's stand-in for kubelet with them.
"""

import json

from machine import document

UNIT = "snap.kubelet-eks.daemon.service"

def ubuntu():
    made = document(os={"family": "ubuntu", "version": "22.04"})
    made["spec"]["flavour"] = "eksctl"
    return made


def asked(machine):
    return [json.loads(line) for line in machine.text("/lab/snapd-asked").splitlines()]


def killed(lab):
    """The agent is killed before, at and after the gate: the snap is set as ever, and started once in each boot."""
    undisturbed = lab.machine("snap, undisturbed")
    undisturbed.boot(ubuntu()).came_up()
    machine = lab.machine("snap, killed")
    steps = ("eksctl-kubelet", "gate", "kubelet")
    kills = [word for step in steps for word in ("--kill", step)]
    trial = machine.boot(ubuntu(), "--reboot", *kills, patience=90).came_up()
    assert len(trial.of("lab", "killed")) == len(steps), trial.story()
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    first, second = machine.calls()
    assert first["arguments"] == second["arguments"] == undisturbed.calls()[0]["arguments"], machine.calls()


def set_and_started(lab):
    machine = lab.machine("snap")
    trial = machine.boot(ubuntu(), "--reboot").came_up()
    calls = machine.calls()
    assert len(calls) == 2, calls
    for call in calls:
        assert "--config=/etc/eksctl/kubelet.yaml" in call["arguments"], call
        assert any(word.startswith("--node-ip=1") for word in call["arguments"]), call
    conf, start = "/v2/snaps/kubelet-eks/conf", ["POST", "/v2/apps", {"action": "start", "names": ["kubelet-eks"]}]
    names = ["GET", "/v2/aliases", None]
    kubectl, kubelet = [
        ["POST", "/v2/aliases", {"action": "alias", "alias": name, "app": name, "snap": f"{name}-eks"}] for name in ("kubectl", "kubelet")
    ]
    first, second = asked(machine)[:6], asked(machine)[6:]
    assert first[:3] == [names, kubectl, kubelet], first
    assert [request[:2] for request in first[3:]] == [["GET", conf], ["PUT", conf], ["POST", "/v2/apps"]], first
    assert first[5] == start and first[4][2]["kubeconfig"] == "/etc/eksctl/kubeconfig.yaml", first
    # Named and set already when the machine starts again, it is started all the same, once; what was not there is asked for again.
    assert second == [names, kubectl, ["GET", conf, None], start], second
    for boot in (1, 2):
        trial.check(len(trial.of("kubelet.service", "started", boot)) == 1, f"kubelet was not started once in boot {boot}")
    # All of eksctl's files, and the whole table without its rows in the user-data.
    rows = machine.text("/etc/eksctl/max_pods.map").splitlines()
    assert len(rows) > 1000 and "m5.large 29" in rows, len(rows)
    entry = machine.path("/var/lib/cloud/scripts/eksctl/bootstrap.ubuntu.sh")
    assert str(entry.readlink()) == "/opt/bringup/bin/bringup-node", entry
    assert not machine.path(f"/etc/systemd/system/multi-user.target.wants/{UNIT}").exists()


def cases():
    yield "kubelet is set and started through snapd, twice", set_and_started
    yield "kubelet is a snap: killed three times, and a second boot", killed
