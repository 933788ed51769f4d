"""Lets our first stage place the fetch stub and runs it against two real HTTP servers, of which the first misbehaves.

Reads {"user_data": base64, "files": {path: base64}, "shell": which programs there are, "fault": what the first does}.
"""

import base64
import http.server
import json
import os
import pathlib
import shlex
import shutil
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import cloud_init  # noqa: E402

STUB = "/opt/bringup/bin/bringup-fetch"
UNIT = "etc/systemd/system/bringup.service"
WRITTEN = ("/opt/bringup/bin/bringup-node", "/etc/bringup/plan.json")
# The shell and the directory with the one program that fetches.
SHELLS = {"dash with curl": (["dash"], "curl"), "dash with wget": (["dash"], "wget"), "busybox": (["busybox", "sh"], None)}


def serve(name, port, files, fault, asked):
    class Mirror(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(f"{name} {self.path}")
            content = files.get(self.path.removeprefix("/bringup/"))
            if content is None or fault == "missing":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if fault == "tampered":
                content = content[:-1] + bytes([content[-1] ^ 1])
            # With a length that promises more, the connection ends early.
            self.wfile.write(content[: len(content) // 2] if fault == "truncated" else content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Mirror)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def programs(overlay, root, shell):
    """The directory that the stub's PATH names, with links to what such a machine has and nothing else that fetches."""
    directory = overlay.merged / "opt/programs"
    directory.mkdir(parents=True)
    command, fetcher = SHELLS[shell]
    if fetcher is None:
        done = overlay.chroot(["busybox", "--install", "-s", "/opt/programs"], deadline=20)
        assert done.returncode == 0, done.stderr
    else:
        for name in ("dash", "sha256sum", "cut", "mkdir", "chmod", "mv", "sleep", "cat"):
            os.symlink(f"/usr/bin/{name}", directory / name)
        # The root's own: the first stage ran with stand-ins in its place.
        shutil.copy(pathlib.Path(root) / "usr/bin" / fetcher, directory / fetcher)
    return command


def main():
    given = json.load(sys.stdin)
    root = sys.argv[1]
    files = {path: base64.b64decode(content) for path, content in given["files"].items()}
    overlay = cloud_init.prepared(root, base64.b64decode(given["user_data"]), "published")
    for stage in cloud_init.STAGES[:2]:
        overlay.chroot(["python3", "/usr/lib/oracle/stage.py", "--ours", *stage], deadline=120)
    asked = []
    if given["fault"] != "refused":
        serve("first", 8081, files, given["fault"], asked)
    serve("second", 8082, files, None, asked)
    command = programs(overlay, root, given["shell"])
    # It tries for ever; a minute is enough for what is to be seen, and `timeout` lets it tell what went wrong.
    stub = ["timeout", "60", "env", "-i", "PATH=/opt/programs", f"/usr/bin/{command[0]}", *command[1:], STUB]
    done = overlay.chroot(stub, deadline=90)
    first = list(asked)
    written = overlay.written()
    again = overlay.chroot(stub, deadline=90)
    start = next(line for line in (overlay.merged / UNIT).read_text().splitlines() if line.startswith("ExecStart="))
    overlay.chroot(shlex.split(start.removeprefix("ExecStart=")), deadline=20)
    noted = overlay.merged / "run/stand-in"
    result = {
        "status": done.returncode or again.returncode,
        "said": done.stderr.decode(errors="replace"),
        "asked": first,
        "asked_again": asked[len(first) :],
        "files": {path: file for path, file in written.items() if path in WRITTEN},
        "stand_in": noted.read_text() if noted.exists() else "",
    }
    json.dump(result, sys.stdout)


main()
