#!/usr/bin/python3 -SE
"""Stands in for curl: answers from /run/.oracle/mirrors.json, a list of answers for each URL, the last one for good.

An answer is the text to deliver, or null for a mirror that does not answer.
"""

import json
import sys

arguments = sys.argv[1:]
url, target = arguments[-1], arguments[arguments.index("-o") + 1]
with open("/run/.oracle/mirrors.json") as file:
    mirrors = json.load(file)
answers = mirrors.get(url, [None])
answer = answers.pop(0) if len(answers) > 1 else answers[0]
with open("/run/.oracle/mirrors.json", "w") as file:
    json.dump(mirrors, file)
with open("/run/.oracle/log", "a") as log:
    log.write(json.dumps({"call": ["curl", url]}) + "\n")
if answer is None:
    sys.exit(22)
with open(target, "w") as file:
    file.write(answer)
