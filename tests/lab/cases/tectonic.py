"""Tectonic's names on a master that starts its cluster, and Tectonic's own units where they fail."""

from machine import TOP, generic

from cases.software import served, tarball

# The lab's machine, as kubelet would register it.
NODE = "node1"
API = "https://cluster.lab.example"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": API}}],
    "users": [{"name": "u", "user": {"token": "of-the-lab"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}
# Counts its runs, and says whether the mark is there already: it must not be.
STAGE = """#!/bin/sh
echo "$1 $(ls /opt/tectonic/init_$1.done 2>/dev/null)" >>/lab/stages
. /lab/behaviour
"""
STEADY = {"identify", "kernel-modules", "sysctls", "start-runtime", "gate", "kubelet"}


def master(**group):
    stages = {
        "controlPlane": {"run": ["/opt/lab/stage", "bootkube"], "waitFor": ["/opt/tectonic/bootkube.sh"], "timeout": "20s"},
        "platformStage": {"run": ["/opt/lab/stage", "tectonic"], "waitFor": ["/opt/tectonic/tectonic.sh"], "timeout": "20s"},
    }
    made = generic(role="control-plane", bootstrap=True, **(stages | group))
    spec = made["spec"]
    spec["flavour"] = "tectonic"
    spec["join"] = {"method": "kubeconfig", "kubeconfig": {"file": "/etc/lab/kubeconfig"}}
    for part in spec["nodeGroups"]:
        part["files"].append({"path": "/opt/lab/stage", "content": STAGE, "mode": "0755"})
    return made


def options(machine, *assets):
    """The API's answer for the node, the credentials, and assets that are there from the start."""
    words = [
        "--serve", f"{API}/api/v1/nodes/{NODE}={machine.give({'kind': 'Node'}, 'node')}",
        "--file", f"/etc/lab/kubeconfig={machine.give(KUBECONFIG, 'kubeconfig')}",
    ]  # fmt: skip
    for asset in assets:
        words += ["--file", f"{asset}={machine.give('asset', 'asset')}"]
    return words


SCRIPTS = ("/opt/tectonic/bootkube.sh", "/opt/tectonic/tectonic.sh")
THROUGH = ("--until", "report=finished")


def stages(machine):
    return machine.text("/lab/stages").splitlines()


def whole(trial, machine):
    """Both stages have run once, in order, each before its mark."""
    assert stages(machine) == ["bootkube ", "tectonic "], stages(machine)
    for name in ("bootkube", "tectonic"):
        assert machine.path(f"/opt/tectonic/init_{name}.done").exists(), trial.story()


def failed(trial):
    ours = ("k8s-node-bootstrap", "bringup", "kubelet", "bootkube", "tectonic")
    return [event for event in trial.events if event["event"] == "failed" and event["actor"].startswith(ours)]


def boots(lab):
    machine = lab.machine("tectonic")
    first = machine.boot(master(), *options(machine, *SCRIPTS), *THROUGH).came_up()
    whole(first, machine)
    assert not failed(first), failed(first)
    for name, follows in (("bootkube", "kubelet"), ("tectonic", "registered")):
        (handed,) = first.of(name, "handed-over")
        (began,) = first.of(f"{name}.service", "starting")
        (done,) = first.of(name, "finished")
        assert first.of(follows, "finished")[0]["at_ms"] <= handed["at_ms"] <= began["at_ms"] <= done["at_ms"], first.story()
    tree = machine.tree()
    # The second boot: nothing is done again, the report neither, no path unit runs into a service that does not start.
    second = machine.boot(master(), *options(machine, *SCRIPTS), *THROUGH).came_up()
    assert set(second.steps("started")) <= STEADY, second.story()
    assert not second.of("bootkube", "handed-over") and not second.of("bootkube.path"), second.story()
    whole(second, machine)
    assert not failed(second), failed(second)
    machine.like(tree)


def killed(lab):
    machine = lab.machine("tectonic killed")
    trial = machine.boot(master(), *options(machine, *SCRIPTS), "--kill", "bootkube", "--kill", "tectonic", *THROUGH).came_up()
    whole(trial, machine)
    assert len(trial.of("agent", "killed")) + len(trial.of("lab", "killed")) >= 2, trial.story()
    undisturbed = lab.reference(master(), *options(lab.machine("tectonic assets"), *SCRIPTS), *THROUGH)
    machine.like(undisturbed)
    second = machine.boot(master(), *options(machine, *SCRIPTS)).came_up()
    assert set(second.steps("started")) <= STEADY, second.story()
    whole(second, machine)
    machine.like(undisturbed)


# Brings the assets by and by, as somebody would over SSH, and the list of digests first of all: it is not believed
# before its files are whole.
PUSH = """#!/bin/sh
await() { until grep -q "$1" /run/bringup/status.json; do sleep 0.1; done; }
await handed-over
echo "$(printf whole | sha256sum | cut -d' ' -f1)  asset" >/opt/tectonic/SHA256SUMS
await 'asset`, which `/opt/tectonic/SHA256SUMS` lists, is not there'
printf wh >/opt/tectonic/asset
await 'asset` is not whole'
ls /lab/stages >/lab/too-early 2>&1
printf whole >/opt/tectonic/asset
"""
PUSHER = "[Service]\nExecStart=/opt/lab/push\n[Install]\nWantedBy=multi-user.target\n"


def late(lab):
    machine = lab.machine("tectonic late")
    stage = {"run": ["/opt/lab/stage", "bootkube"], "waitFor": [{"manifest": "/opt/tectonic/SHA256SUMS"}], "timeout": "20s"}
    made = master(controlPlane=stage, units=[{"name": "push.service", "content": PUSHER, "enabled": True}])
    made["spec"]["nodeGroups"][0]["files"].append({"path": "/opt/lab/push", "content": PUSH, "mode": "0755"})
    trial = machine.boot(made, *options(machine, SCRIPTS[1]), *THROUGH, patience=120).came_up()
    whole(trial, machine)
    assert "No such file" in machine.text("/lab/too-early"), machine.text("/lab/too-early")
    assert trial.of("bootkube", "paused") and trial.of("bootkube", "resumed"), trial.story()


# A runtime, as far as it is asked: like containerd, it tells when it is ready.
RUNTIME = """#!/bin/sh
[ "$1" = --version ] && exec echo containerd example.com/containerd v2.99.9
systemd-notify --ready
exec sleep infinity
"""


def another_runtime(lab):
    """The runtime goes by the version of Kubernetes; the data of the image's own is gone when the machine has rebooted."""
    machine = lab.machine("another runtime")
    url = "https://downloads.lab.example/containerd.tar.gz"
    words, source = served(machine, url, "containerd", tarball({"bin/containerd": RUNTIME}))
    version = {"kubernetes": "1.33", "version": "2.99.9", "downloads": source["downloads"]}
    made = master(software={"runtime": {"from": "url", "path": "/usr/local"}}, runtime={"versions": [version]})
    # The image's own, which has been at work.
    image = machine.give(RUNTIME.replace("2.99.9", "1.7.20"), "image", mode=0o755)
    old = ["--file", f"/usr/local/bin/containerd={image}", "--file", f"/var/lib/containerd/meta.db={machine.give('old', 'old')}"]
    first = machine.boot(made, *options(machine, *SCRIPTS), *words, *old).did_not()
    assert first.of("reboot", "rebooting"), first.story()
    assert not first.of("gate", "opened"), "the gate stays shut until the machine has rebooted"
    data = machine.path("/var/lib/containerd")
    assert not (data / "meta.db").exists() and (data.parent / ".containerd.bringup-old1/meta.db").exists(), first.story()
    second = machine.boot(made, *options(machine, *SCRIPTS), *words, *THROUGH).came_up()
    assert second.of("reboot", "rebooted"), second.story()
    assert not (data / "meta.db").exists() and not list(data.parent.glob(".containerd.bringup-old*")), second.story()
    whole(second, machine)


# An address without a name, and with the port that nobody writes into a request.
BALANCER = "https://10.5.0.2:443"


def worker(machine):
    """A worker that asks the API server which version the cluster has: the document, and what it is served."""
    words, versions = [], []
    for minor, version in ((33, "2.97.7"), (34, "2.98.8"), (35, "2.99.9")):
        url = f"https://downloads.lab.example/{version}.tar.gz"
        content = tarball({"bin/containerd": RUNTIME.replace("2.99.9", version)})
        more, source = served(machine, url, version, content)
        words += more
        versions.append({"kubernetes": f"1.{minor}", "version": version, "downloads": source["downloads"]})
    made = generic(software={"runtime": {"from": "url", "path": "/usr/local"}}, runtime={"versions": versions})
    spec = made["spec"]
    spec["flavour"] = "tectonic"
    spec["kubernetes"] = {"version": "1.33.4", "detect": True}
    spec["api"]["endpoint"] = BALANCER
    return made, words


def answers(machine, said):
    """What the API server says when it is asked for its version."""
    return ["--serve", f"{BALANCER}/version={machine.give(said, 'version')}"]


def asked(machine):
    return [request for request in machine.heard() if request["url"] == "https://10.5.0.2/version"]


def detected(lab):
    """The version of the cluster decides the runtime and the tag; it is waited for, asked for once, and kept."""
    machine = lab.machine("a worker")
    made, words = worker(machine)
    rubbish = answers(machine, "<html>down for maintenance</html>")
    first = machine.boot(made, *words, *rubbish, "--until", "identify=paused").did_not()
    assert "none of Kubernetes" in first.of("identify", "paused")[0]["why"], first.story()
    assert first.steps("started") == ["identify"], first.story()
    assert not machine.path("/etc/kubernetes/kubelet.env").exists() and not machine.path("/usr/local/bin").exists(), first.story()
    # The API server does not answer at first, and the agent is killed while it installs.
    hindered = ["--fail", "identify=1", "--kill", "install-containerd"]
    second = machine.boot(made, *words, *answers(machine, {"gitVersion": "v1.34.2+lab.1"}), *hindered).came_up()
    assert second.of("identify", "retrying") and second.of("lab", "killed"), second.story()
    assert "KUBELET_IMAGE_TAG=v1.34.2_lab.1\n" in machine.text("/etc/kubernetes/kubelet.env"), machine.text("/etc/kubernetes/kubelet.env")
    assert "v2.98.8" in machine.text("/usr/local/bin/containerd"), "the runtime goes with 1.34"
    assert not any("API server" in name for name in second.outcome["stand_ins"]), "what is served is not made up"
    requests, tree = len(asked(machine)), machine.tree()
    assert requests, machine.heard()
    # What is known is not asked for again, whatever the API server says by now.
    third = machine.boot(made, *words, *answers(machine, "<html>"), "--until", "gate=opened")
    assert third.of("gate", "opened") and len(asked(machine)) == requests, third.story()
    assert "install-containerd" not in third.steps("started"), third.story()
    machine.like(tree)


def made_up(lab):
    """A worker's config of Tectonic's, with nothing given: the API server's answer is made up, and said to be."""
    machine = lab.machine("a worker, alone")
    place = TOP / "examples/tectonic"
    words = ["--with", place / "master.json", "--with", place / "additions.yaml", "--group", "workers"]
    trial = machine.boot(place / "worker.json", *words).came_up()
    assert "the API server's version (v1.33.4)" in trial.outcome["stand_ins"], trial.outcome["stand_ins"]
    assert "authority vouches for the API server" in trial.said, trial.said
    assert len(machine.calls()) == 1, machine.calls()


# Tectonic's own units, as its document has them; the programs are the lab's.
SEED = {
    "k8s-node-bootstrap.service": """[Unit]
ConditionPathExists=!/etc/kubernetes/kubelet.env
Before=kubelet.service
[Service]
Restart=on-failure
RestartSec=2
ExecStartPre=/bin/sh /opt/lab/seed bootstrap
ExecStart=/bin/echo node components bootstrapped
""",
    "kubelet.service": """[Unit]
Wants=k8s-node-bootstrap.service
[Service]
EnvironmentFile=/etc/kubernetes/kubelet.env
ExecStart=/bin/sh /opt/lab/seed kubelet
Restart=always
RestartSec=3
""",
    "bootkube.path": "[Path]\nPathExists=/opt/tectonic/bootkube.sh\n",
    "bootkube.service": """[Unit]
ConditionPathExists=!/opt/tectonic/init_bootkube.done
Wants=kubelet.service
After=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/bin/sh /opt/lab/seed bootkube
ExecStartPost=/bin/touch /opt/tectonic/init_bootkube.done
""",
    # The lab's own, to see it by.
    "bootkube.path.d/lab.conf": "[Unit]\nOnFailure=fallen.service\n",
    "fallen.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'systemctl show -p Result --value bootkube.path >/lab/fallen'\n",
    "multi-user.target.d/seed.conf": "[Unit]\nWants=k8s-node-bootstrap.service kubelet.service bootkube.path\n",
}
SEED_PROGRAM = """echo $1 >>/lab/order
case $1 in
bootstrap) [ $(grep -c bootstrap /lab/order) -gt 1 ] && mkdir -p /etc/kubernetes && echo KUBELET_IMAGE_TAG=v1 >/etc/kubernetes/kubelet.env ;;
kubelet) exec sleep infinity ;;
esac
"""


def seed(lab):
    """What the facts say of Tectonic's own design: one failure releases what was to wait, and the second boot's path unit falls over."""
    machine = lab.machine("seed")
    words = ["--file", f"/opt/lab/seed={machine.give(SEED_PROGRAM, 'seed')}", "--file", f"{SCRIPTS[0]}={machine.give('asset', 'asset')}"]
    for name, text in SEED.items():
        words += ["--file", f"/etc/systemd/system/{name}={machine.give(text, name.replace('/', '-'))}"]
    first = machine.boot("#cloud-config\n{}\n", *words, "--until", "kubelet.service=started", "--until", "bootkube.service=started")
    order = machine.text("/lab/order").split()
    # The first attempt at the bootstrap failed, and bootkube went on without a kubelet.
    assert order[:2] == ["bootstrap", "bootkube"], (order, first.story())
    assert machine.path("/opt/tectonic/init_bootkube.done").exists()
    second = machine.boot("#cloud-config\n{}\n", *words, "--until", "fallen.service=started")
    assert machine.text("/lab/fallen") == "trigger-limit-hit\n", (machine.text("/lab/fallen"), second.story())


def cases():
    yield "a master of Tectonic's: first boot, second boot", boots
    yield "a master of Tectonic's: the agent of a stage is killed, and a second boot", killed
    yield "another runtime: the old data is set aside before the reboot, and gone after it", another_runtime
    yield "a worker finds out the cluster's version: rubbish, waiting, killed, and a second boot", detected
    yield "a worker's config of Tectonic's, with nothing given", made_up
    yield "assets that come late, and in pieces", late
    yield "Tectonic's own units: what one failure releases, and the second boot", seed
