"""eksctl's files on Amazon Linux 2, and what its designs do where they fail."""

from machine import document

FILES = {"ca.crt", "kubeconfig.yaml", "kubelet.env", "kubelet.local.env", "kubelet.yaml", "max_pods.map", "metadata.env"}


def flavoured():
    made = document(
        os="amazon-linux-2",
        labels={"alpha.eksctl.io/instance-id": "@{instanceId}", "node-lifecycle": "@{lifecycle}"},
        kubelet={"config": {"evictionHard": {"memory.available": "200Mi"}}},
    )
    made["spec"]["flavour"] = "eksctl"
    return made


def killed(lab):
    """The agent is killed while it writes, at the gate and while it watches kubelet; then the machine boots again."""
    undisturbed = lab.machine("eksctl")
    undisturbed.boot(flavoured()).came_up()
    machine = lab.machine("eksctl killed")
    steps = ("eksctl-kubelet", "gate", "kubelet")
    kills = [word for step in steps for word in ("--kill", step)]
    trial = machine.boot(flavoured(), *kills, "--reboot", patience=90).came_up()
    assert len(trial.of("lab", "killed")) == len(steps), trial.story()
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    first, second = machine.calls()
    assert first["arguments"] == second["arguments"] and machine.runs() == 1, machine.calls()
    assert {path.name for path in machine.path("/etc/eksctl").iterdir()} == FILES
    machine.like(undisturbed.tree())


# As the design of 2019 has it: everything happens in one script of runcmd.
SCRIPT = """#!/bin/bash
set -o errexit -o nounset -o pipefail
echo run >>/lab/seed-runs
echo NODE_IP=10.77.0.10 >/etc/eksctl/kubelet.local.env
. /lab/behaviour
systemctl daemon-reload
systemctl enable kubelet
systemctl start kubelet
"""
# As eksctl does since 2021: the image's script has started kubelet, and then its settings are laid over those of the image.
MERGE = """#!/bin/bash
set -o errexit -o nounset -o pipefail
systemctl start kubelet
echo '{"maxPods": 20}' >/etc/eksctl/merged && mv /etc/eksctl/merged /etc/eksctl/kubelet-extra.json
systemctl restart kubelet
"""


def user_data(script):
    indented = "".join(f"      {line}\n" for line in script.splitlines())
    place = "/var/lib/cloud/scripts/eksctl/bootstrap.sh"
    files = f'write_files:\n- {{path: /etc/eksctl/metadata.env, content: ""}}\n- path: {place}\n  permissions: "0755"\n  content: |\n{indented}'
    return f"#cloud-config\n{files}runcmd:\n- {place}\n"


def seed_killed(lab):
    """What runcmd did not finish in the first boot is never done: cloud-init has its mark already."""
    machine = lab.machine("eksctl seed killed")
    machine.boot(user_data(SCRIPT), "--until", "cloud-final.service=failed", behaviour="kill -KILL $$", gated=False)
    machine.boot(user_data(SCRIPT), "--until", "cloud-final.service=started", gated=False)
    assert machine.text("/lab/seed-runs") == "run\n" and not machine.calls(), machine.calls()
    assert not machine.path("/etc/systemd/system/multi-user.target.wants/kubelet.service").is_symlink()


def seed_twice(lab):
    """Settings that are laid over the image's after the image's own script start kubelet twice; ours are there before it starts."""
    machine = lab.machine("eksctl seed twice")
    trial = machine.boot(user_data(MERGE), gated=False).came_up()
    assert len(trial.of("kubelet.service", "started")) == 2, trial.story()


def cases():
    yield "eksctl's files: killed three times in the first boot, and a second boot", killed
    yield "eksctl's design of 2019: what was killed is never done", seed_killed
    yield "eksctl's script since 2021: kubelet starts twice", seed_twice
