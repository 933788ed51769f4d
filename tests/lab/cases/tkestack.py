"""tkestack's hooks: those of the cluster on its first master, those of nodes on each."""

import itertools
import json

from cases.examples import KUBEADM, files, registered

# The lab's machine, and one that is elsewhere.
HERE, ELSEWHERE = "10.77.0.10", "10.77.0.11"
NOTE = "#!/bin/sh\necho \"$@\" >>/lab/hooks\n"
POINTS = {"PreInstall": "own-first", "PostInstall": "own-last", "PreClusterInstall": "first", "PostClusterInstall": "last"}
PARAMETERS = "location=xa note=hello"
OF_THE_FIRST = [f"first {PARAMETERS}", "own-first", "own-last", f"last {PARAMETERS}"]
OF_EACH = ["own-first", "own-last"]
# In their order on the first master.
HOOKS = [f"hook:{point}" for point in ("pre-cluster-install", "pre-install", "post-install", "post-cluster-install")]
STEADY = {"identify", "kernel-modules", "sysctls", "swap", "start-runtime", "gate", "kubelet"}
# Its last agent has ended well.
THROUGH = ("--until", "bringup-after.service=started")
ADDITIONS = {
    "apiVersion": "bringup.dev/v1alpha1",
    "kind": "Additions",
    "spec": {"join": {"token": {"file": "/etc/lab/token"}, "kubeadm": {"caCertHashes": [f"sha256:{'a' * 64}"], "certificateKey": {"file": "/etc/lab/token"}}}},
}


def cluster(masters, workers):
    """Documents of tkestack with these machines."""
    login = {"port": 22, "username": "root", "password": "Li4u"}
    features = {
        "files": [{"src": "hooks", "dst": "/opt/hooks"}],
        "hooks": {point: f"/opt/hooks/note {word}" for point, word in POINTS.items()},
        "ha": {"thirdParty": {"vip": "10.77.0.100", "vport": 6443}},
    }
    spec = {"type": "Baremetal", "version": "1.34.1", "clusterCIDR": "10.244.0.0/16", "machines": [{"ip": ip} | login for ip in masters], "features": features}
    metadata = {"name": "cls-lab", "labels": {"location": "xa"}, "annotations": {"note": "hello"}}
    made = [{"apiVersion": "platform.tkestack.io/v1", "kind": "Cluster", "metadata": metadata, "spec": spec}]
    for ip in workers:
        spec = {"clusterName": "cls-lab", "type": "Baremetal", "ip": ip} | login
        made.append({"apiVersion": "platform.tkestack.io/v1", "kind": "Machine", "metadata": {"name": "worker"}, "spec": spec})
    return "\n---\n".join(map(json.dumps, made))


def prepared(machine, group, masters, workers=()):
    """The documents in a folder with the programs of the hooks, and what the machine needs."""
    (machine.folder / "hooks").mkdir()
    machine.give(NOTE, "hooks/note")
    given = machine.give(cluster(masters, workers), "cluster.yaml")
    words = ["--group", group, "--with", machine.give(ADDITIONS, "additions")]
    return given, [*words, *files(machine, {"/usr/bin/kubeadm": KUBEADM}), *registered(machine, HERE), *THROUGH]


def ran(machine):
    return machine.text("/lab/hooks").splitlines()


def succeeded(machine):
    """The hooks whose success is on the disk, in the order in which it came there."""
    records = [json.loads(line.split(" ", 1)[1]) for line in machine.text("/var/lib/bringup/journal").splitlines()]
    return [record["step"] for record in records if record.get("step") in HOOKS and record.get("outcome") == "succeeded"]


def first(lab):
    machine = lab.machine("first master")
    given, words = prepared(machine, "masters", [HERE, ELSEWHERE])
    trial = machine.boot(given, *words).came_up()
    assert ran(machine) == OF_THE_FIRST, trial.story()
    began = trial.steps("started")
    places = [began.index(name) for name in (HOOKS[0], HOOKS[1], "start-runtime", "kubeadm-init", "registered", HOOKS[2], HOOKS[3], "report")]
    assert places == sorted(places), began
    # The second boot runs none of them again.
    second = machine.boot(given, *words).came_up()
    assert set(second.steps("started")) <= STEADY, second.story()
    assert ran(machine) == OF_THE_FIRST, second.story()


def disturbed(how, told):
    """What was recorded is not run again, wherever the agent dies."""

    def case(lab):
        machine = lab.machine(f"first master {told}")
        given, words = prepared(machine, "masters", [HERE, ELSEWHERE])
        options = [word for name in HOOKS for word in (how, name)]
        trial = machine.boot(given, *words, *options, deadline=400).came_up()
        assert [event["step"] for event in trial.of("lab", told)] == HOOKS, trial.story()
        # One that was cut off begins again, and the next one only then.
        assert [line for line, _ in itertools.groupby(ran(machine))] == OF_THE_FIRST, ran(machine)
        assert succeeded(machine) == HOOKS, succeeded(machine)
        before = ran(machine)
        second = machine.boot(given, *words).came_up()
        assert set(second.steps("started")) <= STEADY and ran(machine) == before, second.story()

    return case


def of_no_first(group, masters, workers=()):
    def case(lab):
        machine = lab.machine(f"one of {group}")
        given, words = prepared(machine, group, masters, workers)
        trial = machine.boot(given, *words).came_up()
        assert ran(machine) == OF_EACH, trial.story()
        began = trial.steps("started")
        assert "kubeadm-join" in began and "kubeadm-init" not in began and not {HOOKS[0], HOOKS[3]} & set(began), began
        second = machine.boot(given, *words).came_up()
        assert ran(machine) == OF_EACH, second.story()

    return case


def cases():
    yield "hooks of the cluster are the first master's, around its own, once", first
    yield "hooks of the cluster: the agent is killed in each of them, and a second boot", disturbed("--kill", "killed")
    yield "hooks of the cluster: the power goes in each of them, and a second boot", disturbed("--power-cut", "power-cut")
    yield "another master runs its own hooks, and none of the cluster's", of_no_first("masters", [ELSEWHERE, HERE])
    yield "a worker runs its own hooks, and none of the cluster's", of_no_first("workers", [ELSEWHERE], [HERE])
