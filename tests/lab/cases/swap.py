"""Swap: what is on is on for the machine that runs the lab, and not for the container."""

from machine import document

HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
# Laid over the kernel's own before the lab lays anything: a laptop as most are.
HOST = HEADER + "/dev/sda9                               partition\t8388604\t\t1024\t\t-2\n"
DROP_IN = "[Service]\nExecStartPre=/bin/mount --bind /lab/host-swaps /proc/swaps\nExecStartPre=/bin/cp /proc/swaps /lab/seen-before\n"


def of_the_host(lab):
    machine = lab.machine("swap of the host")
    trial = machine.boot(
        document(),
        "--file", f"/lab/host-swaps={machine.give(HOST, 'host-swaps', 0o444)}",
        "--file", f"/etc/systemd/system/lab-kernel.service.d/host.conf={machine.give(DROP_IN, 'host.conf', 0o644)}",
        behaviour="cat /proc/swaps >/lab/seen",
    ).came_up()  # fmt: skip
    assert machine.text("/lab/seen-before") == HOST, machine.text("/lab/seen-before")
    assert machine.text("/lab/seen") == HEADER, machine.text("/lab/seen")
    assert not trial.steps("paused", 1), trial.story()


def in_a_file(lab):
    """A container cannot switch swap on: the document's wish is set aside, and that is told."""
    machine = lab.machine("swap in a file")
    trial = machine.boot(document(swap={"policy": "file", "sizeMiB": 16})).came_up()
    assert "swap is `keep`, not `file`: a container cannot switch swap on" in trial.said, trial.said
    assert trial.of("swap", "finished"), trial.story()
    assert not machine.path("/var/swapfile").exists()


def cases():
    yield "swap of the host is not the machine's", of_the_host
    yield "swap in a file is set aside, and told", in_a_file
