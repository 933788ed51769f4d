"""Applies the Ignition config on standard input to the Debian root named by the first argument; prints the outcome."""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox  # noqa: E402

# Debian ships it for the initial RAM disk only.
IGNITION = "/usr/lib/dracut/modules.d/30ignition/ignition"
PRESETS = "/etc/systemd/system-preset/20-ignition.preset"
# Ignition's own record of the run; accounts are not files of the config.
STATE = re.compile(rf"{re.escape(PRESETS)}$|/etc/\.ignition-result\.json$|{sandbox.ACCOUNTS}")


def units(presets):
    """What the preset file says of each unit."""
    for verb, name in re.findall(r"^(enable|disable) (\S+)$", presets, re.MULTILINE):
        yield {"name": name, "enabled": verb == "enable"}


def main():
    overlay = sandbox.Overlay(sys.argv[1], "ignition")
    # The binary is built to relabel what it wrote and has no option against it: here the labeller does nothing.
    (overlay.layer / "etc/selinux").mkdir(parents=True)
    (overlay.layer / "etc/selinux/config").write_text("SELINUX=disabled\nSELINUXTYPE=none\n")
    programs = overlay.base / "bin"
    programs.mkdir()
    (programs / "setfiles").symlink_to("/bin/true")
    overlay.mount()
    config = overlay.base / "config.ign"
    config.write_bytes(sys.stdin.buffer.read())
    said = []
    for stage in ("fetch-offline", "fetch", "files"):
        command = [IGNITION, "--log-to-stdout", "--platform", "file", "--stage", stage, "--root", overlay.merged]
        command += ["--config-cache", overlay.base / "cache.json", "--neednet", overlay.base / "neednet"]
        command += ["--state-file", overlay.base / "state", "--fetch-timeout", "10s"]
        environment = os.environ | {"IGNITION_CONFIG_FILE": str(config), "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
        lines = done.stdout.decode(errors="replace").splitlines()
        said += [line for line in lines if re.match(r"(WARNING|ERR|CRITICAL)", line)]
        if done.returncode != 0:
            said.append(f"{stage}: exit {done.returncode}")
            break
    written = overlay.written()
    presets = overlay.merged / PRESETS[1:]
    json.dump(
        {
            "files": sandbox.sorted_files({path: file for path, file in written.items() if not STATE.match(path)}),
            "units": list(units(presets.read_text())) if presets.exists() else [],
            "steps": [],
            "warnings": said,
        },
        sys.stdout,
    )


main()
