"""Two agents that meet: what leads to the gate goes before what follows it, and a person before both."""

import machine as bench
from machine import document

from cases.power import typed

AGENT = "/opt/bringup/bin/bringup-node"
LOCK = "/run/bringup/lock"


def held(process):
    """Whether a process has the lock."""
    return f'grep -q "FLOCK.* {process} .*:$(stat --format=%i {LOCK}) " /proc/locks'


SHOWN = "systemctl show --property=MainPID --value"
# Waits until the agent after the gate has it.
MINE = f"until pid=$({SHOWN} bringup-after.service) && {held('$pid')}; do :; done; echo mine"


def fails_as_it_ends(lab):
    """The agent's unit fails when the gate is open already: what was queued is lost, and queued again."""
    machine = lab.machine("fails as it ends")
    drop_in = "[Service]\nExecStartPost=/lab/fail-once\n"
    program = machine.give("#!/bin/sh\n[ -e /run/failed-once ] || { touch /run/failed-once; exit 1; }\n", "fail-once", 0o755)
    made = document(units=[{"name": "bringup.service", "dropIns": [{"name": "50-lab.conf", "content": drop_in}]}])
    machine.boot(made, "--file", f"/lab/fail-once={program}").came_up()
    assert len(machine.calls()) == 1 and machine.runs() == 1, machine.calls()


def started(machine, behaviour, **group):
    return [
        bench.BRINGUP, "try", machine.give(document(**group), "input"), "--machine", machine.folder / "disk", "--shell", "--patience", "30",
        "--file", f"/lab/behaviour={machine.give(behaviour, 'behaviour')}",
    ]  # fmt: skip


def changed_plan(lab):
    """A changed plan is followed from its beginning, whoever is at work and still waits for an API server that there is not."""
    machine = lab.machine("changed while waiting")
    text = "\n".join(
        [
            # Whoever starts kubelet starts what leads to the gate: of the same plan that is through, and nobody gives way.
            MINE,
            f"first=$({SHOWN} bringup-after.service)",
            "systemctl start bringup.service; echo once more: $?",
            f"[ $first = $({SHOWN} bringup-after.service) ] && echo undisturbed",
            # What somebody has removed is not taken for done.
            "rm /etc/lab/about; systemctl start bringup.service; echo back: $(cat /etc/lab/about)",
            MINE,
            """sed -i 's/" in "/" inside "/' /etc/bringup/plan.json""",
            "systemctl start bringup.service; echo started: $?",
            "cat /etc/lab/about",
            MINE,
            # A person does not give way, and what was opened for another plan is not taken for this one's.
            f"{AGENT} up & person=$!",
            f"until {held('$person')}; do :; done",
            "sed -i 's/inside/within/' /etc/bringup/plan.json",
            "timeout 5 systemctl start bringup.service; echo waits: $?",
            "kill -KILL $person; wait $person",
            "systemctl start bringup.service; echo then: $?",
            "cat /etc/lab/about",
            MINE,
            # Nor does what follows the gate, alone.
            "sed -i 's/within/around/' /etc/bringup/plan.json",
            "systemctl kill --signal=KILL bringup-after.service",
            "until grep -q around /etc/lab/about; do :; done",
            MINE,
            # An agent that dies or gives way while it follows a changed plan takes nothing down with it.
            "echo '[ -e /lab/calm ]' >/lab/behaviour",
            """sed -i 's#"/opt/lab/prepare",#"/opt/lab/prepare","again",#' /etc/bringup/plan.json""",
            f"kubelet=$({SHOWN} kubelet.service)",
            "systemctl start --no-block bringup.service",
            f"until {AGENT} status | grep -q '^paused'; do :; done",
            "systemctl kill --signal=KILL bringup.service",
            f"until pid=$({SHOWN} bringup.service) && {held('$pid')}; do :; done",
            f"{AGENT} up & person=$!",
            f"until {held('$person')}; do :; done",
            f"until [ $({SHOWN} bringup.service) != 0 ]; do :; done",
            "kill -KILL $person; wait $person",
            "touch /lab/calm",
            MINE,
            f"[ $kubelet = $({SHOWN} kubelet.service) ] && echo kept",
            "systemctl is-active kubelet.service bringup-after.service",
            "",
        ]
    )
    code, said = typed(lab, started(machine, ":"), text)
    assert "once more: 0" in said and "\nundisturbed" in said.replace("\r", ""), said
    assert "back: m5.large in " in said, said
    assert "\nkept" in said.replace("\r", ""), said
    assert "started: 0" in said and "m5.large inside " in said, said
    assert "waits: 124" in said and "then: 0" in said and "m5.large within " in said, said
    assert machine.text("/etc/lab/about").startswith("m5.large around "), said
    assert code == 0 and len(machine.calls()) == 1, said


def of_type_notify(lab):
    """Where the unit has to say that it is ready, it does so also when another agent has opened the gate."""
    machine = lab.machine("of type notify")
    text = "\n".join(
        [
            MINE,
            "systemctl show --property=Type bringup.service",
            "systemctl start bringup.service; echo once more: $?",
            "systemctl show --property=Result --property=NRestarts bringup.service",
            "",
        ]
    )
    code, said = typed(lab, started(machine, ":", os="amazon-linux-2"), text)
    assert "Type=notify" in said and "once more: 0" in said, said
    assert "Result=success" in said and "NRestarts=0" in said, said
    assert code == 0 and len(machine.calls()) == 1, said


def by_hand(lab):
    """A person goes on where the unit has paused, and goes away; the units go on where the person was."""
    machine = lab.machine("by hand")
    # Nobody registers the node here, so that it would wait for ever.
    text = "\n".join(
        [
            "touch /lab/mended",
            f"{AGENT} up & person=$!",
            "until systemctl is-active kubelet.service; do :; done",
            "systemctl show --property=NRestarts --value bringup-after.service | sed 's/^/restarts: /'",
            "kill -KILL $person; wait $person; echo up: $?",
            # What follows the gate has waited for its turn, and has it now.
            MINE,
            f"timeout --signal=KILL 3 {AGENT} up; echo again: $?",
            f"{AGENT} status",
            f"{AGENT} status --output json | grep at_work",
            MINE,
            f"{AGENT} status | grep registered",
            # Nobody takes away under a person's hands.
            f"{AGENT} up & person=$!",
            f"until {held('$person')}; do :; done",
            f"{AGENT} reset --yes; echo reset: $? $(systemctl is-active kubelet.service)",
            "kill -KILL $person; wait $person",
            "",
        ]
    )
    code, said = typed(lab, started(machine, "[ -e /lab/mended ]"), text)
    assert "the agent of `bringup.service` gives way" in said, said
    assert "up: 137" in said and "restarts: 0" in said, said
    assert "the agent of `bringup-after.service` gives way" in said and "again: 137" in said, said
    assert "no agent is at work on it now; `bringup-node up` goes on" in said, said
    assert '"at_work": false' in said, said
    assert "reset: 3 active" in said, said
    # Whatever was done by hand is part of the machine's story.
    assert code == 0, said
    assert len(machine.calls()) == 1, machine.calls()


def cases():
    yield "an agent's unit that fails when the gate is open", fails_as_it_ends
    yield "a changed plan while the node waits to be registered", changed_plan
    yield "a unit of type notify that finds the gate open", of_type_notify
    yield "a person who goes on where the unit has paused", by_hand
