#!/usr/bin/env python3
"""What the real Ignition does with a config, in the shape of `bringup inspect --output json`.

Debian's ignition runs the stages fetch-offline, fetch and files over the input in a throw-away root without
network; what a config would fetch is answered with nothing (`remote` has those paths, and the digests that they must have). Printed are
  files     every file, unit and drop-in that it wrote; a link has `target` in place of mode, size and sha256
  units     what its preset file says: enabled or not
  warnings  what it complained about; a stage that failed ends the run
Needs root, mmdebstrap, unshare and the package ignition. The first call makes the Debian root under
~/.cache/bringup/roots (or $BRINGUP_CACHE); calls may run in parallel.
"""

import argparse
import json
import pathlib
import sys

import sandbox

INNER = sandbox.HERE / "inside/ignition.py"


def without_network(config):
    """The config with an empty file for each that lies behind the network, and the paths of those with the
    digests that the config demands."""
    try:
        tree = json.loads(config)
        files = tree["storage"]["files"]
    except (ValueError, KeyError, TypeError):
        return config, {}
    remote = {}
    for file in files:
        source = (file.get("contents") or {}).get("source") or ""
        if source and not source.startswith("data:"):
            demanded = file["contents"].get("verification", {}).get("hash") or ""
            remote[file["path"]] = demanded.removeprefix("sha256-") if demanded.startswith("sha256-") else None
            file["contents"] = {"source": "data:,"}
    return (json.dumps(tree).encode() if remote else config), remote


def real_ignition(config, deadline=240):
    """What Ignition does with `config` (bytes), as the module says."""
    local, remote = without_network(config)
    return sandbox.enter(INNER, [sandbox.debian_root()], local, deadline) | {"remote": remote}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", help="an Ignition config of spec 3.0 to 3.3")
    options = parser.parse_args()
    json.dump(real_ignition(pathlib.Path(options.config).read_bytes()), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    try:
        main()
    except sandbox.ToolFailed as reason:
        sys.exit(str(reason))
