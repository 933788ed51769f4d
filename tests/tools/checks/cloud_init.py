"""cloud-init: its schema accepts ours, and it does with any input what `inspect` says it would."""

import email
import email.policy
import functools
import re

import products
import sandbox
from checks import mime
from real_cloud_init import real_cloud_init, without_base64

# The content of these files is known only on the node: `inspect` can name them.
TEMPLATED = {"jinja-facts.yaml"}
# What other modules than write_files leave; `inspect` lists those modules by what they are told to do.
OF_OTHER_MODULES = {"/etc/timezone", "/etc/hostname", "/etc/hosts", "/etc/environment"}
EXPRESSION = re.compile(r"\{\{.*?\}\}")
FIELDS = ("path", "mode", "owner", "size", "sha256")


# Many carriers hold the same user-data in another wrapping.
real = functools.cache(real_cloud_init)


def agrees(ours, data, templated=False, running=None):
    """Raises unless `ours`, an answer of `inspect`, is what cloud-init does with `data`."""
    theirs = real(without_base64(data), running)
    files = theirs["files"]
    if running:
        files = sorted(files + theirs["effects"]["files"], key=lambda file: file["path"])
        first_stage(theirs)
    fields = FIELDS[:3] if templated else FIELDS
    # What is appended to, or holds what only the node knows, has no size or digest before boot.
    open_files = {file["path"] for file in ours["files"] if file["size"] is None}
    found = [file | {"size": None, "sha256": None} if file["path"] in open_files else file for file in regular(files)]
    products.same(*[[{key: file[key] for key in fields} for file in side] for side in (ours["files"], found)], "files")
    products.same(settled(ours["steps"], theirs["steps"]), theirs["steps"], "steps")


def settled(ours, theirs):
    """Our steps, each expression that only the node can evaluate replaced if the rest fits what cloud-init ran."""
    steps = [{"stage": step["stage"], "run": step["run"]} for step in ours]
    for step, real_step in zip(steps, theirs):
        pattern = ".*".join(re.escape(text) for text in EXPRESSION.split(step["run"]))
        if EXPRESSION.search(step["run"]) and re.fullmatch(pattern, real_step["run"], re.DOTALL):
            step["run"] = real_step["run"]
    return steps


def regular(files):
    """Without links, which have no digest, and without the work of other modules."""
    return [file for file in files if "sha256" in file and file["path"] not in OF_OTHER_MODULES]


def first_stage(answer):
    """Our first stage worked, holds nothing up, and changes nothing when the machine boots again."""
    failed = [text for text in answer["warnings"] if "oothook" in text or "bootcmd" in text]
    assert not failed, f"the first stage failed: {failed}"
    assert not answer["changed_by_the_next_boot"], f"the next boot changes {answer['changed_by_the_next_boot']}"
    calls = [call[1:] for call in answer["effects"]["calls"] if call[0] == "systemctl"]
    assert ["daemon-reload"] in calls, f"systemd is not told of the units: {calls}"
    waiting = [call for call in calls if call[0] in ("start", "stop", "restart") and "--no-block" not in call]
    assert not waiting, f"cloud-init would wait for {waiting}"


def compared(path, running):
    agrees(products.inspect(path), path.read_bytes(), path.name in TEMPLATED, running)


def for_node_agent(path):
    """cloud-init leaves the NodeConfig to the image's own agent, and does what `inspect` says with the parts beside it."""
    message = email.message_from_bytes(mime.plain(path), policy=email.policy.default)
    # What is placed beside it is placed by a boothook of ours.
    placed = any(part.get_filename().endswith("-bringup-boothook") for part in message.iter_parts())
    compared(path, "ours" if placed else None)
    layers = products.inspect(path)["layers"]
    configs = [part for part in message.iter_parts() if part.get_content_type() == "application/node.eks.aws"]
    assert len(configs) == 1, f"{len(configs)} NodeConfigs"
    assert "mime" in layers, f"inspect read {layers}"


def configurations(made):
    """(name, bytes) of every cloud-config that we render, alone or as a part."""
    for name, path in made.files("cloud-config.yaml"):
        yield name, path.read_bytes()
    for name, path in made.files("user-data.mime*"):
        message = email.message_from_bytes(mime.plain(path), policy=email.policy.default)
        for part in message.iter_parts():
            if part.get_content_type() == "text/cloud-config":
                yield f"{name}#{part.get_filename()}", part.get_payload(decode=True)


def valid(config):
    answer = sandbox.enter(sandbox.HERE / "inside/schema.py", [sandbox.debian_root()], config, deadline=120)
    if answer["status"] != 0 or "Valid cloud-config" not in answer["said"]:
        raise products.Differs(f"cloud-init schema: exit {answer['status']}\n{answer['said'].strip()}")


def cases(made):
    for name, config in configurations(made):
        yield f"schema {name}", lambda config=config: valid(config)
    for name, path in products.foreign("cloud-init"):
        yield name, lambda path=path: compared(path, None)
    for name, path in made.files("cloud-config.yaml*", "user-data.mime*"):
        yield name, lambda path=path: compared(path, "ours")
    for name, path in made.files("nodeconfig.mime*"):
        yield name, lambda path=path: for_node_agent(path)
