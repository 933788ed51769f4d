"""Stock images without our agent: a small script does what the third ancestor's did."""

from machine import document


def stock():
    made = document(
        os="amazon-linux-2", agent="none", instanceTypes=["m5.large", "m5.4xlarge"],
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
    yield "steps before kubelet", steps_before_kubelet
    yield "a step that takes long", a_step_that_takes_long
    yield "a step that fails", a_step_that_fails
