"""Machines on the bench: documents to boot, `bringup try` to boot them with, and what is on their disks afterwards."""

import difflib
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess
import threading

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BRINGUP = TOP / "target/debug/bringup"
CONTROL_GROUPS = [pathlib.Path("/sys/fs/cgroup/unified"), pathlib.Path("/sys/fs/cgroup")]

# What is another on each machine, or is the lab's or the system's own and not the node's.
NOT_COMPARED = re.compile(
    r"/(lab|home|root|tmp|run)(/|$)"
    r"|/var/(log|cache|tmp)(/|$)|/var/lib/(cloud|systemd|dbus|apt|dpkg|private)(/|$)"
    r"|/var/lib/bringup(/|$)"
    r"|/etc/(machine-id|\.pwd\.lock|sudoers.*|ssh.*|hostname)$|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$"
    r"|/etc/systemd/system/(\S*/)?lab[.-]\S*$|/etc/systemd/system/(multi-user\.target\.wants|bringup-step-\S*\.d)$|/etc/ssl/certs/ca-certificates.crt$|/etc/\.updated$|/var/\.updated$"
)
# All that the agent may leave of its own, and what runs the steps without it.
RECORDS = re.compile(r"(journal|done\.json|failed\.json|output|output/[^/]+|fetch|originals|originals/.+|runtime\.json|steps|steps/[^/.]+)$")


class Differs(Exception):
    """Two things that should be the same are not."""


class TrialFailed(Exception):
    """`bringup try` itself failed: its command, status and last lines of output."""


def document(**group):
    """A document with one group of nodes; `group` adds to the group or replaces what it has."""
    spec = {
        "kubernetes": {"version": "1.33"},
        "api": {"endpoint": "https://api.lab.example", "certificateAuthority": CERTIFICATE},
        "network": {"serviceRanges": ["10.100.0.0/16"]},
        "join": {"method": "eks-token"},
        "aws": {"region": "eu-central-1"},
        "nodeGroups": [
            {
                "name": "workers",
                "platform": "aws",
                "os": "amazon-linux-2023",
                "instanceTypes": ["m5.large", "m5.4xlarge"],
                "labels": {"lab.example/life-cycle": "@{lifecycle}"},
                "taints": [{"key": "lab.example/tried", "value": "yes", "effect": "NoSchedule"}],
                "kernelModules": ["overlay"],
                "sysctls": {"net.ipv4.ip_forward": 1, "vm.overcommit_memory": 1},
                "files": [
                    {"path": "/etc/lab/about", "content": "@{instanceType} in @{zone}\n"},
                    {"path": "/opt/lab/prepare", "content": PREPARE, "mode": "0755"},
                ],
                "steps": [
                    {
                        "name": "prepare",
                        "run": ["/opt/lab/prepare", "@{instanceType}"],
                        "before": ["gate"],
                        "timeout": "3s",
                        "attempts": 3,
                        "backoff": "1s",
                        "onFailure": "pause",
                    }
                ],
                "agent": "image",
                "carriers": ["cloud-init"],
            }
            | group
        ],
    }
    return {"apiVersion": "bringup.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": "lab"}, "spec": spec}


def generic(**group):
    """The same on a machine of one's own, with a bootstrap token."""
    made = document(platform="generic", os={"family": "debian", "version": "12"}, labels={"lab.example/place": "cellar"}, **group)
    del made["spec"]["aws"]
    made["spec"]["join"] = {"method": "bootstrap-token", "token": {"file": "/etc/lab/token"}}
    for part in made["spec"]["nodeGroups"]:
        del part["instanceTypes"]
        part["maxPods"] = 110
        part["files"] = [{"path": "/opt/lab/prepare", "content": PREPARE, "mode": "0755"}]
        part["steps"][0]["run"] = ["/opt/lab/prepare"]
    return made


# The operator's program: counts its runs and behaves as the image says.
PREPARE = """#!/bin/sh
runs=$(cat /lab/runs 2>/dev/null || echo 0)
runs=$((runs + 1))
echo $runs >/lab/runs
echo "run $runs for $1"
. /lab/behaviour
"""

CERTIFICATE = (
    re.search(r"( *-----BEGIN CERTIFICATE.*?END CERTIFICATE-----\n)", (TOP / "examples/gpu-eks/cluster.yaml").read_text(), re.S)
    .group(1)
    .replace(" " * 6, "")
)


class Laboratory:
    """What the cases share."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.lock = threading.Lock()
        self.count = 0
        self.running = set()
        self.ending = False
        self.references = {}

    def machine(self, name):
        with self.lock:
            self.count += 1
            folder = self.scratch / f"{self.count:02}-{re.sub('[^a-z0-9]+', '-', name.lower())}"
        folder.mkdir()
        return Machine(self, folder)

    def reference(self, text, *options, gated=True):
        """The end state of an undisturbed machine, booted once for all that ask."""
        key = json.dumps([text, options], sort_keys=True)
        with self.lock:
            lock, found = self.references.setdefault(key, (threading.Lock(), []))
        with lock:
            if not found:
                undisturbed = self.machine("reference")
                undisturbed.boot(text, *options, gated=gated).came_up()
                found.append(undisturbed.tree())
        return found[0]

    def plan(self, text):
        """The plan of a document."""
        given = json.dumps(text).encode()
        done = subprocess.run([BRINGUP, "render", "-", "--as", "plan"], input=given, capture_output=True, timeout=60)
        if done.returncode != 0:
            raise TrialFailed(done.stderr.decode())
        return json.loads(done.stdout)

    def start(self, command, **options):
        with self.lock:
            if self.ending:
                raise TrialFailed("the suite is ending")
            process = subprocess.Popen(command, start_new_session=True, cwd=TOP, **options)
            self.running.add(process)
        return process

    def ended(self, process):
        with self.lock:
            self.running.discard(process)

    def stop(self):
        """Ends everything that runs; each cleans up after itself."""
        with self.lock:
            self.ending = True
            running = list(self.running)
        for process in running:
            process.terminate()


class Machine:
    """A machine whose disk stays from boot to boot."""

    def __init__(self, laboratory, folder):
        self.laboratory = laboratory
        self.folder = folder
        self.upper = folder / "disk/upper"
        self.boots = 0

    def give(self, text, name, mode=0o600):
        """A file to give to the lab."""
        path = self.folder / name
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
        path.chmod(mode)
        return path

    def boot(self, text, *options, behaviour=":", patience=60, deadline=None, gated=True):
        """Tries a document, or a carrier, on this machine: its text, or the file that it is in."""
        self.boots += 1
        given = text if isinstance(text, pathlib.Path) else self.give(text, f"input-{self.boots}")
        command = [
            BRINGUP, "try", given, "--machine", self.folder / "disk",
            "--file", f"/lab/behaviour={self.give(behaviour, 'behaviour')}",
            "--file", f"/etc/lab/token={self.give('abcdef.0123456789abcdef', 'token')}",
            "--patience", str(patience), "--output", "json", "-o", self.folder / f"timeline-{self.boots}", *options,
        ]  # fmt: skip
        process = self.laboratory.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=deadline or 4 * patience)
        except BaseException as reason:
            process.terminate()
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            if isinstance(reason, subprocess.TimeoutExpired):
                raise TrialFailed(f"{shown(command)}: not finished in time") from None
            raise
        finally:
            self.laboratory.ended(process)
        try:
            outcome = json.loads(out)
            outcome["events"]
        except (ValueError, KeyError):
            said = (out + err).decode(errors="replace").splitlines()[-20:]
            raise TrialFailed("\n".join([f"{shown(command)}: exit {process.returncode}", *said])) from None
        trial = Trial(process.returncode, outcome, err.decode(errors="replace"))
        # Whatever else a case is about.
        trial.check(trial.agrees, "what was seen does not agree with the plan: " + "; ".join(outcome["disagreements"]))
        for call in self.calls():
            trial.check(call["gate"] or not gated, "kubelet was started while there was no gate")
        return trial

    def path(self, path):
        return self.upper / path.lstrip("/")

    def text(self, path):
        return self.path(path).read_text()

    def heard(self):
        """What was asked of addresses that the lab serves."""
        return [json.loads(line) for line in (self.folder / "disk/requests").read_text().splitlines()]

    def console(self):
        """What the console showed in the last boot."""
        return (self.folder / "disk/console").read_text(errors="replace")

    def calls(self):
        """How the stand-in for kubelet was called so far."""
        path = self.path("/lab/kubelet-calls")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def runs(self):
        """How often the operator's program has run."""
        path = self.path("/lab/runs")
        return int(path.read_text()) if path.exists() else 0

    def tree(self):
        """Path, mode, owner and digest of all that is on the machine's disk."""
        found = {}
        for directory, folders, files in os.walk(self.upper):
            for name in folders + files:
                here = pathlib.Path(directory) / name
                path = "/" + str(here.relative_to(self.upper))
                if not NOT_COMPARED.match(path):
                    found[path] = described(here)
        records = self.path("/var/lib/bringup")
        strange = [
            str(path.relative_to(records))
            for path in records.rglob("*")
            if not RECORDS.match(str(path.relative_to(records)))
        ]
        if strange:
            raise Differs(f"the agent has left {strange} in /var/lib/bringup")
        return found

    def like(self, reference):
        """Holds the end state against that of another machine."""
        own = self.tree()
        if own == reference:
            return
        sides = [[f"{path} {side[path]}" for path in sorted(side)] for side in (reference, own)]
        changes = difflib.unified_diff(*sides, "expected", "on the disk", lineterm="", n=0)
        raise Differs("\n".join(["the end state differs", *list(changes)[:40]]))


class Trial:
    """What `bringup try` has told."""

    def __init__(self, code, outcome, said):
        self.code = code
        self.outcome = outcome
        self.said = said
        self.events = outcome["events"]
        self.agrees = outcome["agrees"]
        self.status = outcome["status"] or {}

    def of(self, who, what=None, boot=None):
        """Events of a step or a unit."""
        return [
            event
            for event in self.events
            if who in (event["step"], event["actor"])
            and what in (None, event["event"])
            and boot in (None, int(event["boot"]))
        ]

    def check(self, holds, why):
        if not holds:
            raise Differs("\n".join([why, *self.story()]))

    def story(self):
        """The last events, for a person."""
        return [
            " ".join(str(event[key]) for key in ("boot", "at_ms", "actor", "step", "event", "why"))
            for event in self.events
        ][-60:]

    def came_up(self):
        self.check(self.outcome["came_up"] and self.code == 0, f"the node did not come up: {self.said}")
        return self

    def did_not(self):
        self.check(not self.outcome["came_up"] and self.code != 0, "the node came up")
        return self

    def steps(self, what, boot=None):
        """The steps to which this happened."""
        found = self.of("agent", what, boot)
        return [event["step"] for event in found if event["step"]]

    def asked_in_version_2(self):
        """Whether the agent has asked the metadata service with a token only."""
        return all(boot["without_token"] == 0 for boot in self.outcome["metadata_requests"])

    def requests(self, boot=-1):
        """How often the metadata service was asked until the gate opened."""
        return self.outcome["metadata_requests"][boot]["until_gate"]


def described(path):
    """What is compared of an entry of a disk."""
    status = path.lstat()
    mode, owner = f"{stat.S_IMODE(status.st_mode):04o}", f"{status.st_uid}:{status.st_gid}"
    if stat.S_ISLNK(status.st_mode):
        return f"link {os.readlink(path)}"
    if stat.S_ISCHR(status.st_mode):
        return "removed"
    if stat.S_ISDIR(status.st_mode):
        return f"{mode} {owner} directory"
    return f"{mode} {owner} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def shown(command):
    return " ".join(map(str, command))


def leftovers(scratch):
    """What trials have left of namespaces, mounts, control groups and folders."""
    left = [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(scratch) in line]
    for top in CONTROL_GROUPS:
        left += [str(path) for path in top.glob("bringup-lab-*") if not alive(path)]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(word.startswith(str(scratch)) for word in words):
            left.append(" ".join(words))
    return left


def alive(group):
    """Whether the lab that made a control group still runs."""
    return pathlib.Path("/proc", group.name.split("-")[2]).exists()
