"""Stock images without our agent: a small script does what the third ancestor's did."""

import json
import subprocess

import machine as bench
from machine import document

SNAP_UNIT = "snap.kubelet-eks.daemon.service"


def stock(os="amazon-linux-2"):
    made = document(
        os=os, agent="none", instanceTypes=["m5.large", "m5.4xlarge"],
        labels={"alpha.eksctl.io/instance-id": "@{instanceId}", "node-lifecycle": "@{lifecycle}"},
        files=[{"path": "/etc/lab/about", "content": "@{instanceType} in @{zone}, not $HOME or `id`\n"}], steps=[],
    )  # fmt: skip
    made["spec"]["flavour"] = "eksctl"
    return made


def variables(text):
    return dict(line.split("=", 1) for line in text.splitlines())


def first_and_second_boot(lab):
    machine = lab.machine("without an agent")
    trial = machine.boot(stock(), "--reboot", gated=False).came_up()
    local = variables(machine.text("/etc/eksctl/kubelet.local.env"))
    # What the lab's metadata service says of itself; 29 is 3 interfaces of 10 addresses, less one each, and two.
    assert local["INSTANCE_TYPE"] == "m5.large" and local["MAX_PODS"] == "29", local
    assert local["INSTANCE_ID"].startswith("i-") and local["NODE_IP"], local
    assert machine.text("/etc/lab/about").endswith(", not $HOME or `id`\n"), machine.text("/etc/lab/about")
    arguments = machine.calls()[0]["arguments"]
    assert f"--node-ip={local['NODE_IP']}" in arguments, arguments
    assert any(f"alpha.eksctl.io/instance-id={local['INSTANCE_ID']}" in word for word in arguments), arguments
    assert len(machine.calls()) == 2, machine.calls()
    files = {path.name for path in machine.path("/etc/eksctl").iterdir()}
    assert files == {
        "ca.crt", "kubeconfig.yaml", "kubelet.env", "kubelet.local.env", "kubelet.yaml", "max_pods.map", "metadata.env",
    }, files  # fmt: skip
    assert machine.path("/etc/systemd/system/kubelet.service.d/10-eksclt.al2.conf").exists()
    assert not machine.path("/etc/bringup").exists()
    assert trial.of("kubelet.service", "started"), trial.story()


def ubuntu(lab):
    """kubelet is a snap: set and started by the script, once in each boot."""
    made = stock({"family": "ubuntu", "version": "22.04"})
    machine = lab.machine("Ubuntu without an agent")
    trial = machine.boot(made, "--reboot", gated=False).came_up()
    assert {"snap", "snapd"} <= set(trial.outcome["stand_ins"]), trial.outcome["stand_ins"]
    local = variables(machine.text("/etc/eksctl/kubelet.local.env"))
    assert local["INSTANCE_TYPE"] == "m5.large" and local["MAX_PODS"] == "29", local
    assert machine.text("/etc/eksctl/max_pods.map") == "m5.4xlarge 234\nm5.large 29\n"
    assert variables(machine.text("/etc/eksctl/metadata.env"))["AWS_EKS_CLUSTER_NAME"] == "lab"
    files = {path.name for path in machine.path("/etc/eksctl").iterdir()}
    assert files == {
        "ca.crt", "kubeconfig.yaml", "kubelet.env", "kubelet.local.env", "kubelet.yaml", "max_pods.map", "metadata.env",
    }, files  # fmt: skip
    first, second = [call["arguments"] for call in machine.calls()]
    assert first == second, (first, second)
    for word in (
        "--config=/etc/eksctl/kubelet.yaml", "--kubeconfig=/etc/eksctl/kubeconfig.yaml", f"--node-ip={local['NODE_IP']}",
        f"--node-labels=alpha.eksctl.io/instance-id={local['INSTANCE_ID']},node-lifecycle=on-demand",
    ):  # fmt: skip
        assert word in first, (word, first)
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    # The script starts it; it does not start by itself, too.
    assert not machine.path(f"/etc/systemd/system/multi-user.target.wants/{SNAP_UNIT}").exists()
    assert not machine.path("/etc/bringup").exists()


def said(name, *more):
    """A step that writes who runs, and with what."""
    return {"name": name, "run": ["/bin/sh", "-c", f'echo "{name} $BRINGUP_ATTEMPT $*" >>/var/log/lab-steps', "sh", *more]}


def steps_before_kubelet(lab):
    """Each once, one on every boot; a service that a step starts and waits for does not wait for the step."""
    made = stock()
    service = "[Service]\nType=oneshot\nExecStart=/bin/true\n"
    group = made["spec"]["nodeGroups"][0]
    group["units"] = [{"name": "lab-driver.service", "content": service}]
    group["steps"] = [
        said("first", "@{zone}") | {"before": ["kubelet"]},
        {"name": "driver", "run": ["/bin/systemctl", "start", "lab-driver.service"], "after": ["first"], "timeout": "60s"},
        said("each") | {"after": ["driver"], "everyBoot": True},
    ]
    machine = lab.machine("steps without an agent")
    trial = machine.boot(made, "--reboot", gated=False).came_up()
    lines = machine.text("/var/log/lab-steps").splitlines()
    assert len(lines) == 3 and lines[0].startswith("first 1 ") and lines[1:] == ["each 1 ", "each 1 "], lines
    assert len(machine.calls()) == 2, machine.calls()
    marks = {path.name for path in machine.path("/var/lib/bringup/steps").iterdir()}
    assert marks == {"first", "driver"}, marks
    assert trial.of("kubelet.service", "started"), trial.story()


def built(machine, made):
    """Where the carriers are, and what the report says that is lost."""
    folder = machine.folder / "built"
    command = [bench.BRINGUP, "build", machine.give(made, "document"), "-o", folder, "--output", "json"]
    done = subprocess.run(command, capture_output=True, timeout=60)
    findings = json.loads(done.stdout)["findings"]
    return folder / "lab/workers", [finding["message"] for finding in findings if finding["code"] == "agent/without"]


MIDDLE = "[Service]\nType=oneshot\nExecStart=/bin/sh /lab/behaviour\n"
# The first time that it is started, it takes long.
LONG = "[ -e /lab/been-here ] || { touch /lab/been-here; exec sleep 6; }\n"


def disturbed(os="amazon-linux-2"):
    """One step is in the midst of its work when `lab-middle.service` starts."""
    made = stock(os)
    group = made["spec"]["nodeGroups"][0]
    group["units"] = [{"name": "lab-middle.service", "content": MIDDLE}]
    group["files"].append({"path": "/opt/lab/middle", "mode": "0755", "content": "#!/bin/sh\necho middle >>/var/log/lab-steps\nsystemctl start lab-middle.service\n"})
    group["steps"] = [
        said("first") | {"before": ["kubelet"]},
        {"name": "middle", "run": ["/opt/lab/middle"], "after": ["first"]},
        said("last") | {"after": ["middle"]},
        said("each") | {"after": ["last"], "everyBoot": True},
    ]
    return made


def powered_off(lab):
    """The power goes in the first stage, in the midst of a step, and when kubelet starts: it comes to the same end."""
    made = disturbed()
    machine = lab.machine("power cuts without an agent")
    cuts = ["cloud-init.service", "lab-middle.service", "kubelet.service"]
    trial = machine.boot(made, *[word for unit in cuts for word in ("--power-cut", unit)], behaviour=LONG, gated=False).came_up()
    assert [event["step"] for event in trial.of("lab", "power-cut")] == cuts, trial.story()
    # What was cut short is all that runs again, and that is told; kubelet was started by those who had come to the end.
    lines = machine.text("/var/log/lab-steps").splitlines()
    assert lines == ["first 1 ", "middle", "middle", "last 1 ", "each 1 ", "each 1 "], lines
    _, (lost,) = built(machine, made)
    assert "a step that was cut short, or had ended and was not marked as done yet, runs again at the next boot" in lost, lost
    assert not trial.of("kubelet.service", "started", 2) and trial.of("kubelet.service", "started", 4), trial.story()
    machine.like(lab.reference(made, gated=False))


def killed(lab):
    """What runs the steps is killed: kubelet is not started, and that is seen; the next boot goes on where it was."""
    made = disturbed()
    machine = lab.machine("killed without an agent")
    trial = machine.boot(made, "--kill", "lab-middle.service", behaviour=LONG, gated=False).did_not()
    assert trial.of("lab", "killed") and trial.of("bringup-steps.service", "failed"), trial.story()
    assert not machine.calls(), machine.calls()
    machine.boot(made, behaviour=LONG, gated=False).came_up()
    assert machine.text("/var/log/lab-steps").splitlines() == ["first 1 ", "middle", "middle", "last 1 ", "each 1 "]
    assert len(machine.calls()) == 1, machine.calls()
    machine.like(lab.reference(made, gated=False))


# The image's own agent, behind cloud-init's last stage; Debian has that behind multi-user.target.
NODEADM = {
    "/usr/lib/systemd/system/nodeadm-run.service": "[Unit]\nAfter=cloud-final.service\n[Service]\nType=oneshot\nExecStart=/bin/systemctl start kubelet.service\n",
    "/usr/lib/systemd/system/cloud-init.target.d/nodeadm.conf": "[Unit]\nWants=nodeadm-run.service\nAfter=nodeadm-run.service\n",
}


def left_to_nodeadm(lab):
    """The power goes in the midst of a script of cloud-init's. The files are the same in the end; steps are lost, as the report says."""
    made = disturbed("amazon-linux-2023")
    made["spec"]["nodeGroups"][0]["steps"][3] = said("each") | {"before": ["first"], "everyBoot": True}

    def brought_up(name, *cuts):
        machine = lab.machine(name)
        folder, lost = built(machine, made)
        cut_short = "where a step was cut short, the next boot runs neither it nor those behind it, and starts kubelet"
        assert any(cut_short in text for text in lost), lost
        files = [f"{path}={machine.give(text, path.rsplit('/', 1)[1])}" for path, text in NODEADM.items()]
        options = [word for file in files for word in ("--file", file)]
        trial = machine.boot(folder / "nodeconfig.mime", *options, *cuts, behaviour=LONG if cuts else ":", gated=False).came_up()
        return machine, trial, [line.split()[0] for line in machine.text("/var/log/lab-steps").splitlines()]

    undisturbed, _, ran = brought_up("nodeadm and no agent")
    assert ran == ["each", "first", "middle", "last"], ran
    machine, trial, ran = brought_up("a power cut before nodeadm", "--power-cut", "lab-middle.service")
    assert ran == ["each", "first", "middle", "each"], ran
    assert trial.of("lab", "power-cut", 1) and not trial.of("kubelet.service", "started", 1), trial.story()
    assert len(trial.of("kubelet.service", "started", 2)) == 1, trial.story()
    machine.like(undisturbed.tree())


def a_step_that_fails(lab):
    """kubelet is not started, and systemd says why."""
    made = stock()
    made["spec"]["nodeGroups"][0]["steps"] = [{"name": "bad", "run": ["/bin/false"], "attempts": 1, "before": ["kubelet"]}]
    machine = lab.machine("a failing step without an agent")
    machine.boot(made, gated=False).did_not()
    assert not machine.calls(), machine.calls()
    assert not machine.path("/var/lib/bringup/steps/bad").exists()
    assert "step bad has failed" in machine.console(), machine.console()


def a_step_that_takes_long(lab):
    """The machine is up long before kubelet, and has not come up before it."""
    made = stock()
    made["spec"]["nodeGroups"][0]["steps"] = [{"name": "slow", "run": ["/bin/sleep", "14"], "before": ["kubelet"]}]
    machine = lab.machine("a slow step without an agent")
    trial = machine.boot(made, gated=False).came_up()
    assert trial.of("kubelet.service", "started"), trial.story()
    assert len(machine.calls()) == 1, machine.calls()


def cases():
    yield "first boot and second boot", first_and_second_boot
    yield "Ubuntu's snap, first boot and second boot", ubuntu
    yield "steps before kubelet", steps_before_kubelet
    yield "the power goes in the first stage, in a step and at kubelet's start", powered_off
    yield "the power goes in a step before nodeadm", left_to_nodeadm
    yield "what runs the steps is killed, and the next boot goes on", killed
    yield "a step that takes long", a_step_that_takes_long
    yield "a step that fails", a_step_that_fails
