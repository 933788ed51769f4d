#!/usr/bin/env python3
"""Holds the workspace's dependencies against deny.toml: licences, duplicate versions, sources, wildcards.

It reads the same file as cargo-deny and only the keys used there. cargo-deny itself has no prebuilt release on a
package registry that understands a current Cargo, and building it takes longer than all other tests.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

TOP = pathlib.Path(__file__).resolve().parent.parent


def allowed(expression, licences):
    """Whether an SPDX expression can be met with `licences` only; AND binds tighter than OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def either():
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = both() or met
        return met

    def both():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token == "(":
            met = either()
            tokens.pop(0)
            return met
        if tokens and tokens[0] == "WITH":
            token = f"{token} WITH {tokens[1]}"
            del tokens[:2]
        return token in licences

    return either()


def shipped(metadata):
    """The packages that a build of the workspace's own crates uses, without those for tests only."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, pending = set(), list(metadata["workspace_members"])
    while pending:
        package = pending.pop()
        if package in found:
            continue
        found.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                pending.append(dependency["pkg"])
    return [package for package in metadata["packages"] if package["id"] in found]


def faults(policy, metadata):
    packages = shipped(metadata)
    skipped = {entry["name"] for entry in policy["bans"]["skip"]}
    registries = {f"registry+{url}" for url in policy["sources"]["allow-registry"]}
    versions = {}
    for package in packages:
        label = f"{package['name']} {package['version']}"
        versions.setdefault(package["name"], []).append(package["version"])
        if not allowed(package["license"] or "none", policy["licenses"]["allow"]):
            yield f"{label}: licence `{package['license']}` is not on the list of deny.toml"
        if package["source"] is not None and package["source"] not in registries:
            yield f"{label}: comes from {package['source']}, which deny.toml does not allow"
        if package["source"] is None:
            for dependency in package["dependencies"]:
                if dependency["req"] == "*" and "path" not in dependency:
                    yield f"{label}: `{dependency['name']}` has a wildcard version"
    for name, found in sorted(versions.items()):
        if len(found) > 1 and name not in skipped:
            yield f"{name}: versions {', '.join(sorted(found))}; find who pulls the older one with `cargo tree -i {name}`"
    for name in sorted(skipped - {name for name, found in versions.items() if len(found) > 1}):
        yield f"{name}: skipped in deny.toml, but there are no two versions of it any more"


def main():
    policy = tomllib.loads((TOP / "deny.toml").read_text())
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    for target in policy["graph"]["targets"]:
        command += ["--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=TOP, check=True, capture_output=True).stdout)
    found = list(faults(policy, metadata))
    for fault in found:
        print(fault)
    print(f"{len(shipped(metadata))} packages, {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
