"""A throw-away Debian 12 in private namespaces, for real tools to write into.

The root is made once by mmdebstrap and kept under the cache; each run lays an overlay over it whose upper
layer is a tmpfs inside a private mount namespace, so what the tool wrote is exactly that layer, and nothing
outlives the process, however it dies. There is no network but an empty loopback.
"""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "bookworm"
PACKAGES = ["systemd", "systemd-sysv", "dbus", "cloud-init", "iproute2", "kmod", "udev", "ca-certificates"]
# What the fetch stub may find on a machine.
PACKAGES += ["busybox", "curl", "wget"]
# Manuals and translations are most of the bytes and none of the behaviour.
LEFT_OUT = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*"]
# A mount point that every Debian has; the tmpfs on it is seen only inside the namespace.
SCRATCH = pathlib.Path("/mnt")

# The account databases and what useradd copies: made by both tools for users, not for files.
ACCOUNTS = r"/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|/etc/\.pwd\.lock$|/home/"


class ToolFailed(Exception):
    """A program of the harness itself failed: its command, status and last lines of output."""


def cache_directory():
    base = os.environ.get("BRINGUP_CACHE")
    return pathlib.Path(base) if base else pathlib.Path.home() / ".cache" / "bringup"


def run(command, deadline, **options):
    """Runs `command`, returns its standard output; raises ToolFailed with the tail of what it said."""
    done = subprocess.run(command, capture_output=True, timeout=deadline, **options)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace").splitlines()[-20:]
        raise ToolFailed("\n".join([f"{' '.join(map(str, command))}: exit {done.returncode}", *said]))
    return done.stdout


class Locked:
    """Holds an exclusive lock on a file, so that parallel users make a cached thing once."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.path, "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def debian_root():
    """The path of the cached Debian root, made now if it is not there yet."""
    recipe = json.dumps([SUITE, PACKAGES, LEFT_OUT])
    name = f"{SUITE}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    root = cache_directory() / "roots" / name
    with Locked(root.parent / f"{name}.lock"):
        if not root.is_dir():
            partial = root.with_name(f"{name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
            run(
                ["mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", *excluded, SUITE, partial],
                deadline=900,
            )
            partial.rename(root)
    return root


def enter(inner, arguments, given, deadline):
    """Runs the Python program `inner` as root of new mount, pid, network, uts and ipc namespaces.

    `given` is its standard input (bytes); its standard output is JSON and is returned decoded.
    """
    command = ["unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--"]
    command += [sys.executable, str(inner), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        out, err = process.communicate(given, timeout=deadline)
    except BaseException as reason:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(reason, subprocess.TimeoutExpired):
            raise ToolFailed(f"{' '.join(command)}: not finished after {deadline} s") from None
        raise
    if process.returncode != 0:
        tail = err.decode(errors="replace").splitlines()[-20:]
        raise ToolFailed("\n".join([f"{' '.join(command)}: exit {process.returncode}", *tail]))
    return json.loads(out)


# What follows runs inside the namespaces.


class Overlay:
    """A writable view of the Debian root; `layer` is laid between the two and does not count as written."""

    scratch_is_mounted = False

    def __init__(self, root, name):
        # Not asked of the kernel: the machine may have a disk of its own mounted there.
        if not Overlay.scratch_is_mounted:
            run(["mount", "-t", "tmpfs", "scratch", SCRATCH], 10)
            Overlay.scratch_is_mounted = True
        self.base = SCRATCH / name
        self.layer, self.upper, self.work, self.merged = (
            self.base / part for part in ("layer", "upper", "work", "merged")
        )
        for part in (self.layer, self.upper, self.work, self.merged):
            part.mkdir(parents=True)
        self.root = root

    def mount(self):
        options = f"lowerdir={self.layer}:{self.root},upperdir={self.upper},workdir={self.work}"
        run(["mount", "-t", "overlay", "root", "-o", options, self.merged], 10)
        run(["mount", "-t", "proc", "proc", self.merged / "proc"], 10)
        # Sysctls are not all namespaced: a command under test must not reach the machine's own.
        run(["mount", "--bind", self.merged / "proc/sys", self.merged / "proc/sys"], 10)
        run(["mount", "-o", "remount,bind,ro", self.merged / "proc/sys"], 10)
        run(["mount", "-t", "sysfs", "-o", "ro", "sysfs", self.merged / "sys"], 10)
        run(["mount", "-t", "tmpfs", "dev", self.merged / "dev"], 10)
        for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
            os.mknod(self.merged / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            os.chmod(self.merged / "dev" / name, 0o666)
        os.symlink("/proc/self/fd", self.merged / "dev/fd")
        run(["ip", "link", "set", "lo", "up"], 10)

    def chroot(self, command, deadline, **options):
        """Runs `command` in the root; its status is the caller's to judge."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        return subprocess.run(
            ["chroot", str(self.merged), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=deadline,
            **options,
        )

    def written(self):
        """Every regular file and link of the upper layer, by path, as `inspect` describes a file."""
        users = names(self.merged / "etc/passwd")
        groups = names(self.merged / "etc/group")
        found = {}
        for directory, _, leaves in os.walk(self.upper):
            for leaf in leaves:
                here = pathlib.Path(directory) / leaf
                path = "/" + str(here.relative_to(self.upper))
                status = here.lstat()
                owner = f"{users.get(status.st_uid, status.st_uid)}:{groups.get(status.st_gid, status.st_gid)}"
                if stat.S_ISLNK(status.st_mode):
                    found[path] = {"path": path, "target": os.readlink(here), "owner": owner}
                elif stat.S_ISREG(status.st_mode):
                    content = here.read_bytes()
                    found[path] = {
                        "path": path,
                        "mode": f"{stat.S_IMODE(status.st_mode):04o}",
                        "owner": owner,
                        "size": len(content),
                        "sha256": hashlib.sha256(content).hexdigest(),
                    }
        return found


def names(database):
    """Numbers to names from a passwd or group file."""
    table = {}
    for line in database.read_text().splitlines():
        fields = line.split(":")
        if len(fields) > 2:
            table.setdefault(int(fields[2]), fields[0])
    return table


def sorted_files(found):
    return [found[path] for path in sorted(found)]
