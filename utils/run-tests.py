#!/usr/bin/env python3
"""Runs the test suites of a build folder and adds them up.

Usage: run-tests.py BUILD [--quick] [--all] [--slowest] [SUITE]...
  SUITE      layout docs messages commands unit lit consumer python frameworks examples integration fuzz (default: all)
  --quick    leaves out what takes long: unit tests called Slow…, and tests of lit that require the feature `slow`
  --all      has frameworks and integration run what else they have for a night
  --slowest  prints the parts of tests that take the most CPU seconds

Failures are printed in full. The last line is "N passed, N failed"; BUILD/test/summary.json holds the
same per suite. A suite that crashes, hangs or reports nothing counts as one more failure. Exit code 1
if anything failed.

Integration tests are the executable files test/Integration/*.py and *.sh. Each runs in an empty folder
with the tools first in PATH and with REPRISE_SOURCE and REPRISE_BUILD set, prints one line per check,
and ends with the line "N passed, N failed" (", N skipped" may follow).
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import slowest
from cpu_time import Process

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
quick = False
#: Integration tests of more than a minute. They start first, so that none ends long after the others.
LONG = {"budgets.py", "gpu.py", "loops.py", "pipelines.py", "zoo-bits.py"}
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


class Suite:
    """Count of one suite, and the outputs of its failures."""

    def __init__(self, name):
        self.name, self.passed, self.skipped = name, 0, 0
        self.seconds = self.cpu_seconds = 0.0
        self.failures = []
        self.parts = []

    def fail(self, name, output):
        self.failures.append({"name": name, "output": output})

    def line(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.name}: {self.passed} passed, {len(self.failures)} failed{skipped} ({self.seconds:.1f} s, CPU {self.cpu_seconds:.1f} s)"


def default_signals():
    """A shell's background job ignores interrupts, and its children would inherit that."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


# LLVM's allocators, inlined into our code, poison memory that LLVM's own library, which has no sanitizer, reuses.
os.environ.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")


def run(suite, command, timeout=3600, **arguments):
    """Runs a command in a process group of its own and counts its CPU time; returns (exit code or a word, its output)."""
    process = Process(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                      start_new_session=True, preexec_fn=default_signals, **arguments)
    try:
        output, _ = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = "timeout"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    suite.cpu_seconds = round(suite.cpu_seconds + process.cpu_seconds, 3)
    return code, output.decode(errors="replace")


def fresh_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def count_gtest(suite, report, output):
    """Adds the tests of a gtest report; returns False if there is none to read."""
    try:
        with open(report) as stream:
            groups = json.load(stream)["testsuites"]
    except (OSError, ValueError, KeyError):
        return False
    for group in groups:
        for test in group["testsuite"]:
            name = f"{test['classname']}.{test['name']}"
            suite.parts.append((float(test.get("time", "0").rstrip("s")), name))
            if test.get("failures"):
                suite.fail(name, "\n".join(failure["failure"] for failure in test["failures"]))
            elif test.get("result") == "SKIPPED":
                suite.skipped += 1
            elif test.get("status") == "RUN":
                suite.passed += 1
    return True


def run_shard(suite, binary, report, shard, shards):
    """Runs every `shards`-th test of a binary and adds them up."""
    if os.path.exists(report):
        os.remove(report)
    environment = dict(os.environ, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(shard))
    chosen = ["--gtest_filter=-*.Slow*"] if quick else []
    code, output = run(suite, [binary, f"--gtest_output=json:{report}", *chosen], env=environment)
    if not count_gtest(suite, report, output):
        suite.passed += len(re.findall(r"^\[       OK \]", output, re.M))
    if code != 0 and not suite.failures:
        suite.fail(f"{os.path.basename(binary)} ended with {code}", output[-20000:])


def run_unit(build):
    shards = os.cpu_count()
    for binary in sorted(glob.glob(os.path.join(build, "bin", "*Tests"))):
        suite = Suite("unit/" + os.path.basename(binary))
        reports = [os.path.join(build, "test", f"{os.path.basename(binary)}.{shard}.json") for shard in range(shards)]
        with concurrent.futures.ThreadPoolExecutor(shards) as pool:
            done = [pool.submit(run_shard, suite, binary, report, shard, shards) for shard, report in enumerate(reports)]
        for shard in done:
            shard.result()
        yield suite


def lit_command(build):
    """Returns the path of lit, which stands beside FileCheck; the site configuration has the folder."""
    with open(os.path.join(build, "test", "lit.site.cfg.py")) as stream:
        folder = re.search(r'llvm_tools_dir = "(.*)"', stream.read()).group(1)
    return os.path.join(folder, "lit")


def run_lit(build):
    suite = Suite("lit")
    report = os.path.join(build, "test", "lit.json")
    if os.path.exists(report):
        os.remove(report)
    chosen = ["--param", "quick=1"] if quick else []
    code, output = run(suite, [lit_command(build), f"-j{os.cpu_count()}", "-q", *chosen, "--output", report, os.path.join(build, "test")])
    try:
        with open(report) as stream:
            tests = json.load(stream)["tests"]
    except (OSError, ValueError, KeyError):
        tests = []
    for test in tests:
        suite.parts.append((test.get("elapsed") or 0.0, test["name"]))
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            suite.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            suite.skipped += 1
        else:
            suite.fail(test["name"], f"{test['code']}\n{test['output']}")
    if not tests or (code != 0 and not suite.failures):
        suite.fail(f"lit ended with {code}", output[-20000:])
    yield suite


def count_script(suite, code, output):
    """Adds the counts of a script's last line; without one, or with a wrong exit code, the script failed."""
    lines = output.strip().splitlines()
    found = SUMMARY.match(lines[-1].strip()) if lines else None
    failed = 0
    if found:
        suite.passed, failed = int(found.group(1)), int(found.group(2))
        suite.skipped = int(found.group(3) or 0)
    told = [line.strip()[:400] for line in lines if line.startswith("FAILED")]
    for index in range(failed):
        suite.fail(told[index] if index < len(told) else f"check {index + 1} of {failed}", output if index == 0 else None)
    if not failed and (not found or code != 0):
        suite.fail(f"{suite.name} ended with {code}", output)


def run_script(name, command, build, timeout=3600):
    suite = Suite(name)
    bin_folder = os.path.join(build, "bin")
    environment = dict(os.environ, REPRISE_SOURCE=SOURCE, REPRISE_BUILD=build,
                       PATH=bin_folder + os.pathsep + os.environ["PATH"])
    folder = fresh_folder(os.path.join(build, "test", name))
    start = time.time()
    code, output = run(suite, command, timeout, cwd=folder, env=environment)
    suite.seconds = round(time.time() - start, 3)
    suite.parts = slowest.find_parts(name, output)
    count_script(suite, code, output)
    return suite


def run_integration(build):
    """Runs as many scripts at once as there are cores: most of them wait for one compilation after the other."""
    scripts = glob.glob(os.path.join(SOURCE, "test", "Integration", "*.py"))
    scripts += glob.glob(os.path.join(SOURCE, "test", "Integration", "*.sh"))
    scripts = [script for script in sorted(scripts) if os.access(script, os.X_OK)]
    scripts.sort(key=lambda script: os.path.basename(script) not in LONG)
    names = ["integration/" + os.path.splitext(os.path.basename(script))[0] for script in scripts]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda name, script: run_script(name, [script], build), names, scripts)


def run_utility(suite, script):
    def suites(build):
        yield run_script(suite, [sys.executable, os.path.join(SOURCE, "utils", script), build], build)
    return suites


def run_fuzz(build):
    """Random programs of all kinds; see docs/reference/Fuzzing.md."""
    fuzzer = os.path.join(build, "bin", "reprise-fuzz")
    emulator = ["env", "LD_LIBRARY_PATH=" + os.path.join(build, "gpu-emulator")]
    for kind, count, prefix in (("training", 120, []), ("kernels", 800, []), ("gpu", 300, emulator), ("batches", 400, []), ("shards", 32, [])):
        command = [fuzzer, f"--kind={kind}", f"--count={count}", f"--jobs={os.cpu_count()}"]
        yield run_script(f"fuzz/{kind}", prefix + command, build)


SUITES = {
    "layout": run_utility("layout", "check-layout.py"),
    "docs": run_utility("docs", "check-docs.py"),
    "messages": run_utility("messages", "check-messages.py"),
    "commands": run_utility("commands", "check-commands.py"),
    "unit": run_unit,
    "lit": run_lit,
    "consumer": run_utility("consumer", "check-consumer.py"),
    "python": run_utility("python", "check-python.py"),
    "frameworks": run_utility("frameworks", "check-frameworks.py"),
    "examples": run_utility("examples", "check-examples.py"),
    "integration": run_integration,
    "fuzz": run_fuzz,
}
#: Suites of one process that mostly works alone. Those of one lane build in the same folder, so they do not run at once.
LANES = [["commands", "layout", "docs", "messages"], ["python", "examples", "consumer"]]


def write_summary(build, suites):
    summary = {"version": 1, "passed": sum(suite.passed for suite in suites),
               "failed": sum(len(suite.failures) for suite in suites),
               "skipped": sum(suite.skipped for suite in suites),
               "suites": [dict(vars(suite), failed=len(suite.failures),
                               parts=sorted((part for part in suite.parts if part[0] >= 1), reverse=True)) for suite in suites]}
    path = os.path.join(build, "test", "summary.json")
    with open(path + ".new", "w") as stream:
        json.dump(summary, stream, indent=1)
    os.rename(path + ".new", path)
    return summary


def timed(suites):
    """Yields the suites of a generator, each with its time; scripts that ran in parallel know their own."""
    start = time.time()
    for suite in suites:
        suite.seconds = suite.seconds or round(time.time() - start, 3)
        yield suite
        start = time.time()


def run_lanes(build, names):
    """Runs the lanes beside one another, and the suites of a lane in turn."""
    lanes = [[name for name in lane if name in names] for lane in LANES]
    with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
        for suites in pool.map(lambda lane: [suite for name in lane for suite in SUITES[name](build)], lanes):
            yield from suites


def started(build, names):
    """Yields every suite once it has run: those of lanes first."""
    yield from run_lanes(build, names)
    for name in names:
        if not any(name in lane for lane in LANES):
            yield from timed(SUITES[name](build))


def run_suites(build, names):
    for suite in started(build, names):
        for failure in filter(lambda failure: failure["output"] is not None, suite.failures):
            print(f"FAILED: {suite.name}: {failure['name']}\n{failure['output'].rstrip()}\n")
        print(suite.line(), flush=True)
        yield suite


def main(arguments):
    global quick
    flags = {argument for argument in arguments if argument.startswith("-")}
    quick = "--quick" in flags
    if "--all" in flags:
        os.environ["REPRISE_TESTS"] = "all"
    arguments = [argument for argument in arguments if argument not in flags]
    if flags - {"--quick", "--all", "--slowest"} or not arguments or any(name not in SUITES for name in arguments[1:]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    build = os.path.abspath(arguments[0])
    os.makedirs(os.path.join(build, "test"), exist_ok=True)
    suites = list(run_suites(build, arguments[1:] or SUITES))
    summary = write_summary(build, suites)
    if "--slowest" in flags:
        slowest.show([part for suite in summary["suites"] for part in suite["parts"]])
    for suite in suites:
        # We repeat failures here, because the end of a long log is read.
        for failure in suite.failures:
            print(f"FAILED: {suite.name}: {failure['name'].removeprefix('FAILED: ')}")
    print(f"{summary['passed']} passed, {summary['failed']} failed", flush=True)
    return 1 if summary["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
