"""Lets our first stage place the fetch stub and runs it against mirrors that misbehave; prints what it did.

Reads {"user_data": base64, "mirrors": {url: [answers]}, "path": what is fetched}.
"""

import base64
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import cloud_init  # noqa: E402


def calls(overlay):
    """The programs called since the last time."""
    log = overlay.merged / "run/.oracle/log"
    events = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.unlink(missing_ok=True)
    return [event["call"] for event in events if "call" in event]


def main():
    given = json.load(sys.stdin)
    overlay = cloud_init.prepared(sys.argv[1], base64.b64decode(given["user_data"]), "fetch")
    for stage in cloud_init.STAGES[:2]:
        overlay.chroot(["python3", "/usr/lib/oracle/stage.py", "--ours", *stage], deadline=120)
    (overlay.merged / "run/.oracle/mirrors.json").write_text(json.dumps(given["mirrors"]))
    for name, source in (("curl", "mirror.py"), ("sleep", "recorder.py")):
        program = overlay.merged / "usr/local/sbin" / name
        shutil.copyfile(HERE / source, program)
        program.chmod(0o755)
    calls(overlay)
    runs = []
    for _ in range(2):
        done = overlay.chroot(["/bin/sh", "/opt/bringup/bin/bringup-fetch"], deadline=60)
        file = overlay.written().get(given["path"])
        runs.append({"status": done.returncode, "said": done.stderr.decode(), "calls": calls(overlay), "file": file})
    json.dump(runs, sys.stdout)


main()
