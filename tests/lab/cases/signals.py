"""Whom the agent tells how it ended."""

import base64
import json
import urllib.parse

from machine import document

HOOK = "https://hooks.lab.example/nodes"
STACKS = "https://cloudformation.eu-central-1.amazonaws.com/"
# Credentials that a program gives are not asked for: whether the node has registered stays unknown, and the plan goes on.
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "lab", "cluster": {"server": "https://api.lab.example"}}],
    "users": [{"name": "node", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/opt/lab/token"}}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "node"}}],
    "current-context": "lab",
}


def told(lab, name, behaviour):
    """A machine that tells a file, a server with a token, and a stack; and what it told."""
    machine = lab.machine(name)
    signals = [
        {"kind": "file", "path": "/lab/signal"},
        {"kind": "http", "url": HOOK, "token": {"file": "/etc/lab/token"}},
        {"kind": "cloudformation", "stack": "lab-stack", "resource": "Workers"},
    ]
    made = document(signals=signals)
    made["spec"]["join"] = {"method": "kubeconfig", "kubeconfig": {"file": "/etc/lab/kubeconfig"}}
    made["spec"]["nodeGroups"][0]["steps"][0] |= {"onFailure": "give-up", "attempts": 1}
    served = [machine.give("{}", name) for name in ("answer", "taken")]
    trial = machine.boot(
        made,
        "--file", f"/etc/lab/kubeconfig={machine.give(KUBECONFIG, 'kubeconfig')}",
        "--serve", f"{HOOK}={served[0]}", "--serve", f"{STACKS}={served[1]}",
        behaviour=behaviour,
    )  # fmt: skip
    return machine, trial


def check(machine, outcome):
    """The same word to each, each in its own way."""
    assert json.loads(machine.text("/lab/signal"))["outcome"] == outcome
    (posted,) = [request for request in machine.heard() if request["url"] == HOOK]
    assert posted["method"] == "POST" and posted["authorization"] == "Bearer abcdef.0123456789abcdef", posted
    body = json.loads(posted["body"])
    assert body["outcome"] == outcome and body["cluster"] == "lab" and body["group"] == "workers", body
    assert body["instance"] == "i-0123456789abcdef0", body
    (stack,) = [request for request in machine.heard() if request["url"].startswith(STACKS)]
    fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(stack["url"]).query))
    assert fields == {
        "Action": "SignalResource",
        "Version": "2010-05-15",
        "ContentType": "JSON",
        "StackName": "lab-stack",
        "LogicalResourceId": "Workers",
        "UniqueId": "i-0123456789abcdef0",
        "Status": outcome.upper(),
    }, fields
    # As cfn-signal does it: the instance's identity document and the signature that comes with it.
    way, word = stack["authorization"].split(" ", 1)
    identity, signature = word.split(":")
    assert way == "CFN_V1" and signature == "bGFibGFi", stack
    assert json.loads(base64.b64decode(identity))["instanceId"] == "i-0123456789abcdef0"
    return body


def success(lab):
    machine, trial = told(lab, "signals success", ":")
    trial.came_up()
    check(machine, "success")


def failure(lab):
    machine, trial = told(lab, "signals failure", "echo nothing goes; exit 3")
    trial.did_not()
    assert trial.code == 1, trial.code
    body = check(machine, "failure")
    # What a program wrote may hold secrets.
    assert "prepare" in json.dumps(body) and "nothing goes" not in json.dumps(body), body


def cases():
    yield "success, to a file, a server and a stack", success
    yield "failure, to a file, a server and a stack", failure
