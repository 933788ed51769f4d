"""User-data that nobody wrote: parts, names, encodings and merge rules at random, the same ones on every run."""

import email.encoders
import gzip
import random
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart

import products
import yaml
from checks import cloud_init

ROUNDS = 16
NAMES = ["run.sh", "10-a", "9-b", "Z.sh", "a b.sh", "x/y.sh", "runcmd", "ünï.sh", "(c).sh", "part-001", None, None]
MERGES = [
    "list(append)+dict(no_replace,recurse_list)+str()",
    "list(prepend)+dict(recurse_array)+str()",
    "list(no_replace)+dict(replace)+str(append)",
    "dict(recurse_list)+list(append)",
    "list()+dict()+str()",
    [{"name": "list", "settings": ["append"]}, {"name": "dict", "settings": ["no_replace", "recurse_list"]}],
]
ITEMS = [
    "echo plain", ["echo", "it's", 1, True, None, 1.5], "echo a\necho b\n", None, "echo 'quoted # not a comment'", ["ls"],
    "grüße", "echo \\ back", "", [],
]  # fmt: skip
PERMISSIONS = [None, "0600", "755", 0o640, 644, "0o711", "u+x"]


def cloud_config(chance):
    config = {}
    if chance.random() < 0.4:
        config[chance.choice(["merge_how", "merge_type"])] = chance.choice(MERGES)
    for key in ("bootcmd", "runcmd"):
        if chance.random() < 0.6:
            config[key] = chance.choices(ITEMS, k=chance.randint(0, 4))
    if chance.random() < 0.6:
        config["write_files"] = []
        for _ in range(chance.randint(1, 3)):
            file = {"path": f"/etc/r/{chance.randint(1, 5)}", "content": chance.choice(["one\n", "two", "", "Ü"])}
            permissions = chance.choice(PERMISSIONS)
            if permissions is not None:
                file["permissions"] = permissions
            if chance.random() < 0.2:
                file["append"] = True
            if chance.random() < 0.2:
                file["defer"] = True
            config["write_files"].append(file)
    flow = chance.choice([True, False, None])
    text = yaml.safe_dump(config, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    return chance.choice(["#cloud-config\n", "#cloud-config\n# comment\n", "## template: jinja\n#cloud-config\n"]) + text


def script(chance):
    return chance.choice(["#!/bin/sh\n", "#! /bin/bash\n", "#!/usr/bin/env python3\n"]) + f"# {chance.random()}\n"


def archive(chance):
    entries = []
    for _ in range(chance.randint(1, 3)):
        content = chance.choice([cloud_config, script])(chance)
        entry = {"content": content}
        name = chance.choice(NAMES)
        if name:
            entry["filename"] = name
        entries.append(chance.choice([entry, content]))
    return "#cloud-config-archive\n" + yaml.safe_dump(entries, allow_unicode=True)


MAKERS = [
    ("cloud-config", cloud_config),
    ("cloud-config", cloud_config),
    ("x-shellscript", script),
    ("x-shellscript", script),
    ("cloud-boothook", script),
    ("x-shellscript-per-boot", script),
    ("x-shellscript-per-instance", script),
    ("x-shellscript-per-once", script),
    ("cloud-config-archive", archive),
    ("plain", cloud_config),
    ("plain", script),
    ("x-unheard-of", script),
]


def part(chance):
    subtype, maker = chance.choice(MAKERS)
    content = maker(chance).encode()
    packed = chance.random() < 0.15
    if packed:
        made = MIMEBase("application", "x-gzip")
        content = gzip.compress(content, mtime=0)
    else:
        made = MIMEBase("text", subtype, charset="utf-8")
    made.set_payload(content)
    if packed or not content.isascii() or chance.random() < 0.5:
        email.encoders.encode_base64(made)
    elif chance.random() < 0.3:
        email.encoders.encode_quopri(made)
    else:
        made.set_payload(content.decode())
    name = chance.choice(NAMES)
    if name:
        made.add_header("Content-Disposition", "attachment", filename=name)
    if chance.random() < 0.1:
        made.add_header(chance.choice(["Merge-Type", "X-Merge-Type"]), MERGES[0])
    return made


def message(chance, depth):
    made = MIMEMultipart(boundary=f"=={chance.getrandbits(64):016x}==")
    for _ in range(chance.randint(1, 6)):
        made.attach(message(chance, depth - 1) if depth and chance.random() < 0.1 else part(chance))
    return made


def compared(seed, scratch):
    chance = random.Random(seed)
    data = message(chance, 1).as_bytes()
    if chance.random() < 0.3:
        data = gzip.compress(data, mtime=0)
    path = scratch / f"random-{seed}"
    path.write_bytes(data)
    try:
        cloud_init.agrees(products.inspect(path), data)
    except products.Differs as reason:
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        raise products.Differs(f"{reason}\n\n{text.decode(errors='replace')[:4000]}") from None


def cases(made):
    for seed in range(ROUNDS):
        yield f"seed {seed}", lambda seed=seed: compared(seed, made.scratch)
