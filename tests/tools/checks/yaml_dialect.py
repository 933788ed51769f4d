"""YAML: ours reads plain scalars and documents as PyYAML does, and PyYAML reads back what ours writes."""

import datetime
import json
import math
import random
import struct
import subprocess

import products
import sandbox
import yaml

DIALECT = products.TOP / "target/debug/examples/dialect"
# What plain scalars that are not text are made of, and the words that YAML 1.1 takes for something else.
PIECES = ["0", "1", "7", "8", "9", "12", "60", "0x", "0b", "0o", "a", "f", "e", "E", "_", ".", "-", "+", ":", "T", "Z", " "]
WORDS = ["yes", "No", "ON", "off", "true", "y", "n", "null", "~", "NULL", ".inf", "-.INF", ".nan", "=", "<", "2020-01-02"]
TEXTS = ["", " ", "a: b", "#x", "x #y", "- x", "? x", "'", '"', "\\", "\t", "a\n", "a\n\nb\n", "\nx", " x", "x ", "é世", "\x07", "%", "@a",
         "`a", "&a", "*a", "!a", "{", "}", "[", "|", ">", "---", "...", "0755", "1:30", "1_0", "x\n  y\n z", "\ufeffx", "a\r\nb", "\u2028", "💡"]  # fmt: skip


def ask(questions):
    done = sandbox.run([DIALECT], 60, input=json.dumps(questions).encode())
    return json.loads(done)


def tagged(value):
    """A value of PyYAML in the notation of the example program `dialect`."""
    if isinstance(value, dict):
        return {tagged(key): tagged(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if value is None:
        return "null:"
    if isinstance(value, bool):
        return f"bool:{str(value).lower()}"
    if isinstance(value, int):
        return f"int:{value}"
    if isinstance(value, float):
        return "float:nan" if math.isnan(value) else f"float:{struct.pack('>d', value).hex()}"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return "timestamp:"
    return f"str:{value}"


def theirs(text):
    try:
        return tagged(yaml.safe_load(text))
    except (yaml.constructor.ConstructorError, ValueError):
        # `=`, `0x_`, `2020-99-99`: it sees the type and then cannot make the value; no reader gets anything.
        return None
    except yaml.YAMLError:
        return "fault"


def compared(texts):
    ours = ask([{"read": text} for text in texts])
    faults = []
    for text, answer in zip(texts, ours):
        answer = "fault" if isinstance(answer, dict) and "fault" in answer else answer
        expected = theirs(text)
        if expected is not None and answer != expected:
            faults.append(f"{text[:200]!r}: PyYAML {str(expected)[:200]}, ours {str(answer)[:200]}")
    if faults:
        raise products.Differs("\n".join([f"{len(faults)} of {len(texts)} differ", *faults[:25]]))


def scalars():
    chance = random.Random(1)
    made = ["".join(chance.choices(PIECES, k=chance.randint(1, 6))).strip() for _ in range(20000)]
    # Inside a list item a colon followed by a space, or leading punctuation, would be structure and not a scalar.
    compared([f"- {text}" for text in WORDS + made if not text.startswith(("- ", "-\t")) and ": " not in text + " "])


def documents():
    texts = [path.read_text() for _, path in products.foreign("cloud-init") if path.suffix == ".yaml"]
    # Templates are not YAML yet; tags and merge keys are resolved a layer above.
    compared([text for text in texts if not any(mark in text for mark in ("jinja", "!!", "<<:"))])


def written():
    chance = random.Random(2)

    def value(depth):
        kind = chance.randint(0, 6 if depth else 4)
        if kind < 3:
            return "".join(chance.choices(TEXTS + WORDS, k=chance.randint(1, 3)))
        if kind == 3:
            return chance.choice([None, True, False, 0, -1, 493, 2**53, 1.5, -0.25, 1e20])
        if kind == 4:
            return chance.choice(TEXTS + WORDS)
        if kind == 5:
            return [value(depth - 1) for _ in range(chance.randint(0, 4))]
        return {chance.choice(TEXTS + WORDS): value(depth - 1) for _ in range(chance.randint(0, 4))}

    values = TEXTS + WORDS + [{"k": text} for text in TEXTS] + [[text] for text in TEXTS] + [value(4) for _ in range(1500)]
    texts = ask([{"write": item} for item in values])
    faults = []
    for item, text in zip(values, texts):
        try:
            back = yaml.safe_load(text)
        except yaml.YAMLError as reason:
            back = reason
        if back != item:
            faults.append(f"{item!r} is written as {text!r} and read back as {back!r}"[:400])
    if faults:
        raise products.Differs("\n".join([f"{len(faults)} of {len(values)} differ", *faults[:25]]))


def cases(_):
    yield "scalars as PyYAML resolves them", scalars
    yield "documents as PyYAML reads them", documents
    yield "what we write, PyYAML reads", written
