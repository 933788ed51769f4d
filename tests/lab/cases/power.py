"""Power cuts, and a lab that is interrupted."""

import pathlib
import signal
import subprocess
import time

import machine as bench
from machine import document, leftovers

# What waits for the operator without an API server is no place to cut.
LAST = "kubelet"


def at_every_step(lab):
    machine = lab.machine("power cuts")
    steps = [step["name"] for step in lab.plan(document())["steps"]]
    steps = steps[: steps.index(LAST) + 1]
    options = [word for step in steps for word in ("--power-cut", step)]
    trial = machine.boot(document(), *options, deadline=400).came_up()
    cut = [event["step"] for event in trial.of("lab", "power-cut")]
    assert cut == steps, (cut, steps)
    # A program that was cut off runs again, and only that.
    assert machine.runs() <= 2 and len(machine.calls()) <= 2, (machine.runs(), machine.calls())
    machine.like(lab.reference(document()))


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
    command += ["--file", f"/lab/behaviour={machine.give('exit 1', 'behaviour')}"]
    process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said, _ = process.communicate(b"/opt/bringup/bin/bringup-node status\ntouch /lab/somebody-was-here\n", timeout=90)
    finally:
        process.kill()
        process.wait()
        lab.ended(process)
    assert process.returncode == 3 and b"paused" in said, said
    assert machine.path("/lab/somebody-was-here").exists(), said


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
    yield "a shell in a machine that waits", shell
    yield "a lab that is interrupted leaves nothing", interrupted(signal.SIGTERM)
    yield "a lab that is interrupted at once leaves nothing", interrupted_at_once
    yield "a lab that is killed leaves nothing that runs, and the next one sweeps", interrupted(signal.SIGKILL)
