#!/usr/bin/env python3
"""Holds docs/lineage.md against the tests that ran.

Every row of its tables names, in its second column, the tests that show a promise: `fast: NAME`, `tools: NAME` or
`lab: NAME`, where NAME is the whole name of a test or its last part. A test of a suite that ran must have run and
passed; one of a suite that did not run is left for the run that has it.
"""

import argparse
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
SUITES = ("fast", "tools", "lab")


def rows(page):
    """The number, the promise and the second cell of every row of every table."""
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) != 3 or set(line) <= set("|- ") or cells[1] == "shown by":
            continue
        yield number, cells[0], cells[1]


def named(cell):
    """The tests that a cell names, by suite."""
    return [(suite, name) for suite, name in re.findall(r"`([a-z]+): ([^`]+)`", cell)]


def passed(suite, results, log):
    """The names of the tests of a suite that passed."""
    if suite == "fast":
        return re.findall(r"^test (\S+) \.\.\. ok$", log.read_text(errors="replace"), re.MULTILINE)
    lines = (line.rstrip("\n").split("\t") for line in results.read_text().splitlines())
    return [fields[3] for fields in lines if fields[0] == suite and fields[1] == "passed"]


def ends_with(whole, name):
    """Whether a test is meant by a name: all of it, or what stands behind its modules."""
    return whole == name or whole.endswith("::" + name) or whole.endswith(": " + name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="what ./test noted")
    parser.add_argument("--log", type=pathlib.Path, required=True, help="what `cargo test` printed")
    parser.add_argument("suites", nargs="*", help="the suites that ran")
    options = parser.parse_args()
    ran = {suite: passed(suite, options.results, options.log) for suite in options.suites if suite in SUITES}
    faults, shown = [], 0
    for number, promise, cell in rows((TOP / "docs/lineage.md").read_text()):
        tests = named(cell)
        if not tests:
            faults.append(f"line {number}: nothing shows that {promise}")
        else:
            shown += 1
        for suite, name in tests:
            if suite not in SUITES:
                faults.append(f"line {number}: there is no suite `{suite}`")
            elif suite in ran and not any(ends_with(whole, name) for whole in ran[suite]):
                faults.append(f"line {number}: `{suite}: {name}` did not run, or did not pass")
    print(f"{shown} promises shown")
    print("\n".join(faults))
    return 1 if faults or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
