"""Multipart user-data: Python's email reads it without a defect, and the parts keep our promises."""

import base64
import email
import email.policy
import gzip
import json
import re

import products
import yaml

NAME = re.compile(r"(\d+)-.+")


def plain(path):
    """The carrier without the encodings that its name tells."""
    data = path.read_bytes()
    if path.suffix == ".b64":
        data = base64.b64decode(data, validate=False)
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def read(path):
    message = email.message_from_bytes(plain(path), policy=email.policy.default)
    assert message.is_multipart(), "not a multipart message"
    parts = list(message.iter_parts())
    assert parts, "no parts"
    boundary = message.get_boundary()
    # kops' users rely on the names of their scripts: cloud-init sorts by them, as it does with kops.
    kops = json.loads((path.parent / "plan.json").read_text())["flavour"] == "kops"
    widths, names, own = set(), [], []
    for part in parts:
        name = part.get_filename()
        is_own = kops and part.get_content_type() == "text/x-shellscript"
        assert name and (is_own or NAME.fullmatch(name)), f"part name {name!r} has no number in front"
        assert not message.defects and not part.defects, f"{name}: {message.defects + part.defects}"
        assert part["Content-Transfer-Encoding"] == "base64", f"{name}: {part['Content-Transfer-Encoding']}"
        if is_own:
            own.append(name)
        else:
            widths.add(len(NAME.fullmatch(name).group(1)))
            names.append(name)
        content = part.get_payload(decode=True)
        assert boundary.encode() not in content, f"{name}: holds the boundary"
        if part.get_content_type() == "text/cloud-config":
            assert isinstance(yaml.safe_load(content), dict), f"{name}: not a mapping to PyYAML"
    assert len(widths) == 1, f"numbers of different widths: {names}"
    assert len({*names, *own}) == len(names) + len(own), f"names not unique: {names} {own}"
    assert names == sorted(names), f"order of names is not the order of parts: {names}"


def cases(made):
    for name, path in made.files("user-data.mime*", "nodeconfig.mime*"):
        yield name, lambda path=path: read(path)
