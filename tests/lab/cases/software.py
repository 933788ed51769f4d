"""Software that comes over the wire: checked, kept aside until it works, taken back if it does not; and what programs get."""

import gzip
import hashlib
import io
import tarfile

from machine import document

KUBELET = "https://downloads.lab.example/kubelet"
RUNTIME = "https://downloads.lab.example/containerd.tar.gz"

# Answers health, as far as the agent asks.
WELL = """#!/usr/bin/python3
import http.server, sys
if "--version" in sys.argv:
    sys.exit(print("Kubernetes v1.33.4"))
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 10248), Health).serve_forever()
"""
BROKEN = "#!/bin/sh\necho this one is broken\nexit 7\n"
# Knows its version, and no more.
DYING = '#!/bin/sh\n[ "$1" = --version ] && exec echo Kubernetes v1.33.5\n' + BROKEN.removeprefix("#!/bin/sh\n")


def served(machine, url, name, content):
    """A file that a URL gives: the option, and what a document says of it."""
    path = machine.folder / name
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return ["--serve", f"{url}={path}"], {"from": "url", "downloads": {"x86_64": {"urls": [url], "sha256": digest}}}


def tarball(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)


def kubelet_goes_back(lab):
    """A new kubelet that dies is set aside, the old one is back and runs, and the agent says so."""
    machine = lab.machine("new kubelet dies")
    options, source = served(machine, KUBELET, "well", WELL.encode())
    machine.boot(document(software={"kubelet": source}), *options).came_up()
    program = next(path for path in ("/opt/bin/kubelet", "/usr/local/bin/kubelet", "/usr/bin/kubelet") if machine.path(path).exists())
    assert machine.text(program) == WELL
    assert not machine.path(f"{program}.bringup-old").exists(), "what works needs no other version beside it"
    for name, content, step in (("dying", DYING, "kubelet"), ("broken", BROKEN, "install-kubelet")):
        options, source = served(machine, KUBELET, name, content.encode())
        made = document(software={"kubelet": source})
        trial = machine.boot(made, *options, "--until", f"{step}=paused").did_not()
        paused = trial.of(step, "paused")
        assert paused and "set aside" in paused[0]["why"], trial.story()
        assert machine.text(program) == WELL and machine.text(f"{program}.bringup-failed") == content
        assert "this one is broken" in trial.status["tail"], trial.status
        # Whoever looks later is told the same, though nothing was tried again.
        later = machine.boot(made, *options, "--until", f"{step}=paused").did_not()
        for status in (trial.status, later.status):
            assert "code 7" in status["why"] and "set aside" in status["why"], status
            assert "this one is broken" in status["tail"], status


def runtime_goes_back(lab):
    """So is a runtime of an archive, file by file."""
    machine = lab.machine("new runtime dies")
    well = {"bin/containerd": "#!/bin/sh\nexec sleep infinity\n", "bin/ctr": "one\n"}
    broken = {"bin/containerd": BROKEN, "bin/ctr": "two\n"}
    unit = "[Service]\nType=exec\nExecStart=/usr/local/bin/containerd\nExecStartPost=/bin/sh -c 'sleep 1; kill -0 $MAINPID'\n"
    group = {"units": [{"name": "containerd.service", "dropIns": [{"name": "10-own.conf", "content": "[Service]\nExecStart=\n" + unit.removeprefix("[Service]\n")}]}]}
    for step, members in (("came up", well), ("goes back", broken)):
        archive = tarball(members)
        options, source = served(machine, RUNTIME, step, archive)
        made = document(software={"runtime": source | {"path": "/usr/local"}}, **group)
        if members is well:
            machine.boot(made, *options).came_up()
            assert machine.text("/usr/local/bin/ctr") == "one\n"
            continue
        trial = machine.boot(made, *options, "--until", "start-runtime=paused").did_not()
        assert "set aside" in trial.of("start-runtime", "paused")[0]["why"], trial.story()
        assert not trial.of("gate", "opened", 2), "the gate stays shut"
    for name in well:
        assert machine.text(f"/usr/local/{name}") == well[name], name
        assert machine.text(f"/usr/local/{name}.bringup-failed") == broken[name], name


# No container may mount an image: this one unpacks the archives that stand for them, in the place of `systemd-sysext`.
MERGE = """#!/bin/sh
rm -rf /opt/lab/merged && mkdir -p /opt/lab/merged && cd /opt/lab/merged || exit
for image in /etc/extensions/*.raw; do [ ! -e "$image" ] || tar -xzf "$image"; done
cat bin/name >>/lab/merges 2>/dev/null || echo nothing >>/lab/merges
"""
MERGER = """[Unit]
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/opt/lab/merge
[Install]
WantedBy=sysinit.target
"""


def extension_goes_back(lab):
    """So is the image of a system extension: the system merges the old one again, which runs."""
    machine = lab.machine("new extension dies")
    start = "exec sleep infinity\n"
    images = {name: tarball({"bin/name": f"{name}\n", "bin/containerd": f"#!/bin/sh\necho {name} >>/lab/ran\n" + how})
              for name, how in (("one", start), ("two", "echo this one is broken\nexit 7\n"))}  # fmt: skip
    program = "/opt/lab/merged/bin/containerd"
    own = f"[Service]\nExecStart=\nType=exec\nExecStart={program}\nExecStartPost=/bin/sh -c 'sleep 1; kill -0 $MAINPID'\nRestart=no\n"
    units = [{"name": "containerd.service", "dropIns": [{"name": "10-own.conf", "content": own}]}]
    image = ["--file", f"/opt/lab/merge={machine.give(MERGE, 'merge', 0o755)}"]
    image += ["--file", f"/etc/systemd/system/systemd-sysext.service={machine.give(MERGER, 'merger')}"]
    place = "/etc/extensions/containerd.raw"
    trial = None
    for name, content in images.items():
        options, source = served(machine, "https://downloads.lab.example/containerd.raw", name, content)
        made = document(os={"family": "debian", "version": "12"}, software={"runtime": source | {"from": "extension"}}, units=units)
        if name == "one":
            machine.boot(made, *image, *options).came_up()
            assert machine.text("/lab/merges") == "one\n" and machine.text("/lab/ran") == "one\n", machine.text("/lab/merges")
            assert not machine.path(f"{place}.bringup-old").exists(), "what works needs no other version beside it"
            continue
        trial = machine.boot(made, *options, "--until", "start-runtime=paused").did_not()
    assert "set aside" in trial.of("start-runtime", "paused")[0]["why"], trial.story()
    assert not trial.of("gate", "opened", 2), "the gate stays shut"
    assert machine.path(place).read_bytes() == images["one"] and machine.path(f"{place}.bringup-failed").read_bytes() == images["two"]
    # Merged at the boot, with the new one, and once more with the old one; which then runs.
    assert machine.text("/lab/merges").split()[-2:] == ["two", "one"], machine.text("/lab/merges")
    assert machine.text("/lab/ran").split()[-2:] == ["two", "one"], machine.text("/lab/ran")


def arguments_are_verbatim(lab):
    """No shell and no manager puts anything into what a program is told; its environment is what is documented."""
    machine = lab.machine("arguments")
    words = ["$HOME", "${PATH}", "a b", "`id`", "*", ";", "100%", "%n", "\\x41", '"']
    steps = [
        {"name": "words", "run": ["/usr/bin/printf", "%s\\n", *words], "before": ["gate"]},
        {"name": "variables", "run": ["/usr/bin/env"], "environment": {"OWN": "$HOME %n"}, "before": ["gate"]},
    ]
    machine.boot(document(steps=steps)).came_up()
    assert machine.text("/var/lib/bringup/output/words").splitlines() == words
    variables = dict(line.split("=", 1) for line in machine.text("/var/lib/bringup/output/variables").splitlines())
    systemd = {"PATH", "LANG", "INVOCATION_ID", "SYSTEMD_EXEC_PID", "JOURNAL_STREAM"}
    ours = {"BRINGUP_" + name for name in ("CLUSTER", "GROUP", "STEP", "PHASE", "ATTEMPT", "NODE_NAME", "REBOOT")}
    assert variables["OWN"] == "$HOME %n", variables
    assert set(variables) - systemd == ours | {"OWN"}, sorted(variables)


def a_timeout_ends_all_of_a_program(lab):
    """Also what has left its session, and what does not hear of the end."""
    machine = lab.machine("forks")
    program = "setsid sh -c 'trap \"\" TERM; while :; do date +%s%N >/lab/alive; sleep 0.1; done' & sleep 1000"
    looks = "one=$(cat /lab/alive); sleep 1; test \"$one\" = \"$(cat /lab/alive)\""
    steps = [
        {"name": "forks", "run": ["/bin/sh", "-c", program], "before": ["gate"], "timeout": "2s", "attempts": 1, "onFailure": "continue"},
        {"name": "looks", "run": ["/bin/sh", "-c", looks], "after": ["forks"], "before": ["gate"], "attempts": 1, "onFailure": "give-up"},
        {"name": "chatty", "run": ["/bin/sh", "-c", "yes | head -c 30000000; echo the end"], "after": ["looks"], "before": ["gate"], "attempts": 1},
    ]
    trial = machine.boot(document(steps=steps)).came_up()
    assert trial.of("forks", "timed-out") and trial.of("looks", "finished"), trial.story()
    output = machine.text("/var/lib/bringup/output/chatty")
    assert len(output) < 200_000 and output.endswith("the end\n"), len(output)


def of_before(lab):
    """docker, and a unit that is switched off and that this system does not have: neither holds kubelet up."""
    machine = lab.machine("docker")
    made = document(runtime={"name": "docker"}, units=[{"name": "update-engine.service", "enabled": False}])
    made["spec"]["kubernetes"]["version"] = "1.23"
    trial = machine.boot(made).came_up()
    assert "docker" in trial.outcome["stand_ins"] and trial.of("docker.service", "started"), trial.story()
    assert trial.of("units", "finished") and not trial.of("units", "paused"), trial.story()
    # kubelet asks the cloud for its name before 1.26; whoever waits for the node knows it, too.
    assert not trial.of("registered", "paused"), trial.story()


def cases():
    yield "a new kubelet that dies goes back", kubelet_goes_back
    yield "a new runtime that dies goes back", runtime_goes_back
    yield "a new system extension that dies goes back", extension_goes_back
    yield "arguments reach a program as they are", arguments_are_verbatim
    yield "a timeout ends all of a program", a_timeout_ends_all_of_a_program
    yield "docker, a unit that is not there, and a kubelet that asks for its name", of_before
