"""Two agents that meet: what leads to the gate goes before what follows it, and a person before both."""

import machine as bench
from machine import document

from cases.power import typed

AGENT = "/opt/bringup/bin/bringup-node"


def fails_as_it_ends(lab):
    """The agent's unit fails when the gate is open already: what was queued is lost, and queued again."""
    machine = lab.machine("fails as it ends")
    drop_in = "[Service]\nExecStartPost=/lab/fail-once\n"
    program = machine.give("#!/bin/sh\n[ -e /run/failed-once ] || { touch /run/failed-once; exit 1; }\n", "fail-once", 0o755)
    made = document(units=[{"name": "bringup.service", "dropIns": [{"name": "50-lab.conf", "content": drop_in}]}])
    machine.boot(made, "--file", f"/lab/fail-once={program}").came_up()
    assert len(machine.calls()) == 1 and machine.runs() == 1, machine.calls()


def started(machine, behaviour):
    return [
        bench.BRINGUP, "try", machine.give(document(), "input"), "--machine", machine.folder / "disk", "--shell", "--patience", "30",
        "--file", f"/lab/behaviour={machine.give(behaviour, 'behaviour')}",
    ]  # fmt: skip


def changed_plan(lab):
    """A changed plan is followed although the agent after the gate still waits for an API server that there is not."""
    machine = lab.machine("changed while waiting")
    text = "\n".join(
        [
            "systemctl is-active bringup-after.service",
            """sed -i 's/" in "/" inside "/' /etc/bringup/plan.json""",
            "systemctl start bringup.service; echo started: $?",
            "cat /etc/lab/about",
            "systemctl is-active kubelet.service bringup-after.service",
            "",
        ]
    )
    code, said = typed(lab, started(machine, ":"), text)
    assert "started: 0" in said and "m5.large inside " in said, said
    assert code == 0 and len(machine.calls()) == 1, said


def by_hand(lab):
    """A person goes on where the unit has paused: its agent gives way, the gate opens, kubelet starts."""
    machine = lab.machine("by hand")
    # Nobody registers the node here, so that it would wait for ever.
    text = f"touch /lab/mended\ntimeout 20 {AGENT} up; echo up: $?\nsystemctl is-active kubelet.service\n"
    # What it says, it says to the person: the lab itself hears only of units.
    _, said = typed(lab, started(machine, "[ -e /lab/mended ]"), text)
    assert "`bringup.service` gives way" in said, said
    assert "kubelet: finished" in said and "\nactive\n" in said.replace("\r", ""), said
    assert len(machine.calls()) == 1, machine.calls()


def cases():
    yield "an agent's unit that fails when the gate is open", fails_as_it_ends
    yield "a changed plan while the node waits to be registered", changed_plan
    yield "a person who goes on where the unit has paused", by_hand
