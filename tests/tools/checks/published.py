"""What `publish` lays out, served over HTTP, and the rendered stub that fetches it with the programs a machine may have."""

import base64
import hashlib
import json
import threading

import products
import sandbox

INNER = sandbox.HERE / "inside/published.py"
DOCUMENT = sandbox.HERE / "documents/published.yaml"
FIRST, SECOND = "http://127.0.0.1:8081/bringup", "http://127.0.0.1:8082/bringup"
# Not the agent, but a stand-in for it: it notes that it was started, how, and with which plan.
STAND_IN = b"""\
#!/bin/sh
echo "$@" >/run/stand-in
sha256sum </etc/bringup/plan.json | cut -c 1-64 >>/run/stand-in
"""
SHELLS = ["dash with curl", "dash with wget", "busybox"]
FAULTS = ["refused", "missing", "tampered", "truncated"]
MAKING = threading.Lock()


def site(made):
    """User-data and the files that were published for it, made once."""
    with MAKING:
        if not hasattr(made, "published_site"):
            made.published_site = build(made.scratch / "published")
        return made.published_site


def build(folder):
    folder.mkdir(exist_ok=True)
    agent = folder / "bringup-node-x86_64"
    agent.write_bytes(STAND_IN)
    digest = hashlib.sha256(STAND_IN).hexdigest()
    # Digests hardly compress: forty kilobytes of them are more than EC2 takes.
    keys = "".join(f"{hashlib.sha256(str(number).encode()).hexdigest()}\n" for number in range(640))
    (folder / "keys.txt").write_text(keys)
    document = folder / "cluster.yaml"
    text = DOCUMENT.read_text().replace("FIRST", FIRST).replace("SECOND", SECOND).replace("DIGEST", digest)
    document.write_text(text)
    products.bringup("build", document, "-o", folder / "out")
    target = folder / "site"
    answer = products.bringup("publish", folder / "out", "-o", target, "--agent", agent, "--output", "json")
    files = {}
    for file in json.loads(answer)["files"]:
        content = (target / file["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"], f"the digest of {file['path']}"
        files[file["path"]] = content
    [user_data] = (folder / "out/published/workers").glob("user-data.mime*")
    carried = {file["path"] for file in products.inspect(user_data)["files"]}
    assert "/etc/bringup/plan.json" not in carried, "the plan was to be too large for the user-data"
    return user_data.read_bytes(), files


def fetched(made, shell, fault):
    user_data, files = site(made)
    paths = sorted(files)
    assert [path.split("/")[0] for path in paths] == ["agent", "plan"], paths
    given = {
        "user_data": base64.b64encode(user_data).decode(),
        "files": {path: base64.b64encode(content).decode() for path, content in files.items()},
        "shell": shell,
        "fault": fault,
    }
    did = sandbox.enter(INNER, [sandbox.debian_root()], json.dumps(given).encode(), deadline=240)
    assert did["status"] == 0, did
    asked = [f"{mirror} /bringup/{path}" for path in paths for mirror in ("first", "second")]
    products.same([line for line in did["asked"] if fault != "refused" or line.startswith("second")],
                  [line for line in asked if fault != "refused" or line.startswith("second")], "requests")
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    expected = {
        "/opt/bringup/bin/bringup-node": ("0755", digests[paths[0]]),
        "/etc/bringup/plan.json": ("0600", digests[paths[1]]),
    }
    found = {path: (file["mode"], file["sha256"]) for path, file in did["files"].items()}
    products.same(found, expected, "files")
    assert did["files"]["/etc/bringup/plan.json"]["owner"] == "root:root", did["files"]
    products.same(did["stand_in"].split(), ["up", "--until", "gate", digests[paths[1]]], "what the stand-in noted")
    products.same(did["asked_again"], [], "requests of the second run")


def cases(made):
    for shell in SHELLS:
        for fault in FAULTS:
            yield f"{shell}, the first mirror {fault}", lambda shell=shell, fault=fault: fetched(made, shell, fault)
