"""The life of a machine: its first boot, later ones, other plans, other instances."""

import json

from machine import CERTIFICATE, document

OTHER_ID = "i-0fedcba9876543210"
LARGER = "m5.4xlarge"


def kubelet_config(machine):
    return json.loads(machine.text("/etc/kubernetes/kubelet/config.json"))


def first_and_later_boots(lab):
    machine = lab.machine("life")
    first = machine.boot(document()).came_up()
    # Token, identity document, life-cycle, hostname.
    assert first.requests() == 4, first.outcome["metadata_requests"]
    # Never without a token; cloud-init has asked without one, and that is seen.
    assert first.asked_in_version_2() and first.outcome["metadata_requests"][0]["without_token_by_others"] > 0, first.outcome["metadata_requests"]
    config = kubelet_config(machine)
    # EKS' own list has 29 pods for m5.large, and memory for them is 11 MiB each and 255 beside.
    assert config["maxPods"] == 29 and config["kubeReserved"]["memory"] == "574Mi", config
    assert config["providerID"] == "aws:///eu-central-1a/i-0123456789abcdef0", config
    (call,) = machine.calls()
    for argument in (
        "--hostname-override=ip-10-77-0-10.eu-central-1.compute.internal",
        "--node-labels=lab.example/life-cycle=on-demand",
        "--config=/etc/kubernetes/kubelet/config.json",
    ):
        assert argument in call["arguments"], call
    assert machine.text("/etc/lab/about") == "m5.large in eu-central-1a\n"
    assert machine.text("/etc/kubernetes/pki/ca.crt") == CERTIFICATE
    assert machine.text("/var/lib/bringup/output/prepare") == "run 1 for m5.large\n"
    tree = machine.tree()

    # The second boot does nothing again, and does not need the metadata service.
    second = machine.boot(document(), "--metadata-fault", "down=600").came_up()
    assert second.requests() == 0, second.outcome["metadata_requests"]
    again = set(second.steps("started")) - {"kubelet", "registered"}
    # What does not outlive a boot, and what starts others.
    assert again == {"identify", "kernel-modules", "sysctls", "start-runtime", "gate"}, again
    assert machine.runs() == 1 and len(machine.calls()) == 2
    machine.like(tree)

    # Another type of the same instance: all that depends on it is done again, and nothing else.
    third = machine.boot(document(), "--instance-type", LARGER).came_up()
    again = set(third.steps("started")) - set(second.steps("started"))
    assert again == {"file:/etc/lab/about", "kubelet-config", "prepare"}, again
    config = kubelet_config(machine)
    assert config["maxPods"] == 234 and config["kubeReserved"]["memory"] == "2829Mi", config
    assert machine.text("/var/lib/bringup/output/prepare") == f"run 2 for {LARGER}\n"
    assert machine.text("/etc/lab/about") == f"{LARGER} in eu-central-1a\n"
    machine.like(lab.reference(document(), "--instance-type", LARGER))


def changed_plan(lab):
    machine = lab.machine("changed plan")
    machine.boot(document(files=[*document()["spec"]["nodeGroups"][0]["files"], {"path": "/etc/lab/old", "content": "old\n"}])).came_up()
    assert machine.path("/etc/lab/old").exists()
    files = [*document()["spec"]["nodeGroups"][0]["files"], {"path": "/etc/lab/new", "content": "new\n"}]
    other = document(files=files, labels={"lab.example/changed": "yes"})
    changed = machine.boot(other).came_up()
    done = set(changed.steps("started")) - {"identify", "kernel-modules", "sysctls", "start-runtime", "gate", "kubelet", "registered"}
    assert done == {"file:/etc/lab/new"}, done
    assert changed.of("retire", "retired"), changed.story()
    assert "--node-labels=lab.example/changed=yes" in machine.calls()[-1]["arguments"], machine.calls()
    assert machine.runs() == 1
    machine.like(lab.reference(other))


def baked_image(lab):
    machine = lab.machine("baked image")
    machine.boot(document()).came_up()
    other = machine.boot(document(), "--instance-id", OTHER_ID).came_up()
    # The journal is another machine's: nothing in it counts.
    before = other.events[: other.events.index(other.of("agent", "opened")[0])]
    assert not [event for event in before if event["event"] == "skipped"], other.story()
    assert other.requests() == 4 and machine.runs() == 2
    assert kubelet_config(machine)["providerID"].endswith(OTHER_ID)
    machine.like(lab.reference(document(), "--instance-id", OTHER_ID))


def cases():
    yield "first boot, second boot, another instance type", first_and_later_boots
    yield "a changed plan applies only what changed", changed_plan
    yield "an image of a node that is another instance starts afresh", baked_image
