#!/usr/bin/python3 -SE
"""Stands in for a program that would reach the machine or the network: notes its call and succeeds."""

import json
import os
import sys

with open("/run/.oracle/log", "a") as log:
    log.write(json.dumps({"call": [os.path.basename(sys.argv[0]), *sys.argv[1:]]}) + "\n")
