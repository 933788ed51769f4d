#!/usr/bin/env python3
"""The tools suite: what Bringup renders, and what `inspect` says, held against other people's software.

Each module of checks/ has a function `cases(products)` that yields (name, function) pairs; a function returns when
all is well and raises when not. They run side by side; each bounds its own child processes.
"""

import argparse
import concurrent.futures
import importlib
import os
import pathlib
import sys
import tempfile
import time
import traceback

import products
import sandbox

CHECKS = sorted(path.stem for path in (sandbox.HERE / "checks").glob("*.py"))


def attempted(function):
    """The outcome of one case: passed, failed or skipped, why, and how long it took."""
    started = time.monotonic()
    try:
        function()
        outcome, why = "passed", ""
    except products.Skipped as reason:
        outcome, why = "skipped", str(reason)
    except (products.Differs, sandbox.ToolFailed, AssertionError) as reason:
        outcome, why = "failed", str(reason)
    except Exception:  # a fault of the check itself must not hide the other results
        outcome, why = "failed", traceback.format_exc()
    return outcome, why, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*", help="run only the cases whose name contains one of these")
    parser.add_argument("--results", help="append a line per outcome to this file, for ./test")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    lines = []
    with tempfile.TemporaryDirectory(prefix="bringup-tools-") as scratch:
        made = products.Products(pathlib.Path(scratch))
        cases = [("build", made.built)]
        for module in CHECKS:
            found = importlib.import_module(f"checks.{module}").cases(made)
            cases += [(f"{module}: {name}", function) for name, function in found]
        if options.pattern:
            cases = [case for case in cases if any(word in case[0] for word in options.pattern)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (name, _), result in zip(cases, pool.map(lambda case: attempted(case[1]), cases)):
                outcome, why, seconds = result
                counts[outcome] += 1
                mark = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}[outcome]
                print(f"{mark}  tools  {name} ({seconds:.1f} s)", flush=True)
                for line in why.splitlines():
                    print(f"      {line}", flush=True)
                lines.append(f"tools\t{outcome}\t1\t{why if outcome == 'skipped' else name}\n")
    if options.results:
        with open(options.results, "a") as file:
            file.writelines(lines)
    print(f"tools: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
