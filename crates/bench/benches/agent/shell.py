"""Programs and files, for what runs in the container."""

import pathlib
import subprocess


def run(*command, check=True):
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.returncode == 0 or not check, (command, ran.returncode, ran.stdout)
    return ran.stdout


def write(path, content, mode=0o644):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
