"""The examples in the formats of the ancestors: each is built, and boots as it is, with what it expects of its surroundings."""

import hashlib
import json
import subprocess

import machine as bench
from machine import TOP

from . import bootstrap, kops, nodeconfig, tectonic

NOTHING = "#!/bin/sh\n"
# In place of kubeadm: tells its version, and leaves what the agent and kubelet need afterwards.
KUBEADM = f"""#!/bin/sh
case $1 in
version) echo v1.34.1 ;;
init | join) echo '{json.dumps(tectonic.KUBECONFIG)}' >/etc/kubernetes/kubelet.conf && systemctl start --no-block kubelet.service ;;
esac
"""


def files(machine, contents):
    """Options that put files into the image."""
    pairs = [(path, machine.give(text, path.strip("/").replace("/", "-"), 0o755)) for path, text in contents.items()]
    return [word for path, file in pairs for word in ("--file", f"{path}={file}")]


def registered(machine, node, api=tectonic.API):
    """The API server knows the node."""
    return ["--serve", f"{api}/api/v1/nodes/{node}={machine.give({'kind': 'Node'}, 'node')}"]


def of_bootstrap(machine):
    """On an image of EKS' kind, where the script is a link to the agent."""
    return ["user-data.sh", "--with", TOP / "examples/bootstrap/additions.yaml"], bootstrap.image(machine)


def of_eksctl(machine):
    """EKS is asked for the cluster, and the image has a driver."""
    described = bootstrap.described(machine, "render-farm")
    return ["cluster.yaml", "--group", "gpu"], ["--serve", described, *files(machine, {"/usr/bin/nvidia-smi": NOTHING})]


def of_kops(machine):
    image = {"/usr/sbin/update-ca-certificates": NOTHING, "/etc/lab/kubeconfig": "apiVersion: v1\nkind: Config\n"}
    return ["cluster.yaml", "--with", machine.give(kops.ADDITIONS, "additions"), "--group", "nodes"], files(machine, image)


def of_nodeadm(machine):
    """On an image of EKS' kind, with the agent in the place of nodeadm."""
    return ["user-data.txt", "--with", TOP / "examples/nodeadm/additions.yaml"], nodeconfig.image(machine)


def of_tectonic(machine):
    """The assets and their list have arrived, and the installer has left the kubeconfig."""
    api = "https://lighthouse-api.example.com:6443"
    assets = {f"/opt/tectonic/{name}.sh": f"echo {name} >>/lab/stages\n" for name in ("bootkube", "tectonic-rkt")}
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {path.rsplit('/', 1)[1]}\n" for path, text in assets.items()]
    kubeconfig = json.dumps(tectonic.KUBECONFIG).replace(tectonic.API, api)
    image = assets | {"/opt/tectonic/SHA256SUMS": "".join(sums), "/etc/kubernetes/kubeconfig": kubeconfig}
    additions = TOP / "examples/tectonic/additions.yaml"
    return ["master.json", "--with", additions, "--group", "masters"], [*files(machine, image), *registered(machine, "vm", api), *tectonic.THROUGH]


def of_tkestack(machine):
    return ["cluster.json"], [*files(machine, {"/usr/bin/kubeadm": KUBEADM}), *registered(machine, "10.77.0.10")]


# What is seen on the machine afterwards: a file, and what is in it.
EXAMPLES = {
    "bootstrap": (of_bootstrap, "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf", "example.com/pool=general"),
    "eksctl": (of_eksctl, "/var/lib/bringup/journal", '"step":"pre-bootstrap-2"'),
    "kops": (of_kops, "/var/log/custom-install", "Hello World."),
    "nodeadm": (of_nodeadm, "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf", '"shutdownGracePeriod": "45s"'),
    "tectonic": (of_tectonic, "/lab/stages", "bootkube\ntectonic-rkt\n"),
    "tkestack": (of_tkestack, "/var/lib/bringup/output/hook:post-install", "post node install"),
}
# On the node, user-data calls the agent; there is no plan before it does.
CALLS = ("bootstrap", "nodeadm")


def boots(name):
    def case(lab):
        machine = lab.machine(f"example {name}")
        prepared, path, content = EXAMPLES[name]
        (file, *words), options = prepared(machine)
        place = TOP / "examples" / name / file
        grouped = words[: words.index("--group")] if "--group" in words else words
        built = subprocess.run([bench.BRINGUP, "build", place, *grouped, "-o", machine.folder / "built"], capture_output=True, text=True, timeout=60)
        assert built.returncode == 0, built.stderr
        words = [] if name in CALLS else words
        machine.boot(place, *words, *options, gated=name not in CALLS, patience=90).came_up()
        assert len(machine.calls()) == 1, machine.calls()
        assert content in machine.text(path), machine.text(path)

    return case


def alone(name, file, *words):
    """What a person has, with nothing given beside it: the lab makes up what it expects of the world."""

    def case(lab):
        machine = lab.machine(f"example {name}, alone")
        place = TOP / "examples" / name
        trial = machine.boot(place / file, "--with", place / "additions.yaml", *words, patience=90).came_up()
        assert len(machine.calls()) == 1, machine.calls()
        for made_up in ALONE.get(name, ()):
            assert any(made_up in stand_in for stand_in in trial.outcome["stand_ins"]), trial.outcome["stand_ins"]

    return case


# What stands in for the rest of the world.
ALONE = {
    "eksctl": ("EKS' description of the cluster", "snapd"),
    "kops": ("ecr-credential-provider", "runc", "what nodes join with"),
}


def cases():
    yield "examples/eksctl: Ubuntu's snap, with nothing given", alone("eksctl", "cluster.yaml", "--group", "batch")
    yield "examples/kops, with nothing given: the additions' own assertions hold", alone("kops", "cluster.yaml", "--group", "gpu")
    yield "examples/bootstrap, built anew, with nothing given", alone("bootstrap", "user-data.sh")
    yield "examples/nodeadm, built anew, with nothing given", alone("nodeadm", "user-data.txt")
    for name in EXAMPLES:
        yield f"examples/{name} comes up", boots(name)
