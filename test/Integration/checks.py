"""Helpers that the integration tests share: running tools, comparing folders, counting."""

import collections
import filecmp
import json
import os
import pathlib
import re
import subprocess
import sys

passed = failed = skipped = 0
#: Flag of a night: cases run that a test of some minutes leaves out. `run-tests.py --all` sets it for all scripts.
everything = os.environ.get("REPRISE_TESTS") == "all" or "all" in sys.argv[1:]
#: CPU seconds of parts: of the functions that a script calls from `main`, with all their processes.
parts = collections.Counter()
#: Functions that only call parts.
CALLERS = {"main", "run_parts", "attempt", "<lambda>"}
counted = 0.0


def count_seconds():
    """Adds the CPU seconds since the last check to the part that makes a check, named with its first argument."""
    global counted
    frame, part = sys._getframe(2), None
    while frame and frame.f_code.co_name != "<module>":
        part = part if frame.f_code.co_name in CALLERS else frame
        frame = frame.f_back
    name = part.f_code.co_name if part else "main"
    first = part.f_locals.get(part.f_code.co_varnames[0]) if part and part.f_code.co_argcount else None
    seconds = sum(os.times()[:4])
    parts[f"{name}({first[:60]})" if isinstance(first, str) else name] += seconds - counted
    counted = seconds


def check(name, good, detail=""):
    """Counts one check and prints its line."""
    global passed, failed
    count_seconds()
    if good:
        passed += 1
    else:
        failed += 1
    print(f"{'ok' if good else 'FAILED'}: {name}" + (f": {detail}" if detail and not good else ""), flush=True)
    return good


def skip(name, reason):
    global skipped
    skipped += 1
    print(f"skipped: {name}: {reason}", flush=True)


def finish():
    """Prints the parts of at least a second and the closing line, and ends the script."""
    for part, seconds in parts.items():
        if seconds >= 1:
            print(f"-- {seconds:.1f} CPU s: {part}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


def tool(*command, stdin=None):
    """Runs a tool that must succeed; returns its standard output."""
    done = subprocess.run([str(part) for part in command], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        print(done.stderr)
        check(" ".join(map(str, command)), False, f"exit code {done.returncode}")
        finish()
    return done.stdout


def refuses(name, message, *command, code=1, stdin=None):
    """Checks that a tool ends with an exit code, says `message`, text or pattern, and writes no file no.*; returns what it says."""
    done = subprocess.run([str(part) for part in command], input=stdin, capture_output=True, text=True)
    written = [path.name for path in pathlib.Path().glob("no.*")]
    good = message.search(done.stderr) if isinstance(message, re.Pattern) else message in done.stderr
    check(f"{name}: refused", done.returncode == code and not written and good, f"exit code {done.returncode}, {written}, {done.stderr[:600]}")
    return done.stdout + done.stderr


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def write_json(path, value):
    pathlib.Path(path).write_text(json.dumps(value))


def zoo(path, model, *flags):
    pathlib.Path(path).write_text(tool("reprise-zoo", model, *flags))


def compile_fitting(model, bundle, flags, plan):
    """Returns the error, if there is one. A budget that is too small is replaced by the smallest one found, again for
    every cut.

    Plans are the first ones found: bits and places are checked, not costs.
    """
    for _ in range(8):
        done = subprocess.run(["reprise-compile", model, "-o", bundle, "--time-limit=0", *flags, *plan], stderr=subprocess.PIPE, text=True)
        if "is known to fit" not in done.stderr:
            break
        plan = [f"--budget={read_least(done.stderr)}"]
    return done.stderr[:300] if done.returncode else ""


def compile_model(model, bundle, *flags):
    """Compiles and returns the report."""
    report = str(bundle) + ".json"
    tool("reprise-compile", model, "-o", bundle, f"--report={report}", *flags)
    return read_json(report)


def estimate_model(model, *flags):
    """Plans without generating code, and returns the report."""
    tool("reprise-compile", model, "--estimate", "--report=estimate.json", *flags)
    return read_json("estimate.json")


def taken(report):
    """Bytes that a budget is about."""
    return report["arena_bytes"] + report["workspace_bytes"]


def read_least(message):
    """The budget that an error names as the smallest one known to fit, in bytes."""
    return int(re.search(r"([\d,]+) bytes? is known to fit", message).group(1).replace(",", ""))


def run(bundle, folder, *flags):
    return json.loads(tool("reprise-run", bundle, f"--output-dir={folder}", "--json", *flags))


def count_kernels(bundle):
    """Different kernels of a step."""
    run(bundle, "profiled", "--steps=1", "--seed=7", "--profile-out=profile.json")
    return len(json.loads(pathlib.Path("profile.json").read_text())["kernels"])


def first_difference(one, other):
    """The first file that differs between two folders, or None."""
    names = sorted(set(os.listdir(one)) | set(os.listdir(other)))
    for name in names:
        left, right = os.path.join(one, name), os.path.join(other, name)
        if not (os.path.exists(left) and os.path.exists(right) and filecmp.cmp(left, right, shallow=False)):
            return name
    return None


def same_folder(name, one, other):
    difference = first_difference(one, other)
    return check(name, difference is None, f"{difference} differs")


def same_file(name, one, other):
    return check(name, filecmp.cmp(one, other, shallow=False), f"{one} and {other} differ")
