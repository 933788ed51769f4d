"""The example in kops' own format: what its users ask for, in an order that holds."""

from machine import TOP

CLUSTER = (TOP / "examples/kops/cluster.yaml").read_text()

# In place of the example's own additions: the lab's image has the agent and all software, and the kubeconfig.
ADDITIONS = """apiVersion: bringup.dev/v1alpha1
kind: Additions
spec:
  join:
    kubeconfig: {file: /etc/lab/kubeconfig}
  nodeGroups:
    - agent: image
      software: {kubelet: {from: image}, runtime: {from: image}, cni: {from: image}}
      imageCredentialProvider: null
      assets: []
"""

# In place of programs that fetch something: tells when it was called.
RECORD = '#!/bin/sh\necho "$(cut -d " " -f 1 /proc/uptime) $0" >>/lab/programs\n'


def boot(machine, group, *programs, options=(), text=CLUSTER, **more):
    record = machine.give(RECORD, "record", 0o755)
    files = [word for program in programs for word in ("--file", f"{program}={record}")]
    kubeconfig = machine.give("apiVersion: v1\nkind: Config\n", "kubeconfig")
    additions = machine.give(ADDITIONS, "additions.yaml")
    return machine.boot(
        text, "--with", additions, "--group", group, "--file", f"/etc/lab/kubeconfig={kubeconfig}", *files, *options, **more
    )  # fmt: skip


def at(trial, who, what):
    """When this happened for the first time."""
    found = trial.of(who, what)
    trial.check(found, f"`{who}` was never {what}")
    return found[0]["at_ms"]


def drivers(lab):
    """A hook before kubelet has ended before kubelet is started, which it is once; at every boot."""
    machine = lab.machine("kops drivers")
    for count in (1, 2):
        trial = boot(machine, "gpu", "/usr/bin/apt-get", "/usr/bin/nvidia-smi").came_up()
        assert at(trial, "nvidia-drivers.service", "started") < at(trial, "kubelet.service", "started"), trial.story()
        assert len(machine.text("/lab/programs").splitlines()) == 2 * count
        assert len(machine.calls()) == count, machine.calls()
        assert at(trial, "kubelet.service", "started") < at(trial, "report-status.service", "started"), trial.story()
    # Another one, whose agent is killed before, at and after the gate, and which boots again: no hook runs twice in a boot.
    killed = lab.machine("kops drivers killed")
    steps = ("kubelet-config", "gate", "kubelet")
    kills = [word for step in steps for word in ("--kill", step)]
    trial = boot(killed, "gpu", "/usr/bin/apt-get", "/usr/bin/nvidia-smi", options=[*kills, "--reboot"], patience=90).came_up()
    assert len(trial.of("lab", "killed")) == len(steps), trial.story()
    for number in (1, 2):
        assert len(trial.of("kubelet.service", "started", number)) == 1, trial.story()
    assert len(killed.text("/lab/programs").splitlines()) == 4 and len(killed.calls()) == 2, killed.calls()
    killed.like(machine.tree())


def recipe(lab):
    """The drop-in of kops-configuration.service: its programs run before the agent and when it has opened the gate."""
    machine = lab.machine("kops recipe")
    trial = boot(machine, "nodes", "/usr/sbin/update-ca-certificates").came_up()
    assert machine.text("/var/log/custom-install").startswith("Hello World."), trial.story()
    said, done = machine.path("/var/log/custom-install"), machine.path("/var/cache/custom-install/set-up")
    journal = machine.path("/var/lib/bringup/journal")
    assert said.stat().st_mtime < done.stat().st_mtime, (said.stat(), done.stat())
    assert journal.exists() and done.stat().st_size == 0
    # The script that sorts before kops' own has ended before the set-up; the other one ran as well.
    assert at(trial, "certificates-sh", "finished") < at(trial, "kernel-modules", "started"), trial.story()
    assert machine.path("/var/log/status").exists() and machine.path("/var/log/node-is-up").exists()


def packages(lab):
    """A script has the packages of another part, though the agent runs it; a script behind kops' own comes after both."""
    machine = lab.machine("kops packages")
    text = CLUSTER.replace("        #cloud-config\n", "        #cloud-config\n        packages: [jq]\n", 1)
    text = text.replace("uptime >/var/log/status\n", "cat /proc/uptime >/var/log/status-at\n")
    trial = boot(machine, "nodes", "/usr/bin/apt-get", "/usr/sbin/update-ca-certificates", text=text, patience=120).came_up()
    called = [line.split() for line in machine.text("/lab/programs").splitlines()]
    certificates = [float(at) for at, program in called if program.endswith("update-ca-certificates")]
    installed = [float(at) for at, program in called if program.endswith("apt-get")]
    assert len(certificates) == 1 and installed and max(installed) < certificates[0], called
    assert at(trial, "await-cloud-init", "finished") <= at(trial, "certificates-sh", "started"), trial.story()
    up = float(machine.text("/var/log/status-at").split()[0])
    assert up > certificates[0], (up, called)
    # The next boot has no scripts to run, and nothing to wait for.
    boot(machine, "nodes", "/usr/bin/apt-get", "/usr/sbin/update-ca-certificates", text=text, patience=120).came_up()
    assert len(machine.text("/lab/programs").splitlines()) == len(called)


# The recipe as it was written, in its shape; the unit that it is about is the lab's.
SEED = """#cloud-config
write_files:
  - path: /var/cache/custom-install/log-time.sh
    permissions: "0755"
    content: |
      #!/bin/bash
{indent}echo said >>/lab/said
bootcmd:
  - mkdir -p {place}
  - echo [Service] >> {place}/custom-setup.conf
  - echo ExecStartPre=/bin/bash /var/cache/custom-install/log-time.sh >> {place}/custom-setup.conf
  - echo TimeoutSec=infinity # It may take long >> {place}/custom-setup.conf
  - systemd daemon-reload
"""
PLACE = "/lib/systemd/system/kops-configuration.service.d"


def seed(lab):
    """The recipe as it is printed is no YAML; repaired, it fails, lacks its last line and grows at each boot."""
    ended = ("--until", "cloud-final.service=started")
    machine = lab.machine("kops seed")
    machine.boot(SEED.format(indent="\t    ", place=PLACE), *ended)
    drop_in = machine.path("/usr" + PLACE) / "custom-setup.conf"
    assert not machine.path("/var/cache/custom-install").exists() and not drop_in.exists()
    repaired = lab.machine("kops seed repaired")
    drop_in = repaired.path("/usr" + PLACE) / "custom-setup.conf"
    for count in (1, 2):
        trial = repaired.boot(SEED.format(indent="      ", place=PLACE), *ended)
        assert trial.of("cloud-init.service", "failed"), trial.story()
        lines = drop_in.read_text().splitlines()
        assert len([line for line in lines if line.startswith("ExecStartPre=")]) == count, lines
        assert not [line for line in lines if line.startswith("TimeoutSec")], lines


def cases():
    yield "drivers are there before kubelet starts, at every boot", drivers
    yield "scripts have the packages of other parts", packages
    yield "the recipe of its documentation as it is printed", seed
    yield "the recipe of its documentation, repaired", recipe
