"""Asks cloud-init's own schema about a cloud-config on standard input; prints status and output."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox  # noqa: E402

overlay = sandbox.Overlay(sys.argv[1], "schema")
overlay.mount()
(overlay.merged / "srv/config").write_bytes(sys.stdin.buffer.read())
done = overlay.chroot(["cloud-init", "schema", "--config-file", "/srv/config"], deadline=60)
json.dump({"status": done.returncode, "said": (done.stdout + done.stderr).decode(errors="replace")}, sys.stdout)
