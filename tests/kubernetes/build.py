"""Kubernetes' own programs, built from the Go module proxy and kept under .cache/kubernetes/VERSION."""

import os
import pathlib
import re
import shutil
import subprocess

PROGRAMS = ["kubelet", "kube-apiserver", "kube-controller-manager", "kubectl"]
# Two hours: the first build of both minors on a small machine.
PATIENCE = 7200


def go(arguments, **more):
    """Runs go and gives what it printed."""
    environment = dict(os.environ, CGO_ENABLED="0", GOWORK="off")
    done = subprocess.run(
        ["go", *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE, **more
    )
    return done.stdout


def module(version):
    """The text of a go.mod that builds a release: its own staging folders are modules of their own in the proxy."""
    source = pathlib.Path(go(["mod", "download", "-json", f"k8s.io/kubernetes@v{version}"]).split('"GoMod": "')[1].split('"')[0])
    text = source.read_text()
    language = re.search(r"^go (\S+)$", text, re.MULTILINE)[1]
    staged = re.findall(r"^\s*(k8s\.io/\S+) => \./staging/", text, re.MULTILINE)
    lines = ["module bringup.dev/kubernetes", f"go {language}"]
    lines += re.findall(r"^godebug .*$", text, re.MULTILINE)
    lines += [f"require k8s.io/kubernetes v{version}"]
    lines += [f"replace {name} => {name} v0.{version.split('.', 1)[1]}" for name in staged]
    return "\n".join(lines) + "\n"


def programs(cache, version):
    """The folder that holds the programs of this release."""
    folder = cache / "kubernetes" / version
    if all((folder / name).is_file() for name in PROGRAMS):
        return folder
    work = folder.with_name(version + ".partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "go.mod").write_text(module(version))
    major, minor, _ = version.split(".")
    stamp = "k8s.io/component-base/version"
    settings = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    flags = " ".join(["-s", "-w", *(f"-X {stamp}.{name}={value}" for name, value in settings.items())])
    paths = [f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS]
    go(["build", "-mod=mod", "-trimpath", "-ldflags", flags, "-o", f"{work}/", *paths], cwd=work)
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)
    return folder
