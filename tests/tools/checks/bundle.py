"""The bundle: Python and GNU tar read the same members, plain and without a time, and unpack the tree that `inspect` lists."""

import hashlib
import pathlib
import subprocess
import tarfile
import tempfile

import products

UNITS = "/etc/systemd/system/"


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


def tree(path):
    """The files and units of a machine or an image at whose root GNU tar unpacks the bundle."""
    with tarfile.open(path) as tar:
        # By name, as the machine would look them up; this one may not know them.
        owners = {member.name.removeprefix("./"): f"{member.uname or member.uid}:{member.gname or member.gid}" for member in tar.getmembers()}
    with tempfile.TemporaryDirectory(prefix="bringup-bundle-") as folder:
        root = pathlib.Path(folder)
        command = ["tar", "--extract", "--preserve-permissions", "--no-same-owner", "--file", path, "--directory", root]
        done = subprocess.run(command, capture_output=True, timeout=30, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        files, started = [], set()
        for found in sorted(root.rglob("*")):
            name = str(found.relative_to(root))
            if found.is_symlink():
                if found.parent.suffix in (".wants", ".requires"):
                    started.add(found.name)
            elif found.is_file():
                content = found.read_bytes()
                files.append({
                    "path": f"/{name}",
                    "mode": f"{found.stat().st_mode & 0o7777:04o}",
                    "owner": owners[name],
                    "size": len(content),
                    "sha256": hashlib.sha256(content).hexdigest(),
                })
    files.sort(key=lambda file: file["path"])
    units = [file["path"].removeprefix(UNITS) for file in files if file["path"].startswith(UNITS)]
    return files, [{"name": name, "enabled": name in started} for name in units if "/" not in name]


def agrees(path):
    ours = products.inspect(path)
    files, units = tree(path)
    products.same([{key: file[key] for key in files[0]} for file in ours["files"]], files, "files")
    products.same(ours["units"], units, "units")
    products.same(ours["steps"], [], "steps")


def foreign(folder):
    """A tar of somebody else's making: GNU tar's own members, directories, owners by name and number, all kinds of links."""
    units = folder / "tree" / UNITS.strip("/")
    for name, mode, content in (
        ("prepare.service", 0o644, "[Service]\nType=oneshot\nExecStart=/bin/true\n"),
        ("later.service", 0o600, "[Service]\nExecStart=/bin/true\n"),
        ("wanted.timer", 0o644, "[Timer]\nOnBootSec=1min\n"),
        ("kubelet.service.d/10-more.conf", 0o640, "[Service]\nLimitNOFILE=65536\n"),
        ("../../node/grün", 0o4755, "#!/bin/sh\necho grün\n"),
    ):
        file = units / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(mode)
    for link, target in (
        ("kubelet.service.requires/prepare.service", "../prepare.service"),
        ("timers.target.wants/wanted.timer", f"{UNITS}wanted.timer"),
        ("apt-daily.timer", "/dev/null"),
    ):
        (units / link).parent.mkdir(exist_ok=True)
        (units / link).symlink_to(target)
    made = folder / "foreign.tar"
    for owner, mode, paths in (("systemd-resolve:998", "--create", ["./etc/systemd"]), ("+1000", "--append", ["./etc/node"])):
        command = ["tar", mode, "--file", made, f"--owner={owner}", "--group=adm:4", "--directory", folder / "tree", *paths]
        done = subprocess.run(command, capture_output=True, timeout=30, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
    return made


def foreign_agrees():
    with tempfile.TemporaryDirectory(prefix="bringup-bundle-") as folder:
        agrees(foreign(pathlib.Path(folder)))


def cases(made):
    yield "tree of a foreign tar", foreign_agrees
    for name, path in made.files("bundle.tar"):
        yield f"members {name}", lambda path=path: read(path)
        yield f"tree {name}", lambda path=path: agrees(path)
