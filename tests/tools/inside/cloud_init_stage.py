"""Runs one stage of the installed cloud-init with its last act, starting a user's command, observed.

Everything up to that act is cloud-init's own code. With `--note` the commands are only noted, so that what is on the
disk afterwards was written by cloud-init and by nobody else; `--run` lets them run; `--ours` lets only those run that
hold the line by which Bringup's first stage is known.
"""

import json
import os
import re
import sys

from cloudinit import subp, url_helper, util

SCRIPT = re.compile(r"/var/lib/cloud/(instance|instances/[^/]+|scripts)/")
LOG = "/run/.oracle/log"
# The first stage, and the script that a template of ours adds in front of it.
OURS = ("# bringup: first stage", "/etc/bringup/stack.json.new\n")
mode = sys.argv[1]
start = subp.subp
shellify = util.shellify


def note(**event):
    with open(LOG, "a") as log:
        log.write(json.dumps(event) + "\n")


def text(path):
    with open(path, "rb") as file:
        return file.read().decode(errors="surrogateescape")


def observed(args, *rest, **options):
    program = args[-1] if isinstance(args, list) and args else ""
    ours = isinstance(program, str) and os.path.isfile(program)
    if not ours or not (SCRIPT.match(program) or args[0] == "/bin/sh"):
        return start(args, *rest, **options)
    content = text(program)
    note(run=args, content=content)
    if mode == "--run" or mode == "--ours" and any(mark in content for mark in OURS):
        return start(args, *rest, **options)
    if args[0] != "/bin/sh" and not content.startswith(("#!", "\x7fELF")):
        raise subp.ProcessExecutionError(cmd=args, reason="exec format error")
    return subp.SubpResult("", "")


def itemised(commands, add_header=True):
    script = shellify(commands, add_header)
    note(script=script, items=[shellify([item], add_header=False) for item in commands])
    return script


def fetched(url, **options):
    """There is no network: what an include would bring is an empty cloud-config."""
    if url.startswith(("http://", "https://")):
        note(include=url)
        return url_helper.FileResponse(url, b"#cloud-config\n{}\n")
    return read(url, **options)


read = url_helper.read_file_or_url
subp.subp = observed
util.shellify = itemised
url_helper.read_file_or_url = fetched

from cloudinit.cmd.main import main  # noqa: E402: must see the replaced functions

sys.exit(main(["cloud-init", *sys.argv[2:]]))
