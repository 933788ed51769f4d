#!/usr/bin/env python3
"""Asks the real cloud-init what it does with every input that tests/oracle.rs names; keeps the answers in cloud-init-22.4.2/effects.json."""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[2] / "tests/tools"
sys.path.insert(0, str(TOOLS))
from real_cloud_init import real_cloud_init  # noqa: E402

named = set(re.findall(r'^ +"(\S+)"$', (HERE / "oracle.rs").read_text(), re.MULTILINE))
paths = [path for path in [*(TOOLS / "foreign/cloud-init").iterdir(), *(HERE / "inputs").iterdir()] if path.name in named]
answers = {}
for path in sorted(paths, key=lambda path: path.name):
    answer = real_cloud_init(path.read_bytes())
    answers[path.name] = {"files": answer["files"], "steps": answer["steps"]}
(HERE / "cloud-init-22.4.2/effects.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
