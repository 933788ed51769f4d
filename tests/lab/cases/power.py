"""Power cuts, and a lab that is interrupted."""

import json
import pathlib
import re
import signal
import subprocess
import time

import machine as bench
from cases.signals import KUBECONFIG
from machine import document, leftovers

# What follows waits for an API server, unless the agent cannot ask it: see `after_kubelet`.
LAST = "kubelet"


def at_every_step(lab):
    machine = lab.machine("power cuts")
    steps = [step["name"] for step in lab.plan(document())["steps"]]
    steps = steps[: steps.index(LAST) + 1]
    options = [word for step in steps for word in ("--power-cut", step)]
    trial = machine.boot(document(), *options, deadline=400).came_up()
    cut = [event["step"] for event in trial.of("lab", "power-cut")]
    assert cut == steps, (cut, steps)
    # A program that was cut off runs again, and only that. Kubelet may have been started when the power goes at the gate: then
    # there, where it goes at kubelet itself, and at last.
    assert machine.runs() <= 2 and len(machine.calls()) <= 3, (machine.runs(), machine.calls())
    machine.like(lab.reference(document()))


def after_kubelet(lab):
    """What follows registration is reached where the agent cannot ask for its node: it goes on without."""
    after = {"name": "after", "run": ["/opt/lab/prepare", "after"], "after": ["registered"], "timeout": "9s"}
    made = document(signals=[{"kind": "file", "path": "/lab/signal"}])
    made["spec"]["join"] = {"method": "kubeconfig", "kubeconfig": {"file": "/etc/lab/kubeconfig"}}
    made["spec"]["nodeGroups"][0]["steps"].append(after)
    steps = [step["name"] for step in lab.plan(made)["steps"]]
    steps = steps[steps.index("registered") :]
    assert steps[:3] == ["registered", "after", "report"] and len(steps) == 4, steps
    machine = lab.machine("power cuts after kubelet")
    options = [word for step in steps for word in ("--power-cut", step)]
    kubeconfig = machine.give(KUBECONFIG, "kubeconfig")
    trial = machine.boot(made, *options, "--file", f"/etc/lab/kubeconfig={kubeconfig}", deadline=300).came_up()
    cut = [event["step"] for event in trial.of("lab", "power-cut")]
    assert cut == steps, (cut, steps)
    # `prepare` once; `after` may have begun when it was cut off, and then runs again.
    assert machine.runs() in (2, 3), machine.runs()
    assert json.loads(machine.text("/lab/signal"))["outcome"] == "success"
    assert machine.path("/var/lib/bringup/done.json").exists()


def interrupted(number):
    def case(lab):
        machine = lab.machine(f"interrupted by {number.name}")
        command = [bench.BRINGUP, "try", machine.give(document(), "input"), "--file", f"/lab/behaviour={machine.give(':', 'behaviour')}"]
        environment = {"TMPDIR": str(machine.folder), "HOME": str(pathlib.Path.home()), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        process = lab.start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        try:
            for line in process.stdout:
                if b"bringup.service" in line:
                    break
            groups = [path for path in map(pathlib.Path, control_groups(process.pid))]
            assert groups, "there is no control group"
            process.send_signal(number)
            process.stdout.read()
            code = process.wait(timeout=30)
        finally:
            process.kill()
            process.wait()
            lab.ended(process)
        assert code != 0
        # Processes and mounts are gone with it; folders too, unless it could not.
        wait_for(lambda: not any((path / "cgroup.procs").exists() and populated(path) for path in groups))
        if number != signal.SIGKILL:
            assert not any(path.exists() for path in groups), groups
            assert not list(machine.folder.glob("bringup-lab-*"))
        wait_for(lambda: not [line for line in leftovers(machine.folder) if "cgroup" not in line])
        if number == signal.SIGKILL:
            # The next one sweeps.
            done = subprocess.run([*command, "--until", "bringup.service=starting"], env=environment, capture_output=True, timeout=60)
            assert done.returncode == 3, done
            assert not any(path.exists() for path in groups), groups
            assert not list(machine.folder.glob("bringup-lab-*"))

    return case


def interrupted_at_once(lab):
    """However early it is interrupted, it ends; each time a little later."""
    machine = lab.machine("interrupted at once")
    command = [bench.BRINGUP, "try", machine.give(document(), "input"), "--file", f"/lab/behaviour={machine.give(':', 'behaviour')}"]
    environment = {"TMPDIR": str(machine.folder), "HOME": str(pathlib.Path.home()), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    for number in range(12):
        process = lab.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        try:
            # From its own folder on, it is to clean up.
            wait_for(lambda: list(machine.folder.glob("bringup-lab-*/lock")))
            time.sleep(number * 0.02)
            process.terminate()
            assert process.wait(timeout=20) != 0
        finally:
            process.kill()
            process.wait()
            lab.ended(process)
        assert not list(machine.folder.glob("bringup-lab-*")), number
        assert not list(control_groups(process.pid)), number


def shell(lab):
    """A person gets into the machine while the agent waits, mends it, and leaves."""
    machine = lab.machine("shell")
    disk = machine.folder / "disk"
    command = [bench.BRINGUP, "try", machine.give(document(), "input"), "--machine", disk, "--shell"]
    command += ["--file", f"/lab/behaviour={machine.give('echo it is broken; exit 1', 'behaviour')}"]
    code, said = typed(lab, command, "/opt/bringup/bin/bringup-node status\nsystemctl show --property=StatusText bringup.service\ntouch /lab/somebody-was-here\n")
    assert code == 3 and "paused" in said, said
    assert machine.path("/lab/somebody-was-here").exists(), said
    assert re.search("^StatusText=paused at step .*prepare", said, re.M), said
    # The last word names the step and shows what it wrote.
    assert re.search(r"^prepare: it ended with code 1$", said, re.M) and "  | it is broken" in said, said


def mended(lab):
    """What somebody has mended is looked at again, and the machine comes up."""
    machine = lab.machine("mended in a shell")
    command = [bench.BRINGUP, "try", machine.give(document(), "input"), "--machine", machine.folder / "disk", "--shell"]
    command += ["--file", f"/lab/behaviour={machine.give('[ -e /lab/mended ]', 'behaviour')}"]
    code, said = typed(lab, command, "touch /lab/mended\n")
    assert code == 0 and "the node came up" in said, said


def broken(lab):
    """A kubelet that somebody has stopped does not run any more, whatever was said before."""
    machine = lab.machine("broken in a shell")
    command = [bench.BRINGUP, "try", machine.give(document(), "input"), "--machine", machine.folder / "disk", "--shell"]
    command += ["--file", f"/lab/behaviour={machine.give(':', 'behaviour')}"]
    code, said = typed(lab, command, "systemctl stop kubelet.service\n")
    assert code == 1 and "the node did not come up" in said, said


def typed(lab, command, text):
    """What a command ends with, and says, if somebody types this."""
    process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said, _ = process.communicate(text.encode(), timeout=240)
    finally:
        process.kill()
        process.wait()
        lab.ended(process)
    return process.returncode, said.decode(errors="replace")


def in_any_order(lab):
    """The power goes at each step that was named, whichever was named first; nothing of the boots before is lost."""
    machine = lab.machine("power cuts in any order")
    trial = machine.boot(document(), "--power-cut", "gate", "--power-cut", "prepare", deadline=200).came_up()
    assert [event["step"] for event in trial.of("lab", "power-cut")] == ["prepare", "gate"], trial.story()
    assert trial.outcome["left_undone"] == []
    for boot, step in ((1, "identify"), (2, "prepare")):
        assert trial.of(step, "finished", boot), trial.story()
        assert trial.of("bringup.service", "starting", boot), trial.story()


def left_undone(lab):
    """What was asked for and did not come to pass is told, and the trial has failed."""
    machine = lab.machine("left undone")
    machine.boot(document()).came_up()
    trial = machine.boot(document(), "--power-cut", "prepare", "--fail", "prepare=1")
    assert trial.outcome["left_undone"] == ["--power-cut prepare", "--fail prepare=1"], trial.outcome["left_undone"]
    assert trial.outcome["came_up"] and trial.code == 1, trial.code


def control_groups(process):
    for top in (pathlib.Path("/sys/fs/cgroup/unified"), pathlib.Path("/sys/fs/cgroup")):
        yield from top.glob(f"bringup-lab-{process}-*")


def populated(group):
    try:
        return "populated 1" in (group / "cgroup.events").read_text()
    except OSError:
        return False


def wait_for(holds):
    """Waits until something holds; the kernel takes its time with processes that were killed."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it does not get to hold")


def cases():
    yield "the power goes at every step", at_every_step
    yield "the power goes at every step after kubelet", after_kubelet
    yield "the power goes at steps in whatever order", in_any_order
    yield "a power cut that it did not come to", left_undone
    yield "a shell in which somebody mends the machine", mended
    yield "a shell in which somebody stops kubelet", broken
    yield "a shell in a machine that waits", shell
    yield "a lab that is interrupted leaves nothing", interrupted(signal.SIGTERM)
    yield "a lab that is interrupted at once leaves nothing", interrupted_at_once
    yield "a lab that is killed leaves nothing that runs, and the next one sweeps", interrupted(signal.SIGKILL)
