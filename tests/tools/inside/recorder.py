#!/usr/bin/python3 -SE
"""Stands in for a program that would reach the machine or the network: notes its call and succeeds."""

import json
import os
import sys

with open("/run/.oracle/log", "a") as log:
    log.write(json.dumps({"call": [os.path.basename(sys.argv[0]), *sys.argv[1:]]}) + "\n")

# What asks the metadata service cannot do without an answer.
ANSWERS = {"instance-type": "m5.large", "local-ipv4": "10.0.0.1"}
if "169.254.169.254" in sys.argv[-1]:
    name = os.path.basename(sys.argv[-1])
    print(ANSWERS.get(name, "answer-of-" + name))
