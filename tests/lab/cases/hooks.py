"""The operator's programs."""

import time

from machine import document

# Whatever of it is left, shows in the list of processes.
NUMBER = "123456.75"
LIST = "for line in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$line; echo; done >/lab/processes\n"


def failing(lab):
    machine = lab.machine("failing hook")
    trial = machine.boot(document(), behaviour="[ $runs -gt 2 ]").came_up()
    assert machine.runs() == 3
    failed = trial.of("prepare", "failed")
    assert [event["why"] for event in failed] == ["it ended with code 1"] * 2, failed
    assert len(trial.of("prepare", "retrying")) == 2
    machine.like(lab.reference(document()))


def hanging(lab):
    machine = lab.machine("hanging hook")
    # A child that has left its session and ignores what it is asked.
    hangs = f"[ $runs -gt 1 ] || {{ (trap '' TERM HUP; setsid sleep {NUMBER} & wait) & sleep {NUMBER}; }}\n{LIST}"
    trial = machine.boot(document(), behaviour=hangs).came_up()
    assert machine.runs() == 2
    (event,) = trial.of("prepare", "timed-out")
    assert "3" in event["why"], event
    assert NUMBER not in machine.text("/lab/processes"), machine.text("/lab/processes")
    machine.like(lab.reference(document()))


def leaves(lab):
    """What a program leaves behind goes on when its step is done."""
    machine = lab.machine("hook that leaves a program")
    made = document()
    group = made["spec"]["nodeGroups"][0]
    group["steps"].append({"name": "look", "run": ["/opt/lab/look"], "after": ["prepare"], "before": ["gate"]})
    group["files"].append({"path": "/opt/lab/look", "content": f"#!/bin/sh\n{LIST}", "mode": "0755"})
    trial = machine.boot(made, behaviour=f"setsid sleep {NUMBER} </dev/null >/dev/null 2>&1 &").came_up()
    assert machine.runs() == 1 and NUMBER in machine.text("/lab/processes"), trial.story()


def asks_for_reboots(lab):
    """Programs that want a reboot, before the gate and behind it, get it once they are known to be done."""
    machine = lab.machine("hooks that ask for reboots")
    made = document()
    ask = '#!/bin/sh\necho $BRINGUP_STEP >>/lab/asked\n: >"$BRINGUP_REBOOT"\n'
    group = made["spec"]["nodeGroups"][0]
    group["files"].append({"path": "/opt/lab/ask", "content": ask, "mode": "0755"})
    group["steps"] += [
        {"name": "early", "run": ["/opt/lab/ask"], "before": ["prepare"]},
        {"name": "late", "run": ["/opt/lab/ask"], "after": ["kubelet"]},
    ]
    first = machine.boot(made).did_not()
    assert first.steps("rebooting") == ["early"] and first.of("early", "finished"), first.story()
    assert not machine.calls() and machine.runs() == 0, first.story()
    second = machine.boot(made).did_not()
    assert second.of("early", "rebooted") and not second.of("early", "started"), second.story()
    assert second.steps("rebooting") == ["late"] and machine.runs() == 1 and machine.calls(), second.story()
    third = machine.boot(made).came_up()
    assert third.of("late", "rebooted") and not third.steps("rebooting"), third.story()
    fourth = machine.boot(made).came_up()
    assert fourth.of("early", "skipped") and fourth.of("late", "skipped"), fourth.story()
    assert machine.text("/lab/asked") == "early\nlate\n" and machine.runs() == 1, machine.text("/lab/asked")


def paused(lab):
    machine = lab.machine("paused hook")
    trial = machine.boot(document(), behaviour="[ $runs -gt 4 ]").came_up()
    (event,) = trial.of("prepare", "paused")
    assert trial.of("prepare", "resumed"), trial.story()
    assert machine.runs() == 5
    machine.like(lab.reference(document()))


def stays_paused(lab):
    """Nobody mends it: that is told once the agent has looked again a few times, not when all patience is over."""
    machine = lab.machine("hook that stays paused")
    began = time.monotonic()
    trial = machine.boot(document(), behaviour="echo it is broken; exit 1", patience=400, deadline=400).did_not()
    assert time.monotonic() - began < 200 and trial.code == 3, (time.monotonic() - began, trial.code)
    (failing,) = trial.outcome["failing"]
    assert failing["what"] == "prepare" and "it is broken" in failing["tail"], failing
    # Three attempts, then looks after up to 1, 2, 4 and 8 seconds; a fifth comes in time on most machines.
    assert machine.runs() >= 3 + 4 and not machine.calls(), machine.runs()


def hindered(lab):
    """The lab itself makes a step fail, and lets a person in."""
    machine = lab.machine("hindered")
    trial = machine.boot(document(), "--fail", "prepare=2", "--slow", "prepare=1").came_up()
    assert machine.runs() == 1 and len(trial.of("prepare", "failed")) == 2, trial.story()
    machine.like(lab.reference(document()))


def gives_up(lab):
    machine = lab.machine("hook that gives up")
    steps = [document()["spec"]["nodeGroups"][0]["steps"][0] | {"onFailure": "give-up", "attempts": 2}]
    trial = machine.boot(document(steps=steps), behaviour="echo nothing goes; exit 3").did_not()
    assert trial.code == 1 and machine.runs() == 2 and not machine.calls()
    (failing,) = trial.outcome["failing"]
    assert failing["what"] == "prepare" and "code 3" in failing["why"] and "nothing goes" in failing["tail"], failing
    failed = machine.text("/var/lib/bringup/failed.json")
    assert '"prepare"' in failed and "nothing goes" in failed and "code 3" in failed, failed


def holds_up_nobody(lab):
    """A paused agent: the machine's own boot goes on, and the operator can get at it."""
    machine = lab.machine("paused agent")
    unit = "[Unit]\nAfter=network-online.target\nWants=network-online.target\n[Service]\nType=oneshot\nExecStart=/usr/bin/touch /lab/beside\n"
    trial = machine.boot(
        document(),
        "--file", f"/etc/systemd/system/beside.service={machine.give(unit, 'beside.service', 0o644)}",
        "--file", f"/etc/systemd/system/multi-user.target.d/beside.conf={machine.give('[Unit]%sWants=beside.service' % chr(10), 'beside.conf', 0o644)}",
        "--until", "prepare=paused", "--until", "multi-user.target=started", "--until", "cloud-init.target=started",
        "--until", "beside.service=started",
        behaviour="exit 1",
    ).did_not()  # fmt: skip
    assert trial.code == 3, trial.code
    assert machine.path("/lab/beside").exists() and not machine.calls()
    assert trial.status["standing"] == "paused" and trial.status["step"] == "prepare", trial.status
    # Whoever looks at the console sees what is waited for.
    said = machine.console()
    assert "bringup-node: paused at step" in said and "prepare" in said.split("bringup-node: paused", 1)[1], said


def passed_over(lab):
    """The node comes up without a hook and beside a unit that fail, and everybody who asks is told."""
    machine = lab.machine("hook that is passed over")
    made = document()
    hook = {"name": "drivers", "run": ["/bin/sh", "-c", "echo no card; exit 127"], "before": ["prepare"]}
    made["spec"]["nodeGroups"][0]["steps"].append(hook | {"attempts": 1, "onFailure": "continue"})
    unit = "[Service]\nType=oneshot\nExecStart=/bin/false\n"
    trial = machine.boot(
        made,
        "--file", f"/etc/systemd/system/theirs.service={machine.give(unit, 'theirs.service', 0o644)}",
        "--file", f"/etc/systemd/system/multi-user.target.d/theirs.conf={machine.give('[Unit]%sWants=theirs.service' % chr(10), 'theirs.conf', 0o644)}",
    ).came_up()  # fmt: skip
    step, unit = trial.outcome["passed_over"]
    assert step == {"boot": "1", "kind": "step", "what": "drivers", "why": "it ended with code 127", "tail": "no card"}, step
    assert unit["kind"] == "unit" and unit["what"] == "theirs.service", unit
    # The agent behind the gate has not forgotten what the one before it went on without.
    (shown,) = [step for step in trial.status["steps"] if step["step"] == "drivers"]
    assert (shown["progress"], shown["why"]) == ("continued", "it ended with code 127"), shown
    page = (machine.folder / "timeline-1" / "timeline.html").read_text()
    assert "<h1 class=\"wait\">The node came up, but `drivers` failed and was passed over: it ended with code 127" in page, page


def cases():
    yield "a hook that fails twice is tried again", failing
    yield "a hook that hangs is ended with all that it started", hanging
    yield "what a hook leaves running goes on", leaves
    yield "hooks that ask for a reboot run once", asks_for_reboots
    yield "a paused hook goes on by itself", paused
    yield "a paused hook that nobody mends ends the trial", stays_paused
    yield "a hook that the lab makes fail and slow", hindered
    yield "a hook that gives up ends it, and says why", gives_up
    yield "a paused agent holds up nobody", holds_up_nobody
    yield "a hook that is passed over is told, and so is a unit that fails", passed_over
