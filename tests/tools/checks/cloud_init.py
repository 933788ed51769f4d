"""cloud-init: its schema accepts ours, and it does with any input what `inspect` says it would."""

import products
from real_cloud_init import real_cloud_init

# What these say is known only on the node: there `inspect` can name the file or count the step, not its content.
TEMPLATED = {"jinja-facts.yaml"}
FIELDS = ("path", "mode", "owner", "size", "sha256")


def compared(path):
    """Files and steps of one input, by `inspect` and by cloud-init."""
    ours, theirs = products.inspect(path), real_cloud_init(path.read_bytes())
    fields = FIELDS[:3] if path.name in TEMPLATED else FIELDS
    products.same(*[[{key: file[key] for key in fields} for file in side["files"]] for side in (ours, theirs)], "files")
    keys = ("stage",) if path.name in TEMPLATED else ("stage", "run")
    products.same(*[[{key: step[key] for key in keys} for step in side["steps"]] for side in (ours, theirs)], "steps")


def cases(made):
    for name, path in products.foreign("cloud-init") + made.files("cloud-config.yaml*", "user-data.mime*"):
        yield name, lambda path=path: compared(path)
