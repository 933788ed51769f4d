"""Lets systemd judge units: reads {"files": {path: text}, "units": [name]} and prints status and output."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox  # noqa: E402

EXECUTED = re.compile(r"^Exec\w+=[-+!@:|]*(/\S+)", re.MULTILINE)


def main():
    given = json.load(sys.stdin)
    overlay = sandbox.Overlay(sys.argv[1], "units")
    overlay.mount()
    for path, text in given["files"].items():
        file = overlay.merged / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        # Programs that the node will have: the judge wants to see them and does not run them.
        for program in EXECUTED.findall(text):
            here = overlay.merged / program.lstrip("/")
            if not here.exists():
                here.parent.mkdir(parents=True, exist_ok=True)
                here.write_text("#!/bin/sh\n")
                here.chmod(0o755)
    done = overlay.chroot(["systemd-analyze", "--man=no", "verify", *given["units"]], deadline=60)
    json.dump({"status": done.returncode, "said": (done.stdout + done.stderr).decode(errors="replace")}, sys.stdout)


main()
