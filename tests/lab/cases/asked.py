"""What `bringup try` is asked for, before anything boots."""

import json
import os
import subprocess

import machine as bench
from machine import document


def answer(machine, *options, made=None, before=(), path=None):
    """What `bringup try` answers to a call that boots nothing."""
    command = [*before, bench.BRINGUP, "try", machine.give(made or document(), "input", 0o644), *options]
    environment = os.environ | ({"PATH": path} if path else {})
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    return done.returncode, done.stdout, done.stderr


def unknown(*options, says):
    def case(lab):
        code, _, said = answer(lab.machine("unknown"), *options)
        assert code == 2 and all(word in said for word in says), (code, said)

    return case


def without_root(lab):
    code, _, said = answer(lab.machine("without root"), before=["unshare", "--user"])
    assert code == 3 and "root" in said and "sudo" in said, (code, said)


def without_packages(lab):
    code, _, said = answer(lab.machine("without packages"), path="/nowhere")
    assert code == 3 and "apt-get install --yes systemd-container mmdebstrap" in said, (code, said)


def findings(lab):
    """What is wrong with a document is told to programs too."""
    made = document(labels={"lab.example/what": "@{nothing}"}, nonsense=True)
    code, out, _ = answer(lab.machine("findings"), "--output", "json", made=made)
    told = json.loads(out)["findings"]
    assert code == 2 and any("nonsense" in finding["message"] and finding["line"] for finding in told), told


def cases():
    yield "a power cut at a step that there is not", unknown("--power-cut", "prepair", says=["`--power-cut prepair`", "`prepare`"])
    yield "a kill at a step that there is not", unknown("--kill", "gatte", says=["`--kill gatte`", "`gate`"])
    yield "a failure of a step that there is not", unknown("--fail", "nope=1", says=["`--fail nope`", "`prepare`"])
    yield "slowness of a step that there is not", unknown("--slow", "nope=1", says=["`--slow nope`", "`prepare`"])
    yield "waiting for a step that there is not", unknown("--until", "nope=started", says=["`--until nope=started`"])
    yield "waiting for what never happens", unknown("--until", "prepare=stuck", says=["`--until prepare=stuck`", "`paused`"])
    yield "without root", without_root
    yield "without the packages", without_packages
    yield "a document that does not compile", findings
