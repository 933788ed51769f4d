"""What the suite examines: the output of `bringup build` for every example, and answers of `bringup inspect`."""

import difflib
import json
import pathlib
import subprocess

import sandbox

TOP = sandbox.HERE.parent.parent
BRINGUP = TOP / "target/debug/bringup"
FOREIGN = sandbox.HERE / "foreign"
STRICT_DECODE = TOP / "tools/strict-decode/run"
# An old, a middle and the newest one: whose types the strict decoder can be built with.
KUBELET_MINORS = sorted(int(path.name.split(".")[1]) for path in STRICT_DECODE.parent.glob("go.*.mod"))


class Differs(Exception):
    """Two sides that should say the same do not."""


class Skipped(Exception):
    """The check cannot run here, for a reason that ./test allows."""


def bringup(*arguments, good=(0,), deadline=60, given=None):
    """Runs the command line; returns standard output as bytes."""
    done = subprocess.run(
        [BRINGUP, *arguments], input=given, capture_output=True, timeout=deadline, cwd=TOP, env={"NO_COLOR": "1"}
    )
    if done.returncode not in good:
        said = done.stderr.decode(errors="replace").splitlines()[-20:]
        raise sandbox.ToolFailed("\n".join([f"bringup {' '.join(map(str, arguments))}: exit {done.returncode}", *said]))
    return done.stdout


def inspect(path):
    """`bringup inspect --output json` of a file, decoded."""
    # 2 says that nothing in it can be decoded; the lists are empty then.
    return json.loads(bringup("inspect", path, "--output", "json", good=(0, 2)))


def same(ours, theirs, what):
    """Raises with a unified diff unless both sides are equal as JSON."""
    if ours == theirs:
        return
    sides = [json.dumps(side, indent=1, sort_keys=True, ensure_ascii=False).splitlines() for side in (theirs, ours)]
    changes = list(difflib.unified_diff(*sides, "the real tool", "bringup", lineterm="", n=4))
    raise Differs("\n".join([f"{what} differ", *changes[:60]]))


class Products:
    """The examples, rendered once into a directory that goes away with the suite."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.failures = []
        for document in sorted([*TOP.glob("examples/*/cluster.yaml"), TOP / "examples/tectonic/master.json"]):
            self.build(document, document.parent.name)
        for name in ("letters", "module-list", "nodeconfig"):
            self.build(sandbox.HERE / f"documents/{name}.yaml", name)
        template = (sandbox.HERE / "documents/every-minor.yaml").read_text()
        for minor in KUBELET_MINORS:
            document = scratch / f"kubelet-{minor}.yaml"
            document.write_text(template.replace("MINOR", str(minor)))
            self.build(document, document.stem)

    def build(self, document, name):
        try:
            # What another system's document cannot say stands beside it.
            more = document.parent / "additions.yaml"
            additions = ("--with", more) if more.exists() else ()
            # 1 says that a group is over its budget; the output is complete all the same.
            bringup("build", document, *additions, "-o", self.scratch / name, good=(0, 1), deadline=120)
        except (sandbox.ToolFailed, OSError) as reason:
            self.failures.append(str(reason))

    def built(self):
        """A case of its own: every example builds, and there are some."""
        if self.failures:
            raise Differs("\n".join(self.failures))
        if not self.files("plan.json"):
            raise Differs("no example was built")

    def files(self, *patterns):
        """(name, path) of every output whose file name matches one of `patterns`, in order."""
        found = {path for pattern in patterns for path in self.scratch.glob(f"*/*/*/{pattern}")}
        return [(str(path.relative_to(self.scratch)), path) for path in sorted(found)]

    def plans(self):
        """(name, plan) of every node group."""
        return [(str(pathlib.Path(name).parent), json.loads(path.read_bytes())) for name, path in self.files("plan.json")]


def foreign(folder):
    """(name, path) of every input in a folder of foreign/."""
    return [(f"foreign/{folder}/{path.name}", path) for path in sorted((FOREIGN / folder).iterdir())]


# What a node of an example might learn, for reading files whose last values are open until then.
FACTS = {
    "instanceId": "i-0123456789abcdef0",
    "instanceType": "m5.large",
    "region": "eu-west-1",
    "zone": "eu-west-1a",
    "lifecycle": "spot",
    "address": "192.0.2.10",
    "hostname": "ip-192-0-2-10.eu-west-1.compute.internal",
    "cores": "2",
    "memoryMiB": "8192",
    "nodeName": "ip-192-0-2-10.eu-west-1.compute.internal",
    "providerId": "aws:///eu-west-1a/i-0123456789abcdef0",
    "maxPods": "29",
    "reservedCpu": "70m",
    "reservedMemory": "574Mi",
}


def filled(text):
    """A plan's text with each fact in its place."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else FACTS.get(part["fact"], part["fact"]) for part in text)


def texts_written(plan):
    """(path, text) of every text file that the node's agent will write."""
    for step in plan["steps"]:
        action = step["action"]
        if action["do"] == "writeFile" and "text" in action["content"]:
            yield action["path"], filled(action["content"]["text"])
