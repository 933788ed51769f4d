"""Every way in: single and multipart cloud-init, Ignition; AWS and machines of one's own."""

import hashlib

import machine as bench
from machine import document, generic


def multipart(lab):
    machine = lab.machine("multipart")
    machine.boot(document(carriers=["multipart"]), "--reboot").came_up()
    assert machine.runs() == 1 and len(machine.calls()) == 2
    machine.like(lab.reference(document()))


def own_machine(lab):
    machine = lab.machine("generic")
    trial = machine.boot(generic(), "--reboot").came_up()
    assert [boot["all"] for boot in trial.outcome["metadata_requests"]] == [0, 0]
    assert trial.outcome["os"] == "Debian 12", trial.outcome["os"]
    assert "--node-labels=lab.example/place=cellar" in machine.calls()[0]["arguments"], machine.calls()
    machine.like(lab.reference(generic()))


# Runs as the account that every image for Ignition has, in its home.
OF_CORE = "[Service]\nType=oneshot\nUser=core\nExecStart=/bin/sh -c 'cp /opt/lab/of-core ~/copied'\n[Install]\nWantedBy=multi-user.target\n"


def ignition(lab):
    machine = lab.machine("ignition")
    made = generic(carriers=["ignition"], units=[{"name": "of-core.service", "content": OF_CORE, "enabled": True}, {"name": "docker.service", "enabled": True}])
    for part in made["spec"]["nodeGroups"]:
        part["os"] = "flatcar"
        part["files"].append({"path": "/opt/lab/of-core", "content": "core's\n", "owner": "core:core", "mode": "0600"})
    trial = machine.boot(made).came_up()
    tree = machine.tree()
    machine.boot(made).came_up()
    machine.like(tree)
    assert machine.runs() == 1 and len(machine.calls()) == 2
    assert "flatcar" in trial.outcome["os"], trial.outcome["os"]
    assert not trial.of("cloud-init.service")
    home = machine.path("/home/core/copied")
    assert home.read_text() == "core's\n" and home.stat().st_uid == 500, trial.story()
    for made_up in ("the accounts `core` and `etcd`", "services of the image (docker.service)"):
        assert made_up in trial.outcome["stand_ins"], trial.outcome["stand_ins"]


def fetched(lab):
    """The agent and an asset come over https, by their digests; the asset's server fails once."""
    machine = lab.machine("fetched agent")
    agent = bench.BRINGUP.with_name("bringup-node")
    url = "https://downloads.lab.example/bringup-node-x86_64"
    digest = hashlib.sha256(agent.read_bytes()).hexdigest()
    source = {"from": "fetch", "downloads": {"x86_64": {"urls": [url], "sha256": digest}}}
    asset = machine.give("an asset\n", "asset")
    place = "https://downloads.lab.example:8443/asset"
    assets = [{"name": "asset", "path": "/opt/lab/asset", "urls": [place], "sha256": hashlib.sha256(b"an asset\n").hexdigest()}]
    made = document(agent=source, assets=assets)
    fetch = next(step["name"] for step in lab.plan(made)["steps"] if step["action"]["do"] == "fetch")
    trial = machine.boot(
        made, "--serve", f"{url}={agent}", "--serve", f"{place}={asset}", "--fail", f"{fetch}=1"
    ).came_up()
    assert trial.of(fetch, "finished"), trial.story()
    assert machine.text("/opt/lab/asset") == "an asset\n"
    assert hashlib.sha256(machine.path("/opt/bringup/bin/bringup-node").read_bytes()).hexdigest() == digest


def foreign(lab):
    """Somebody else's user-data comes up when its goal is reached and nothing has failed."""
    machine = lab.machine("foreign")
    text = "#cloud-config\nwrite_files:\n- {path: /etc/theirs, content: hello}\nruncmd:\n- [systemctl, start, --no-block, kubelet.service]\n"
    trial = machine.boot(text, gated=False).came_up()
    assert machine.text("/etc/theirs") == "hello" and trial.of("kubelet.service", "started")


def foreign_that_fails(lab):
    machine = lab.machine("foreign that fails")
    unit = "[Service]\nType=oneshot\nExecStart=/bin/false\n"
    text = f"#cloud-config\nwrite_files:\n- path: /etc/systemd/system/theirs.service\n  content: {unit!r}\nruncmd:\n- systemctl start theirs.service\n".replace("'", '"')
    trial = machine.boot(text).did_not()
    assert trial.code == 1 and trial.of("theirs.service", "failed")


def foreign_ignition(lab):
    """Somebody else's Ignition config, which knows nothing of kubelet: its goal is reached, and nothing has failed."""
    machine = lab.machine("foreign Ignition")
    unit = "[Service]\nType=oneshot\nExecStart=/usr/bin/touch /lab/theirs\n[Install]\nWantedBy=multi-user.target\n"
    config = {
        "ignition": {"version": "3.3.0"},
        "storage": {"files": [{"path": "/etc/theirs", "contents": {"source": "data:,hello"}}]},
        "systemd": {"units": [{"name": "theirs.service", "enabled": True, "contents": unit}]},
    }
    trial = machine.boot(config).came_up()
    assert machine.text("/etc/theirs") == "hello" and machine.path("/lab/theirs").exists()
    assert trial.of("theirs.service", "started") and trial.of("multi-user.target", "started"), trial.story()
    failed = [event["actor"] for event in trial.events if event["event"] == "failed"]
    assert not failed and not trial.of("kubelet.service"), trial.story()


def foreign_ignition_that_fails(lab):
    """A unit that fails before there is a journal to tell of it is found all the same."""
    machine = lab.machine("foreign Ignition that fails")
    unit = "[Unit]\nDefaultDependencies=no\nBefore=systemd-journald.service\n[Service]\nType=oneshot\nExecStart=/bin/false\n[Install]\nWantedBy=sysinit.target\n"
    config = {"ignition": {"version": "3.3.0"}, "systemd": {"units": [{"name": "theirs.service", "enabled": True, "contents": unit}]}}
    trial = machine.boot(config).did_not()
    assert trial.code == 1 and trial.of("theirs.service", "failed"), trial.story()


def cases():
    yield "multipart, twice", multipart
    yield "a machine of one's own, from a seed, twice", own_machine
    yield "Ignition, twice", ignition
    yield "an agent and an asset that are fetched over https", fetched
    yield "somebody else's user-data", foreign
    yield "somebody else's Ignition config", foreign_ignition
    yield "somebody else's Ignition config with a unit that fails early", foreign_ignition_that_fails
    yield "somebody else's user-data with a unit that fails", foreign_that_fails
