#!/usr/bin/env python3
"""What the real cloud-init does with a user-data, in the shape of `bringup inspect --output json`.

Debian 12's cloud-init runs its four stages over the input in a throw-away root without network. Printed are
  files     what cloud-init itself wrote (write_files and other modules), without its own state and without
            what any machine gets that boots with empty user-data
  steps     the commands in the order in which cloud-init started them, with a stage of
              boothook    a boothook part: its path under /var/lib/cloud/instance/boothooks
              init        an item of bootcmd, as text of the shell script that cloud-init makes of it
              final       an item of runcmd likewise, or the path of a script part (also per-once, per-instance)
              every-boot  the path of a per-boot script
  warnings  what cloud-init complained about
and with --run, which also lets the commands run (systemctl, curl and the like only note their arguments), or
--ours, which lets only Bringup's own first stage run:
  effects   files that the commands left, and calls of the replaced programs

An outer layer of base64 is taken off first, as a cloud's API does; gzip is left to cloud-init. Includes of
http(s) URLs are answered with an empty cloud-config. Needs root, mmdebstrap and unshare. The first call makes the
Debian root under ~/.cache/bringup/roots (or $BRINGUP_CACHE); calls may run in parallel.
"""

import argparse
import base64
import binascii
import hashlib
import json
import pathlib
import sys

import sandbox

# cloud-init writes the time of day into these.
DATED = {"/etc/sudoers", "/etc/sudoers.d/90-cloud-init-users"}
INNER = sandbox.HERE / "inside/cloud_init.py"


def without_base64(data):
    """`data` as the instance sees it: the cloud's API takes user-data in base64 and hands out the bytes.

    Short plain words are base64 too, so what comes out has to look like user-data.
    """
    try:
        plain = base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        return data
    heads = (b"#", b"\x1f\x8b", b"Content-", b"content-", b"MIME-", b"mime-", b"{")
    return plain if plain.startswith(heads) else data


def baseline(root):
    """The files of a boot with empty user-data; made once for each root and version of the oracle."""
    sources = [sandbox.HERE / "sandbox.py", *sorted((sandbox.HERE / "inside").glob("*.py"))]
    version = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    kept = root.with_name(f"{root.name}.baseline-{version}.json")
    with sandbox.Locked(root.with_name(f"{root.name}.baseline.lock")):
        if not kept.exists():
            result = sandbox.enter(INNER, [root, "note"], b"#cloud-config\n{}\n", deadline=300)
            partial = kept.with_suffix(".partial")
            partial.write_text(json.dumps(result["note"]))
            partial.rename(kept)
    return json.loads(kept.read_text())


def differing(found, usual):
    """The files of `found` that are not the same in `usual`."""
    return {
        path: file
        for path, file in found.items()
        if usual.get(path) != file and not (path in DATED and path in usual)
    }


def real_cloud_init(user_data, running=None, deadline=240):
    """What cloud-init does with `user_data` (bytes), as the module says; `running` is None, "run" or "ours"."""
    root = sandbox.debian_root()
    usual = baseline(root)
    modes = ["note", running] if running else ["note"]
    result = sandbox.enter(INNER, [root, *modes], without_base64(user_data), deadline)
    noted = result["note"]
    answer = {
        "files": sandbox.sorted_files(differing(noted["files"], usual["files"])),
        "steps": noted["steps"],
        "includes": noted["includes"],
        "warnings": [text for text in noted["warnings"] if text not in usual["warnings"]],
    }
    if running:
        ran = result[running]
        left = differing(ran["files"], usual["files"] | noted["files"])
        answer["effects"] = {"files": sandbox.sorted_files(left), "calls": ran["calls"]}
        answer["changed_by_the_next_boot"] = ran["changed_by_the_next_boot"]
        answer["warnings"] = [text for text in ran["warnings"] if text not in usual["warnings"]]
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="user-data: plain, MIME, gzip, base64 or a mix")
    let = parser.add_mutually_exclusive_group()
    let.add_argument("--run", dest="running", action="store_const", const="run", help="let the commands run too")
    let.add_argument("--ours", dest="running", action="store_const", const="ours", help="let our first stage run")
    options = parser.parse_args()
    json.dump(real_cloud_init(pathlib.Path(options.input).read_bytes(), options.running), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    try:
        main()
    except sandbox.ToolFailed as reason:
        sys.exit(str(reason))
