"""Settings that are laid over a file of the image: the agent's result is jq's, `.[0] * .[1]`."""

import json
import subprocess
import tempfile
from pathlib import Path

import products

AGENT = products.TOP / "target/debug/bringup-node"
PATH = "/etc/kubernetes/kubelet/kubelet-config.json"

# As Amazon's images for EKS with bootstrap.sh have it, in short.
IMAGE = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "address": "0.0.0.0",
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"cacheTTL": "2m0s", "enabled": True}},
    "clusterDomain": "cluster.local",
    "featureGates": {"RotateKubeletServerCertificate": True},
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
    "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
}

# Layers over the image's file, in their order.
CASES = {
    "nothing": [{}],
    "a field": [{"maxPods": 17}],
    "deep": [{"authentication": {"webhook": {"cacheTTL": "1m0s"}}}],
    "three levels, two layers": [
        {"authentication": {"x509": {"clientCAFile": "/ca"}}},
        {"authentication": {"anonymous": {"enabled": True}}, "featureGates": {"A": False}},
    ],
    "a list is another": [{"tlsCipherSuites": []}],
    "a list of objects": [{"registerWithTaints": [{"key": "a"}]}, {"registerWithTaints": [{"effect": "b"}]}],
    "null": [{"evictionHard": None, "address": None, "new": None}],
    "null in a new object": [{"fresh": {"a": None, "b": {"c": None}}}],
    "an object over null": [{"evictionHard": None}, {"evictionHard": {"memory.available": "1Gi"}}],
    "an object over a word": [{"address": {"a": 1}}],
    "a word over an object": [{"featureGates": "none"}, {"featureGates": {"B": True}}],
    "an empty object over an object": [{"featureGates": {}}],
    "false and zero": [{"featureGates": {"RotateKubeletServerCertificate": False}, "readOnlyPort": 0, "": ""}],
    "letters": [{"ü\"\\/\n": {"😀": "\u0001\u2028"}}],
    "numbers": [{"a": 1.5, "b": -0.25, "c": 9007199254740991, "d": 1e3}],
}


def plan_with(plan, otherwise, over):
    """The example's plan with one step that merges, and nothing else to do."""
    content = {"merged": {"otherwise": json.dumps(otherwise), "over": [json.dumps(layer) for layer in over]}}
    write = {"do": "writeFile", "path": PATH, "mode": "0644", "owner": "root:root", "content": content}
    steps = [
        {"name": "identify", "phase": "identify", "everyBoot": True, "action": {"do": "learnFacts"}},
        {"name": "merge", "phase": "configure", "action": write},
    ]
    return plan | {"units": [], "hooks": [], "facts": [], "steps": steps}


def by_agent(root, plan):
    """What the agent writes."""
    facts = root / "facts.json"
    facts.write_text(json.dumps({"platform": plan["platform"], "instanceId": "i-0123456789abcdef0"}))
    place = root / "etc/bringup/plan.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(plan))
    # Beneath a directory nothing but files is touched; without a network it could not be otherwise.
    command = ["unshare", "-n", AGENT, "up", "--root", root, "--facts", facts, "--until", "configure"]
    done = subprocess.run(command, capture_output=True, timeout=60, text=True)
    if done.returncode != 0:
        raise products.Differs(f"bringup-node: exit {done.returncode}\n{done.stderr}")
    return json.loads((root / PATH.lstrip("/")).read_text())


def by_jq(layers):
    """What jq makes of it."""
    program = "reduce .[1:][] as $over (.[0]; . * $over)"
    given = "\n".join(json.dumps(layer) for layer in layers)
    done = subprocess.run(["jq", "-s", program], input=given, capture_output=True, timeout=60, text=True, check=True)
    return json.loads(done.stdout)


def same(plan, over):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "etc/kubernetes/kubelet").mkdir(parents=True)
        (root / PATH.lstrip("/")).write_text(json.dumps(IMAGE))
        wanted = by_jq([IMAGE, *over])
        products.same(by_agent(root, plan_with(plan, {}, over)), wanted, "merged configurations")
        # Other settings are laid over what the image had, and not over the first result.
        other = [{"second": {"run": True}}]
        products.same(by_agent(root, plan_with(plan, {}, other)), by_jq([IMAGE, *other]), "second configurations")


def cases(made):
    plans = [plan for name, plan in made.plans() if name.startswith("gpu-eks/")]
    for name, over in CASES.items():
        yield f"jq {name}", lambda over=over: same(plans[0], over)
