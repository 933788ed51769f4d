#!/usr/bin/env python3
"""The lab suite: machines that boot for real, by `bringup try`, in systemd containers.

Each module of cases/ has a function `cases()` that yields (name, function) pairs; a function gets the laboratory, and
returns when all is well and raises when not. Several run side by side. Each boot has a deadline, and nothing is left of
it, also when the suite is interrupted.
"""

import argparse
import concurrent.futures
import importlib
import pathlib
import signal
import sys
import tempfile
import time
import traceback

import machine

HERE = pathlib.Path(__file__).resolve().parent
CASES = sorted(path.stem for path in (HERE / "cases").glob("*.py"))


def attempted(function, laboratory):
    """The outcome of one case, why, and how long it took."""
    started = time.monotonic()
    try:
        function(laboratory)
        outcome, why = "passed", ""
    except (machine.Differs, machine.TrialFailed, AssertionError) as reason:
        where = traceback.extract_tb(reason.__traceback__)
        line = next(frame for frame in where if frame.filename != machine.__file__ and "run.py" not in frame.filename)
        outcome, why = "failed", f"line {line.lineno}, {line.line}\n{reason}"
    except Exception:  # a fault of the case itself must not hide the other results
        outcome, why = "failed", traceback.format_exc()
    return outcome, why, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*", help="run only the cases whose name contains one of these")
    parser.add_argument("--results", help="append a line per outcome to this file, for ./test")
    parser.add_argument("--side-by-side", type=int, default=3, help="how many machines run at once (default 3)")
    parser.add_argument("--keep", help="keep disks and timelines in this directory")
    parser.add_argument("--program", type=pathlib.Path, help="the bringup to try, with its agent beside it (default target/debug/bringup)")
    parser.add_argument("--list", action="store_true", help="print the names and do nothing")
    options = parser.parse_args()
    if options.program:
        machine.BRINGUP = options.program.resolve()
    cases = [
        (f"{module}: {name}", function)
        for module in CASES
        for name, function in importlib.import_module(f"cases.{module}").cases()
    ]
    if options.pattern:
        cases = [case for case in cases if any(word in case[0] for word in options.pattern)]
    if options.list:
        print("\n".join(name for name, _ in cases))
        return
    # An end that is asked for is an interruption: everything is cleaned up on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    counts = {"passed": 0, "failed": 0}
    lines = []
    with tempfile.TemporaryDirectory(prefix="bringup-lab-suite-") as scratch:
        laboratory = machine.Laboratory(pathlib.Path(options.keep or scratch))
        pool = concurrent.futures.ThreadPoolExecutor(options.side_by_side)
        try:
            running = {pool.submit(attempted, function, laboratory): name for name, function in cases}
            for done in concurrent.futures.as_completed(running):
                outcome, why, seconds = done.result()
                name = running[done]
                counts[outcome] += 1
                print(f"{'ok  ' if outcome == 'passed' else 'FAIL'}  lab    {name} ({seconds:.1f} s)", flush=True)
                for line in why.splitlines():
                    print(f"      {line}", flush=True)
                lines.append(f"lab\t{outcome}\t1\t{name}\n")
        except BaseException:
            laboratory.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        left = machine.leftovers(scratch)
        counts["failed" if left else "passed"] += 1
        print(f"{'FAIL' if left else 'ok  '}  lab    nothing is left behind", *left, sep="\n      ", flush=True)
        lines.append(f"lab\t{'failed' if left else 'passed'}\t1\tnothing is left behind\n")
    if options.results:
        with open(options.results, "a") as file:
            file.writelines(lines)
    print(f"lab: {counts['passed']} passed, {counts['failed']} failed")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
