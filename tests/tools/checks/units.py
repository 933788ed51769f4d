"""systemd: `systemd-analyze verify` has nothing to say about the units of any plan."""

import json

import products
import sandbox

INNER = sandbox.HERE / "inside/units.py"
PLACE = "/etc/systemd/system"
# Units that an image brings and ours refer to.
OF_THE_IMAGE = {
    name: "[Service]\nExecStart=/bin/true\n"
    for name in ("kubelet.service", "containerd.service", "docker.service")
}


def verified(plan):
    files = {f"{PLACE}/{name}": text for name, text in OF_THE_IMAGE.items()}
    judged = []
    for unit in plan["units"]:
        if unit.get("mask"):
            continue
        if unit.get("content") is not None:
            files[f"{PLACE}/{unit['name']}"] = unit["content"]
        for name, text in unit.get("dropIns", {}).items():
            files[f"{PLACE}/{unit['name']}.d/{name}"] = text
        if f"{PLACE}/{unit['name']}" in files:
            judged.append(unit["name"])
    given = json.dumps({"files": files, "units": judged}).encode()
    answer = sandbox.enter(INNER, [sandbox.debian_root()], given, deadline=120)
    if answer["status"] != 0 or answer["said"].strip():
        raise products.Differs(f"systemd-analyze verify: exit {answer['status']}\n{answer['said'].strip()}")


def cases(made):
    for name, plan in made.plans():
        yield name, lambda plan=plan: verified(plan)
