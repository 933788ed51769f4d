#!/usr/bin/env python3
"""The kubernetes suite: a machine of the lab joins a real cluster, and its Node is what the document says.

For each release and each document `bringup try --kubernetes` boots the machine. What is held against the document is the
Node as the API server gives it to kubectl, never a file of ours.
"""

import argparse
import calendar
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import yaml

import build

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The newest minor, and the oldest that its makers still mended when this was written.
VERSIONS = ["1.37.1", "1.33.13"]
# A boot with a control plane beside it, on a busy machine.
PATIENCE = 600
# Authority of the examples: the lab puts its own in its place.
AUTHORITY = ROOT / "examples" / "gpu-eks" / "cluster.yaml"

# What the lab's machines are, by document: see `Instance` and `HOST` in crates/lab.
INSTANCE = {
    "hostname": "ip-10-77-0-10.eu-central-1.compute.internal",
    "instanceId": "i-0123456789abcdef0",
    "instanceType": "m5.large",
    "zone": "eu-central-1a",
    "lifecycle": "on-demand",
}
FACTS = {"generic": {"hostname": "node1"}, "aws": INSTANCE, "eks": INSTANCE}
# Pods of a m5.large: 3 interfaces with 10 addresses, one of each is its own; two pods use the host's. Prefixes of 16
# addresses make 434 of it, above the 110 that is advised for up to 30 processors.
PODS = {"generic": 37, "aws": 3 * (10 - 1) + 2, "eks": 110}
# The address of every machine of the lab.
ADDRESS = "10.77.0.10"
# What a controller of the cloud takes away, which no lab has.
UNINITIALIZED = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
# kubelet's words for what it was told and does not know or will not know for long.
COMPLAINTS = re.compile(r"unknown (flag|field|shorthand)|strict decoding|unrecognized|has been deprecated|no such flag", re.I)


def facts_in(text, facts):
    return re.sub(r"@\{(\w+)\}", lambda found: facts[found[1]], text)


def document(name, version, folder):
    """Writes the document for this release; gives its path and its content."""
    authority = yaml.safe_load(AUTHORITY.read_text())["spec"]["api"]["certificateAuthority"]
    text = (HERE / "documents" / f"{name}.yaml").read_text()
    text = text.replace("@VERSION@", version).replace("@AUTHORITY@", json.dumps(authority))
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path, yaml.safe_load(text)["spec"]


class Held:
    """A trial that was held, and what it gave."""

    def __init__(self, name, version, programs, folder, extra=()):
        path, self.spec = document(name, version, folder)
        self.group = self.spec["nodeGroups"][0]
        self.facts = FACTS[name]
        self.pods = PODS[name]
        by_id = self.group.get("nodeName") == "instance-id"
        self.name = self.facts["instanceId" if by_id else "hostname"]
        self.version = version
        self.aws = self.group.get("platform") == "aws"
        output = folder / "seen"
        command = [ROOT / "target/debug/bringup", "try", path, "--kubernetes", programs, "--output", "json"]
        command += ["-o", output, "--patience", str(PATIENCE), *extra]
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
        self.seconds = time.monotonic() - started
        if not done.stdout.startswith("{"):
            raise AssertionError(f"`bringup try` gave nothing: {done.stdout}{done.stderr}")
        self.outcome = json.loads(done.stdout)
        self.status = done.returncode
        self.node = self.outcome.get("node") or {}
        log = output / "kubelet.log"
        self.log = log.read_text() if log.is_file() else ""

    def events(self, actor, event):
        return [seen for seen in self.outcome["events"] if (seen["actor"], seen["event"]) == (actor, event)]

    def tail(self):
        """What helps when something is not as it should be."""
        own = [f"{seen['step']} {seen['event']} {seen['why']}" for seen in self.outcome["events"] if seen["actor"] == "agent"]
        return "\n".join([*own[-6:], *self.log.splitlines()[-15:]])


def came_up(held):
    assert held.outcome["came_up"] and held.status == 0, f"it did not come up (exit {held.status})\n{held.tail()}"


def nothing_stands_in(held):
    same(held.outcome["kubelet"], "real")
    eks = ["EKS' authenticator"] if held.spec["join"]["method"] == "eks-token" else []
    same(held.outcome["stand_ins"], ["kernel settings and modules", *eks])


def order(held):
    assert held.outcome["agrees"], held.outcome["disagreements"]
    events = held.outcome["events"]
    boots = sorted({seen["boot"] for seen in events})
    for boot in boots:
        own = [(seen["actor"], seen["event"]) for seen in events if seen["boot"] == boot]
        opened, started = own.index(("agent", "opened")), own.index(("kubelet.service", "started"))
        assert opened < started, f"boot {boot}: kubelet started before the gate"
        same(own.count(("kubelet.service", "started")), 1)


def registered(held):
    finished = [seen["step"] for seen in held.events("agent", "finished")]
    assert "registered" in finished, f"the agent did not see its node: {finished}\n{held.tail()}"


def name(held):
    same(held.node["metadata"]["name"], held.name)


def provider_id(held):
    wanted = f"aws:///{held.facts['zone']}/{held.facts['instanceId']}" if held.aws else None
    same(held.node["spec"].get("providerID"), wanted)


def labels(held):
    # kubelet's own, whatever it is told.
    wanted = {"kubernetes.io/hostname": held.name}
    for prefix in ["", "beta."]:
        wanted |= {f"{prefix}kubernetes.io/arch": "amd64", f"{prefix}kubernetes.io/os": "linux"}
    wanted |= {key: facts_in(value, held.facts) for key, value in held.group["labels"].items()}
    same(held.node["metadata"]["labels"], wanted)


def taints(held):
    wanted = held.group["taints"] + ([UNINITIALIZED] if held.aws else [])
    key = lambda taint: sorted((name, value) for name, value in taint.items() if value)
    same(sorted(map(key, held.node["spec"].get("taints", []))), sorted(map(key, wanted)))


def pods(held):
    same(held.node["status"]["allocatable"]["pods"], str(held.pods))


def address(held):
    addresses = {address["type"]: address["address"] for address in held.node["status"]["addresses"]}
    same(addresses, {"InternalIP": ADDRESS, "Hostname": held.name})


def ready(held):
    conditions = {condition["type"]: condition for condition in held.node["status"]["conditions"]}
    same(conditions["Ready"]["status"], "True")
    for kind in ["MemoryPressure", "DiskPressure", "PIDPressure"]:
        same(conditions[kind]["status"], "False")


def versions(held):
    about = held.node["status"]["nodeInfo"]
    same(about["kubeletVersion"], f"v{held.version}")
    assert about["containerRuntimeVersion"].startswith("containerd://1.6."), about["containerRuntimeVersion"]


def log(held):
    assert held.log, "kubelet wrote no log"
    lines = [line for line in held.log.splitlines() if COMPLAINTS.search(line)]
    assert not lines, "\n".join(lines)


def same_node_after_reboot(held):
    second = min(seen["at_ms"] for seen in held.outcome["events"] if seen["boot"] == "2")
    born = time.strptime(held.node["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ")
    assert calendar.timegm(born) * 1000 < second, "the node was registered anew"
    assert held.node["status"]["nodeInfo"]["bootID"], "the node has no boot"


def same(seen, wanted):
    assert seen == wanted, f"is     {json.dumps(seen, sort_keys=True)}\nwanted {json.dumps(wanted, sort_keys=True)}"


def kubelet_alone(version, programs, folder):
    """A real kubelet without a cluster has a real containerd, and is healthy for as long as came_up asks."""
    path, _ = document("generic", version, folder)
    token = folder / "token"
    token.write_text("abcdef.0123456789abcdef")
    command = [ROOT / "target/debug/bringup", "try", path, "--kubelet", programs / "kubelet", "--output", "json"]
    command += ["--file", f"/etc/lab/bootstrap-token={token}", "-o", folder / "seen", "--patience", str(PATIENCE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)
    log = folder / "seen/kubelet.log"
    tail = "\n".join([done.stderr, *(log.read_text().splitlines()[-15:] if log.is_file() else [])])
    assert done.returncode == 0, f"exit {done.returncode}\n{tail}"
    outcome = json.loads(done.stdout)
    assert outcome["came_up"] and outcome["agrees"], tail
    same([outcome["kubelet"], outcome["stand_ins"]], ["real", ["kernel settings and modules"]])
    assert "containerd is Debian's 1.6" in done.stderr, done.stderr
    own = [seen["event"] for seen in outcome["events"] if seen["actor"] == "kubelet.service"]
    same([own.count("started"), own.count("failed")], [1, 0])


CHECKS = [came_up, nothing_stands_in, order, registered, name, provider_id, labels, taints, pods, address, ready, versions, log]


class Report:
    def __init__(self, path):
        self.path, self.failed, self.passed = path, 0, 0

    def case(self, title, function, *arguments):
        """Runs one case, tells how it ended, and gives what it returned."""
        started, value, why = time.monotonic(), None, None
        try:
            value = function(*arguments)
        except (AssertionError, OSError, KeyError, IndexError, ValueError, TypeError, subprocess.SubprocessError) as reason:
            why = str(reason) if isinstance(reason, AssertionError) else repr(reason)
        outcome = "passed" if why is None else "failed"
        setattr(self, outcome, getattr(self, outcome) + 1)
        mark = "ok  " if why is None else "FAIL"
        print(f"{mark}  kubernetes  {title} ({time.monotonic() - started:.1f} s)", flush=True)
        for line in (why or "").splitlines():
            print(f"      {line}", flush=True)
        if self.path:
            with open(self.path, "a") as file:
                file.write(f"kubernetes\t{outcome}\t1\t{title}\n")
        return value


def built(version):
    folder = build.programs(ROOT / ".cache", version)
    said = subprocess.run([folder / "kubelet", "--version"], capture_output=True, text=True, timeout=60)
    same(said.stdout.strip(), f"Kubernetes v{version}")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="*", help=f"releases to try [default: {' '.join(VERSIONS)}]")
    parser.add_argument("--results", help="append a line per outcome to this file, for ./test")
    options = parser.parse_args()
    report = Report(options.results)
    for version in options.version or VERSIONS:
        programs = report.case(f"{version}: programs are built", built, version)
        if programs is None:
            continue
        with tempfile.TemporaryDirectory(prefix="bringup-kubernetes-") as scratch:
            report.case(f"{version}: kubelet without a cluster", kubelet_alone, version, programs, pathlib.Path(scratch))
        for document_name, extra, more in [("generic", ["--reboot"], [same_node_after_reboot]), ("aws", [], []), ("eks", [], [])]:
            with tempfile.TemporaryDirectory(prefix="bringup-kubernetes-") as scratch:
                title = f"{version} {document_name}"
                folder = pathlib.Path(scratch)
                held = report.case(f"{title}: the trial is held", Held, document_name, version, programs, folder, extra)
                if held is None:
                    continue
                for check in CHECKS + more:
                    report.case(f"{title}: {check.__name__.replace('_', ' ')}", check, held)
                print(f"      {title}: {summary(held)}", flush=True)
    print(f"kubernetes: {report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)


def summary(held):
    """The moments of the last boot, in seconds after the agent's first word."""
    last = max(seen["boot"] for seen in held.outcome["events"])
    own = [seen for seen in held.outcome["events"] if seen["boot"] == "1"]
    start = next((seen["at_ms"] for seen in own if seen["actor"] == "agent"), 0)
    moments = {}
    for seen in own:
        key = (seen["actor"], seen["step"], seen["event"])
        if key in {("agent", "gate", "opened"), ("agent", "kubelet", "finished"), ("agent", "registered", "finished")}:
            moments[f"{seen['step']} {seen['event']}"] = f"{(seen['at_ms'] - start) / 1000:.1f} s"
    return f"{last} boot(s) in {held.seconds:.0f} s; first boot: " + json.dumps(moments)


if __name__ == "__main__":
    main()
