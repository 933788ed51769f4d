"""The bundle: Python and GNU tar read the same members, which are plain, owned by root and without a time."""

import subprocess
import tarfile

import products


def read(path):
    with tarfile.open(path) as tar:
        members = tar.getmembers()
        python = {member.name: tar.extractfile(member).read() for member in members if member.isfile()}
    assert members, "no members"
    for member in members:
        assert member.isfile() or member.isdir() or member.issym(), f"{member.name}: neither file, directory nor link"
        assert not member.name.startswith("/") and ".." not in member.name.split("/"), f"{member.name}: escapes"
        assert member.mtime == 0, f"{member.name}: has a time, so two builds differ"
    names = [member.name for member in members]
    assert len(set(names)) == len(names), "a member twice"
    listed = subprocess.run(["tar", "--list", "--file", path], capture_output=True, timeout=30, text=True)
    assert listed.returncode == 0 and not listed.stderr, listed.stderr
    products.same([name.rstrip("/") for name in names], [name.rstrip("/") for name in listed.stdout.splitlines()], "members")
    for name, content in python.items():
        extracted = subprocess.run(["tar", "-xOf", path, name], capture_output=True, timeout=30)
        assert extracted.stdout == content, f"{name}: GNU tar reads other bytes"


def cases(made):
    for name, path in made.files("bundle.tar"):
        yield name, lambda path=path: read(path)
