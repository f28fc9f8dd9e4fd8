#!/usr/bin/env python3
"""Runs test/Frameworks against PyTorch, JAX and the packages that have models for them.

Usage: check-frameworks.py BUILD [--all] [--slowest] [--versions=WHICH] [TEST]...
  TEST   the name of a file, such as test_plan; default: all of them
  WHICH  "all": also the versions of test/Frameworks/versions.txt; or one of them, such as torch==2.11.0, alone

Makes BUILD/frameworks-venv from test/Frameworks/requirements.txt, again only if that file has changed, and installs the
Python package there, linked to its sources. Each line of versions.txt has an environment of its own, made of the same
requirements with other versions of some packages, and runs the tests of its framework. Packages that the system's Python has in the right version are not fetched.
Each test file is a separate process, in an empty folder, and ends with "N passed, N failed[, N skipped]". As many run
at once as there are cores, since most of their time is a single compiler's. The processes are forked from one that has
imported PyTorch (fork-tests.py). --all tells the tests to try everything instead of a choice that finds faults in a few
minutes. --slowest ends with the parts that take the most CPU seconds.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import slowest

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(SOURCE, "test", "Frameworks")
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
#: Tests of more than a minute. They start first, so that none ends long after the others.
LONG = ["test_step_budgets", "test_plan_fused", "test_plan_models", "test_plan_regions", "test_plan_layouts"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Environment:
    """Virtual environment: the requirements of the tests, with other versions of some packages."""

    def __init__(self, build, others=""):
        self.build, self.others = build, others.split()
        self.name = "-".join(["", *self.others[0].split("==")]) if self.others else ""
        self.folder = os.path.join(build, "frameworks-venv" + self.name)

    def requirements(self):
        """Returns the text of the requirements."""
        with open(os.path.join(TESTS, "requirements.txt")) as stream:
            text = stream.read()
        for each in self.others:
            text = re.sub(rf"^{each.split('==')[0]}==.*$", each, text, flags=re.M)
        return text

    def tests(self):
        """Returns the paths of the tests of its framework; without other versions, of all frameworks."""
        paths = sorted(glob.glob(os.path.join(TESTS, "test_*.py")))
        of_jax = [each for each in paths if os.path.basename(each).startswith("test_jax")]
        if not self.others:
            return paths
        return of_jax if self.others[0].startswith("jax") else [each for each in paths if each not in of_jax]


def environments(build, which):
    """Returns the environments that --versions asks for; default: that of requirements.txt."""
    with open(os.path.join(TESTS, "versions.txt")) as stream:
        others = [Environment(build, line.strip()) for line in stream if line.strip() and not line.startswith("#")]
    if which in ("", "all"):
        return [Environment(build), *(others if which else ())]
    chosen = [each for each in others if each.others[0] == which]
    if not chosen:
        sys.exit(f"error: --versions={which}: expected \"all\" or one of {', '.join(each.others[0] for each in others)}")
    return chosen


def make_environment(environment):
    """Returns the virtual environment's Python and None, or None and the reason why there is none."""
    folder = environment.folder
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "requirements.sha256")
    requirements = os.path.join(environment.build, f"requirements{environment.name}.txt")
    with open(requirements, "w") as stream:
        stream.write(environment.requirements())
    wanted = hashlib.sha256((environment.requirements() + sys.version).encode()).hexdigest()
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


def count_file(folder, done):
    """Prints the output of one file; returns (passed, failed, skipped), and the output."""
    name, code = done["name"], "a timeout" if done["code"] == -signal.SIGALRM else done["code"]
    with open(os.path.join(folder, name, "output.txt"), errors="replace") as stream:
        output = stream.read().rstrip()
    told = f"-- {name}: {done['seconds']:.0f} s, CPU {done['cpu_seconds']:.0f} s\n{output}\n"
    print(told, end="", flush=True)
    lines = output.splitlines() or [""]
    # Libraries may write behind the count: Triton 3.9 tells of objects that are left at the end of a process.
    count = next(filter(None, map(SUMMARY.match, reversed(lines))), None)
    if not count:
        print(f"FAILED: {name} ended with {code} and without a count: {lines[-1]}")
        return (0, 1, 0), told
    passed, failed, skipped = (int(each or 0) for each in count.groups())
    return (passed, failed + (code != 0 and not failed), skipped), told


def run_files(environment, python, paths, arguments):
    """Yields what `count_file` returns for each file, as they end. As many run at once as there are cores."""
    build, folder = environment.build, os.path.join(environment.build, "test", "frameworks" + environment.name)
    os.makedirs(folder, exist_ok=True)
    variables = dict(os.environ, REPRISE_SOURCE=SOURCE, REPRISE_BUILD=build, HF_HUB_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1",
                     PYTHONPATH=os.pathsep.join([TESTS, os.path.join(SOURCE, "test", "Integration")]),
                     TORCHINDUCTOR_COMPILE_THREADS="1", PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"])
    command = [python, os.path.join(SOURCE, "utils", "fork-tests.py"), str(os.cpu_count()), folder, " ".join(arguments), *paths]
    missing = len(paths)
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            missing -= 1
            yield count_file(folder, json.loads(line))
    if missing:
        print(f"FAILED: {missing} files have not run: fork-tests.py ended with {process.returncode}")
        yield (0, missing, 0), ""


def priority(path):
    """Returns the place of a test in the queue: long ones first, then by name."""
    name = os.path.splitext(os.path.basename(path))[0]
    return name not in LONG, name


def run_tests(environment, names, arguments, show_slowest):
    """(passed, failed, skipped) of the tests of one environment."""
    python, reason = make_environment(environment)
    if not python:
        print(f"skipped: {reason}")
        return 0, 0, 1
    wrong = install(environment.build, python)
    if wrong:
        print(f"FAILED: the package cannot be installed\n{wrong}")
        return 0, 1, 0
    chosen = [os.path.join(TESTS, name + ".py") for name in names] or sorted(environment.tests(), key=priority)
    counts, told = zip(*run_files(environment, python, chosen, arguments))
    if show_slowest:
        slowest.show(slowest.find_parts("", "".join(told)))
    return tuple(map(sum, zip(*counts)))


def main(build, arguments):
    names = [each for each in arguments if not each.startswith("--")]
    which = next((each.removeprefix("--versions=") for each in arguments if each.startswith("--versions=")), "")
    counts = []
    for environment in environments(build, which):
        if which:
            print(f"== {' '.join(environment.others) or 'requirements.txt'}", flush=True)
        counts.append(run_tests(environment, names, ["all"] if "--all" in arguments or os.environ.get("REPRISE_TESTS") == "all" else [], "--slowest" in arguments))
        if which:
            print("== {} passed, {} failed, {} skipped".format(*counts[-1]), flush=True)
    passed, failed, skipped = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
