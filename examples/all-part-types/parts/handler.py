#part-handler
"""Keeps parts of the museum's own type where its programs look for them."""

import pathlib


def list_types():
    return ["text/x-museum-note"]


def handle_part(data, content_type, filename, payload):
    if content_type.startswith("__"):
        return
    notes = pathlib.Path("/var/lib/museum/notes")
    notes.mkdir(parents=True, exist_ok=True)
    (notes / pathlib.Path(filename).name).write_text(payload)
