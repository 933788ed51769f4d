"""Shell: what we render and what the repository runs is accepted by sh, dash and shellcheck."""

import email
import email.policy
import os
import pathlib
import re
import subprocess

import products
import yaml
from checks import mime

SHELL = re.compile(rb"#! ?/(usr/)?bin/(env )?(ba|da)?sh\b")
# What the first stage places and a shell reads.
PLACED = re.compile(r"^place 0755 (?P<path>/opt/bringup/bin/\S+) <<'(?P<end>\w+)'\n(?P<script>#!/bin/sh\n.*?)^(?P=end)$", re.M | re.S)
# Not ours: built, cached, or written in the manner of others.
SKIPPED = {"target", ".cache", ".git", "bringup-out", "foreign", "node_modules", "corpus", "artifacts"}


def checked(script, shell):
    """`script` (bytes) as its shell and shellcheck see it."""
    for command in ([shell, "-n"], ["shellcheck", "--shell", shell, "-"]):
        done = subprocess.run(command, input=script, capture_output=True, timeout=60)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).decode(errors="replace")
            raise products.Differs(f"{' '.join(command)}: exit {done.returncode}\n{said}")


def rendered(made):
    """(name, bytes) of the shell that we put in front of the agent: boothook parts and bootcmd lists."""
    for name, path in made.files("user-data.mime*"):
        message = email.message_from_bytes(mime.plain(path), policy=email.policy.default)
        for part in message.iter_parts():
            if part.get_content_type() == "text/cloud-boothook" and "bringup" in part.get_filename():
                content = part.get_payload(decode=True).removeprefix(b"#cloud-boothook\n")
                yield f"{name}#{part.get_filename()}", content
    for name, path in made.files("cloud-config.yaml"):
        commands = yaml.safe_load(path.read_bytes()).get("bootcmd", [])
        lines = [item if isinstance(item, str) else " ".join(f"'{word}'" for word in item) for item in commands]
        if lines:
            yield f"{name}#bootcmd", "\n".join(["#!/bin/sh", *lines, ""]).encode()
            for placed in PLACED.finditer("\n".join(lines)):
                yield f"{name}#{placed['path']}", placed["script"].encode()


def of_the_repository():
    for directory, folders, names in os.walk(products.TOP):
        folders[:] = sorted(set(folders) - SKIPPED)
        for path in (pathlib.Path(directory) / name for name in sorted(names)):
            with open(path, "rb") as file:
                head = file.read(64)
            if SHELL.match(head):
                shell = "bash" if b"bash" in head.splitlines()[0] else "dash"
                yield str(path.relative_to(products.TOP)), path.read_bytes(), shell


def cases(made):
    for name, script in rendered(made):
        yield name, lambda script=script: checked(script, "dash")
    for name, script, shell in of_the_repository():
        yield name, lambda script=script, shell=shell: checked(script, shell)
