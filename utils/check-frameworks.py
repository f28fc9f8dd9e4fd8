#!/usr/bin/env python3
"""Runs test/Frameworks against PyTorch, JAX and the packages that have models for them.

Usage: check-frameworks.py BUILD [--all] [TEST]...  TEST: the name of a file, such as test_plan; default: all of them

Makes BUILD/frameworks-venv from test/Frameworks/requirements.txt, again only if that file has changed, and installs the
Python package there, linked to its sources. Packages that the system's Python has in the right version are not fetched.
Each test file is a separate process, in an empty folder, and ends with "N passed, N failed[, N skipped]". As many run
at once as there are cores, since most of their time is a single compiler's. --all tells the tests to try everything
instead of a choice that finds faults in a few minutes.
"""
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

from cpu_time import Process

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(SOURCE, "test", "Frameworks")
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SECONDS = 1800
#: Tests of more than a minute. They start first, so that none ends long after the others.
LONG = ["test_plan_fused", "test_plan_models", "test_plan_regions", "test_plan_layouts"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def make_environment(build):
    """Returns the virtual environment's Python and None, or None and the reason why there is none."""
    folder = os.path.join(build, "frameworks-venv")
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "requirements.sha256")
    requirements = os.path.join(TESTS, "requirements.txt")
    with open(requirements, "rb") as stream:
        wanted = hashlib.sha256(stream.read() + sys.version.encode()).hexdigest()
    if os.path.exists(stamp):
        with open(stamp) as stream:
            if stream.read() == wanted:
                return python, None
    shutil.rmtree(folder, ignore_errors=True)
    done = run(sys.executable, "-m", "venv", "--system-site-packages", folder)
    if done.returncode == 0:
        done = run(python, "-m", "pip", "install", "--quiet", "--retries=1", "--disable-pip-version-check", "-r", requirements)
    if done.returncode:
        return None, "its packages cannot be installed: " + (done.stdout.strip().splitlines() or ["no output"])[-1]
    with open(stamp, "w") as stream:
        stream.write(wanted)
    return python, None


def install(build, python):
    """Installs the package, linked to its sources; returns the error, or None."""
    done = run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
               "--editable", os.path.join(SOURCE, "python"), f"-Cbuild-dir={os.path.join(build, 'python-module')}",
               f"-Ccmake.define.REPRISE_BUILD={build}")
    return done.stdout if done.returncode else None


def run_test(build, python, path, arguments):
    """(passed, failed, skipped) of one file."""
    name = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.join(build, "test", "frameworks", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = dict(os.environ, REPRISE_SOURCE=SOURCE, REPRISE_BUILD=build, HF_HUB_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1",
                       PYTHONPATH=os.pathsep.join([TESTS, os.path.join(SOURCE, "test", "Integration")]),
                       TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"), TORCHINDUCTOR_COMPILE_THREADS="1")
    environment["PATH"] = os.path.join(build, "bin") + os.pathsep + environment["PATH"]
    start = time.time()
    process = Process([python, path, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=SECONDS)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        code = "a timeout"
    print(f"-- {name}: {time.time() - start:.0f} s, CPU {process.cpu_seconds:.0f} s\n{output.rstrip()}", flush=True)
    last = (output.strip().splitlines() or [""])[-1]
    count = SUMMARY.match(last)
    if not count:
        print(f"FAILED: {name} ended with {code} and without a count: {last}")
        return 0, 1, 0
    passed, failed, skipped = (int(each or 0) for each in count.groups())
    return passed, failed + (code != 0 and not failed), skipped


def priority(path):
    """Returns the place of a test in the queue: long ones first, then by name."""
    name = os.path.splitext(os.path.basename(path))[0]
    return name not in LONG, name


def main(build, arguments):
    python, reason = make_environment(build)
    if not python:
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return 0
    wrong = install(build, python)
    if wrong:
        print(f"FAILED: the package cannot be installed\n{wrong}\n0 passed, 1 failed")
        return 1
    names = [each for each in arguments if not each.startswith("--")]
    chosen = [os.path.join(TESTS, name + ".py") for name in names] or sorted(glob.glob(os.path.join(TESTS, "test_*.py")), key=priority)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda path: run_test(build, python, path, ["all"] if "--all" in arguments else []), chosen))
    passed, failed, skipped = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
