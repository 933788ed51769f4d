"""Ignition: its validator is silent about ours, and it writes of any config the tree that `inspect` lists."""

import json
import subprocess

import products
import sandbox
from real_ignition import real_ignition

FIELDS = ("path", "mode", "owner", "size", "sha256")


def validated(path):
    done = subprocess.run(["ignition-validate", path], capture_output=True, timeout=30, text=True)
    said = (done.stdout + done.stderr).strip()
    if done.returncode != 0 or said:
        raise products.Differs(f"ignition-validate: exit {done.returncode}\n{said}")


def named(owner, users, groups):
    """`user:group` with the names that the Debian root has for the numbers."""
    user, _, group = owner.partition(":")
    return ":".join(
        table.get(int(part), part) if part.isdigit() else part for part, table in ((user, users), (group, groups))
    )


def applied(path):
    agrees(products.inspect(path), path.read_bytes())


def agrees(ours, config):
    """Raises unless `ours`, an answer of `inspect`, is what Ignition does with `config`."""
    theirs = real_ignition(config)
    if theirs["warnings"]:
        raise products.Differs("\n".join(["ignition is not content:", *theirs["warnings"]]))
    etc = sandbox.debian_root() / "etc"
    users, groups = sandbox.names(etc / "passwd"), sandbox.names(etc / "group")
    for file in ours["files"]:
        file["owner"] = named(file["owner"], users, groups)
    regular = [file for file in theirs["files"] if "sha256" in file]
    for file in regular:
        if file["path"] in theirs["remote"]:
            file |= {"size": None, "sha256": theirs["remote"][file["path"]]}
    products.same(*[[{key: file[key] for key in FIELDS} for file in side] for side in (ours["files"], regular)], "files")
    by_name = lambda unit: unit["name"]  # noqa: E731
    enabled = [unit for unit in ours["units"] if unit["enabled"] is not None]
    products.same(sorted(enabled, key=by_name), sorted(theirs["units"], key=by_name), "units")


def decoded(path):
    """Spec 2 is refused by a current Ignition; `inspect` still has to find what is in it."""
    ours = products.inspect(path)
    paths = {entry["path"] for entry in json.loads(path.read_bytes())["storage"]["files"]}
    missing = paths - {file["path"] for file in ours["files"]}
    if missing:
        raise products.Differs(f"inspect does not list {', '.join(sorted(missing))}")


# What the validator warns of and `inspect` must, too; other warnings are its own.
WARNINGS = {"ignition/unused-key", "ignition/special-bits", "ignition/no-install"}


def verdicts():
    """The recorded verdicts are still the validator's, and `inspect` gives the same."""
    table = products.TOP / "crates/carry/tests/ignition-validate-2.14/verdicts.jsonl"
    for case in map(json.loads, table.read_text().splitlines()):
        done = subprocess.run(["ignition-validate", "-"], input=case["config"], capture_output=True, timeout=30, text=True)
        findings = json.loads(products.bringup("inspect", "-", "--output", "json", given=case["config"].encode()))["findings"]
        refused = any(finding["severity"] == "error" for finding in findings)
        products.same([case["refused"], refused], [done.returncode != 0] * 2, f"verdicts on {case['name']}")
        if not refused:
            warned = any(finding["code"] in WARNINGS for finding in findings)
            said = [line for line in done.stdout.splitlines() if line.startswith("warning") and "context tree" not in line]
            products.same(warned, bool(said), f"warnings about {case['name']}")


def cases(made):
    yield "verdicts", verdicts
    for name, path in made.files("ignition.json"):
        yield f"validate {name}", lambda path=path: validated(path)
    for name, path in products.foreign("ignition") + made.files("ignition.json"):
        version = json.loads(path.read_bytes())["ignition"]["version"]
        yield f"apply {name}", lambda path=path, old=version.startswith("2."): (decoded if old else applied)(path)
