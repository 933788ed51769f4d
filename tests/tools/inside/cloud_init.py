"""Applies user-data from standard input to the Debian root named by the first argument; prints what happened."""

import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
STAGES = [["init", "--local"], ["init"], ["modules", "--mode=config"], ["modules", "--mode=final"]]
# Programs that would wait for a network, a manager or a device that is not there, or reach past the root.
RECORDED = (
    "systemctl reboot poweroff halt shutdown curl wget apt-get snap modprobe sysctl swapon mkswap losetup"
    " update-grub udevadm netplan kubeadm"
).split()
# The root has no sshd, no locales and no disk; without these lines cloud-init complains of it on every run.
CONFIGURATION = """\
datasource_list: [NoCloud, None]
network: {config: disabled}
ssh_genkeytypes: []
locale: false
resize_rootfs: false
"""
# cloud-init's own state and logs, and the oracle's; all else that differs was asked for by the user-data.
STATE = re.compile(
    r"/var/lib/cloud/(instance|instances|data|handlers|sem|seed)(/|$)|/var/lib/cloud/scripts/(per-|vendor)"
    r"|/run/cloud-init/|/run/\.oracle/|/var/log/|/tmp/tmp|/var/cache/apt/|/var/lib/apt/|" + sandbox.ACCOUNTS
)


def layer(overlay):
    """What the run needs and did not itself write."""
    programs = overlay.layer / "usr/bin"
    (programs.parent / "sbin").mkdir(parents=True)
    programs.mkdir()
    for name in RECORDED:
        for place in (programs, programs.parent / "sbin"):
            shutil.copyfile(HERE / "recorder.py", place / name)
            (place / name).chmod(0o755)
    oracle = overlay.layer / "usr/lib/oracle"
    oracle.mkdir(parents=True)
    shutil.copyfile(HERE / "cloud_init_stage.py", oracle / "stage.py")
    settings = overlay.layer / "etc/cloud/cloud.cfg.d"
    settings.mkdir(parents=True)
    (settings / "99_oracle.cfg").write_text(CONFIGURATION)
    (overlay.layer / "run/.oracle").mkdir(parents=True)


def seed(overlay, user_data):
    directory = overlay.layer / "var/lib/cloud/seed/nocloud"
    directory.mkdir(parents=True)
    (directory / "user-data").write_bytes(user_data)
    (directory / "meta-data").write_text("instance-id: i-0123456789abcdef0\nlocal-hostname: node\n")


def steps(events):
    """The commands in the order in which cloud-init started them; a script made of items counts as its items."""
    scripts = {event["script"]: event["items"] for event in events if "script" in event}
    for event in events:
        if "run" not in event:
            continue
        path = re.sub(r"/instances/[^/]+/", "/instance/", event["run"][-1])
        stage = "final"
        if event["run"][0] == "/bin/sh":
            stage = "init"
        elif "/boothooks/" in path:
            stage = "boothook"
        elif "/per-boot/" in path:
            stage = "every-boot"
        made_of_items = stage == "init" or path.endswith("/scripts/runcmd")
        if made_of_items and event["content"] in scripts:
            for item in scripts[event["content"]]:
                if item:
                    yield {"stage": stage, "run": item.rstrip("\n")}
        else:
            yield {"stage": stage, "run": path}


def files(overlay):
    return {path: file for path, file in overlay.written().items() if not STATE.match(path)}


def prepared(root, user_data, name):
    overlay = sandbox.Overlay(root, name)
    layer(overlay)
    seed(overlay, user_data)
    overlay.mount()
    return overlay


def applied(root, user_data, mode):
    overlay = prepared(root, user_data, mode)
    trouble = []
    for stage in STAGES:
        done = overlay.chroot(["python3", "/usr/lib/oracle/stage.py", f"--{mode}", *stage], deadline=120)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            trouble.append(f"cloud-init {' '.join(stage)}: exit {done.returncode}: {said[-1] if said else ''}")
    first_boot = files(overlay)
    if mode == "ours":
        # cloud-init's network stage on the next boot: what runs on every boot runs again.
        overlay.chroot(["python3", "/usr/lib/oracle/stage.py", "--ours", "init"], deadline=120)
    second_boot = files(overlay)
    log = overlay.merged / "run/.oracle/log"
    events = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    journal = (overlay.merged / "var/log/cloud-init.log").read_text(errors="replace")
    warnings = re.findall(r"\[(?:WARNING|ERROR)\]: (.*)", journal)
    return {
        "files": first_boot,
        "changed_by_the_next_boot": sorted(
            path for path in first_boot | second_boot if first_boot.get(path) != second_boot.get(path)
        ),
        "steps": list(steps(events)),
        "calls": [event["call"] for event in events if "call" in event],
        "includes": [event["include"] for event in events if "include" in event],
        "warnings": warnings + trouble,
    }


def main():
    root, modes = sys.argv[1], sys.argv[2:]
    user_data = sys.stdin.buffer.read()
    result = {mode: applied(root, user_data, mode) for mode in modes}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
