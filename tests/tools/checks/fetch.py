"""The fetch stub: mirrors in turn, a wrong digest refused, a whole file or none, and nothing fetched twice."""

import base64
import hashlib
import json

import products
import sandbox

INNER = sandbox.HERE / "inside/fetch.py"
DOCUMENT = sandbox.HERE / "documents/fetch.yaml"
AGENT = "/opt/bringup/bin/bringup-node"
CONTENT = "the agent's bytes\n"
FIRST, SECOND = "https://one.example/bringup-node", "https://two.example/bringup-node"


def fetched(made, mirrors, expected):
    document = made.scratch / "fetch.yaml"
    digest = hashlib.sha256(CONTENT.encode()).hexdigest()
    document.write_text(DOCUMENT.read_text().replace("DIGEST", digest))
    user_data = products.bringup("render", document, "--as", "cloud-init", "--group", "workers")
    given = {"user_data": base64.b64encode(user_data).decode(), "mirrors": mirrors, "path": AGENT}
    first, second = sandbox.enter(INNER, [sandbox.debian_root()], json.dumps(given).encode(), deadline=240)
    assert first["status"] == 0, first
    products.same(first["calls"], expected, "calls")
    assert first["file"]["sha256"] == digest and first["file"]["mode"] == "0755", first["file"]
    assert not second["calls"] and second["file"] == first["file"], f"the second run: {second}"


def cases(made):
    curl = lambda url: ["curl", url]  # noqa: E731
    yield "the first mirror answers", lambda: fetched(made, {FIRST: [CONTENT]}, [curl(FIRST)])
    yield (
        "a wrong file is refused and the next mirror asked",
        lambda: fetched(made, {FIRST: ["tampered"], SECOND: [CONTENT]}, [curl(FIRST), curl(SECOND)]),
    )
    yield (
        "when all are down it waits and asks again",
        lambda: fetched(
            made,
            {FIRST: [None, None, CONTENT], SECOND: [None]},
            [curl(FIRST), curl(SECOND), ["sleep", "10"], curl(FIRST), curl(SECOND), ["sleep", "10"], curl(FIRST)],
        ),
    )
