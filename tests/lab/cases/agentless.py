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


def cases():
    yield "first boot and second boot", first_and_second_boot
