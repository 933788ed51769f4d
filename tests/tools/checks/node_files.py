"""Files that the agent will write are read by their readers: kubelet's own types, and a TOML parser."""

import json
import re
import shutil
import subprocess
import tempfile
import tomllib

import products


def kubelet_configurations(plan):
    for path, text in products.texts_written(plan):
        if "KubeletConfiguration" in text and "kubelet.config.k8s.io" in text:
            yield path, text


def decoded(minor, plans):
    """The types of one minor read the configurations of that minor and of no other."""
    if shutil.which("go") is None:
        raise products.Skipped("no Go toolchain")
    with tempfile.TemporaryDirectory() as scratch:
        files = []
        for number, (_, plan) in enumerate(plans):
            for path, text in kubelet_configurations(plan):
                files.append(f"{scratch}/{number}-{path.replace('/', '_')}")
                with open(files[-1], "w") as file:
                    file.write(text)
        assert files, f"no example renders a kubelet configuration for 1.{minor}"
        done = subprocess.run([products.STRICT_DECODE, str(minor), *files], capture_output=True, timeout=300, text=True)
        if done.returncode != 0:
            raise products.Differs(f"strict-decode 1.{minor}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def parsed(text):
    tomllib.loads(text)


def minor_of(plan):
    return int(re.match(r"v?1\.(\d+)", plan["kubernetes"]).group(1))


def cases(made):
    plans = made.plans()
    for minor in products.KUBELET_MINORS:
        yield f"kubelet 1.{minor}", lambda minor=minor: decoded(minor, [named for named in plans if minor_of(named[1]) == minor])
    for name, plan in plans:
        for path, text in products.texts_written(plan):
            if path.endswith(".toml"):
                yield f"toml {name} {path}", lambda text=text: parsed(text)
            if path.endswith(".json"):
                yield f"json {name} {path}", lambda text=text: json.loads(text)
