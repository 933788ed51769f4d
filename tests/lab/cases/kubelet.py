"""Kubelet: never before the gate, once, and healthy for a while."""

from machine import document


def dies(lab):
    machine = lab.machine("kubelet dies")
    trial = machine.boot(document(), "--stand-in", "dies-after=3", "--until", "kubelet=retrying").did_not()
    event = trial.of("kubelet", "failed")[0]
    # Whether its end or the silence of its endpoint is seen first is chance.
    assert event["why"].startswith("kubelet was healthy for"), event
    assert "stand-in for kubelet:" in machine.text("/var/lib/bringup/output/kubelet")


def never_answers(lab):
    machine = lab.machine("kubelet never answers")
    trial = machine.boot(document(), "--stand-in", "never-answers", patience=25).did_not()
    assert trial.code == 3 and trial.status["step"] == "kubelet", trial.status
    assert not trial.of("kubelet", "finished") and len(machine.calls()) == 1


def answers_500(lab):
    machine = lab.machine("kubelet answers 500")
    trial = machine.boot(document(), "--stand-in", "answers-500", patience=25).did_not()
    assert trial.code == 3 and trial.status["step"] == "kubelet", trial.status
    assert not trial.of("kubelet", "finished") and len(machine.calls()) == 1


def starts_early(lab):
    machine = lab.machine("kubelet starts early")
    machine.boot(document(), "--stand-in", "starts-early", "--reboot").came_up()
    assert len(machine.calls()) == 2, machine.calls()
    machine.like(lab.reference(document()))


def nodeadm(lab):
    """Amazon Linux 2023 has units of its own that write kubelet's files and restart it, one before and one after
    cloud-init's last stage."""
    machine = lab.machine("nodeadm")
    program = '#!/bin/sh\necho "$@" >>/lab/nodeadm-calls\ncase "$*" in *"--skip config"*) systemctl restart kubelet.service ;; esac\n'
    early = "[Unit]\nDefaultDependencies=no\nAfter=local-fs.target\nBefore=cloud-init.service\n[Service]\nType=oneshot\nExecStart=/usr/bin/nodeadm init --skip run\n"
    late = "[Unit]\nAfter=nodeadm-config.service cloud-final.service\nRequires=nodeadm-config.service\n[Service]\nType=oneshot\nExecStart=/usr/bin/nodeadm init --skip config\n"
    pull = "[Unit]\nWants=nodeadm-config.service nodeadm-run.service\n"
    files = {
        "/usr/bin/nodeadm": (program, 0o755),
        "/usr/lib/systemd/system/nodeadm-config.service": (early, 0o644),
        "/usr/lib/systemd/system/nodeadm-run.service": (late, 0o644),
        # Debian's last stage of cloud-init follows multi-user.target, so that this one cannot want what follows it.
        "/usr/lib/systemd/system/cloud-init.target.d/nodeadm.conf": (pull, 0o644),
    }
    options = []
    for number, (path, (text, mode)) in enumerate(files.items()):
        options += ["--file", f"{path}={machine.give(text, f'nodeadm-{number}', mode)}"]
    trial = machine.boot(document(), *options, "--reboot").came_up()
    assert len(machine.calls()) == 2, machine.calls()
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    # The early one has run before anything of ours was there, in the first boot.
    assert machine.text("/lab/nodeadm-calls") == "init --skip run\n", machine.text("/lab/nodeadm-calls")


def killed(step):
    def case(lab):
        machine = lab.machine(f"killed at {step}")
        trial = machine.boot(document(), "--kill", step).came_up()
        assert trial.of("lab", "killed"), trial.story()
        (call,) = machine.calls()
        assert len(trial.of("kubelet.service", "started")) == 1 and machine.runs() == 1, trial.story()
        assert not trial.of("kubelet.service", "exited"), trial.story()
        machine.like(lab.reference(document()))

    return case


def killed_while_a_program_runs(lab):
    """The program outlives its agent, and the next one waits for it instead of starting it again."""
    machine = lab.machine("killed while a program runs")
    trial = machine.boot(document(), "--kill", "bringup-step-prepare.service", "--slow", "prepare=2").came_up()
    assert trial.of("lab", "killed") and trial.of("prepare", "adopted"), trial.story()
    assert machine.runs() == 1 and len(machine.calls()) == 1
    machine.like(lab.reference(document()))


def cases():
    yield "one that dies after three seconds has failed, with the end of its log", dies
    yield "one that never answers is not healthy", never_answers
    yield "one that answers 500 is not healthy", answers_500
    yield "one that the image starts early waits for the gate", starts_early
    yield "nodeadm's own units do not start it", nodeadm
    yield "an agent killed before the gate", killed("install-kubelet")
    yield "an agent killed at the gate", killed("gate")
    yield "an agent killed after the gate", killed("kubelet")
    yield "an agent killed while a program runs", killed_while_a_program_runs
