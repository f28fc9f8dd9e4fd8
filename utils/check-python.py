#!/usr/bin/env python3
"""Builds the wheel of the Python package, installs it into a fresh environment, and runs test/Python there.

Usage: check-python.py BUILD      Works in the current folder. The last line is "N passed, N failed[, N skipped]".

If nanobind, scikit-build-core or NumPy can neither be found nor installed, all tests are skipped.
"""
import glob
import os
import re
import subprocess
import sys
import sysconfig

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NEEDED = ["nanobind>=2.8", "scikit-build-core>=0.10", "numpy"]
# Libraries of a machine without LLVM: the C library's parts, and the unwinder of exceptions.
SYSTEM = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
          "ld-linux-x86-64.so.2", "libgcc_s.so.1"}
# Oldest supported glibc: that of Ubuntu 18.04.
GLIBC = 27
results = []


def run(command, **arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LD_LIBRARY", "PYTHON"))}
    environment.update(arguments.pop("env", {}))
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, **arguments)


def check(name, good, detail=""):
    results.append(good)
    print("ok:" if good else "failed:", name)
    if not good:
        print(detail)
    return good


def make_environment(name, *packages):
    """Returns the folder of its programs, or None if a package cannot be had."""
    done = run([sys.executable, "-m", "venv", name])
    if done.returncode == 0:
        done = run([f"{name}/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", *packages])
    if done.returncode:
        print(done.stdout[-2000:])
    return None if done.returncode else f"{name}/bin"


def find_missing():
    """Returns what the machine lacks to build a wheel, or None."""
    if not glob.glob("/usr/lib/llvm-22/lib/libMLIRIR.a"):
        return "LLVM's static libraries"
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        return "Python's headers"
    return None


def shared_zstd(build):
    """Returns the shared library of zstd, if the static one could not be linked."""
    with open(os.path.join(build, "CMakeCache.txt")) as stream:
        found = re.search(r"^static_zstd:\w+=(.*)$", stream.read(), re.M)
    return set() if not found or found.group(1).endswith(".a") else {"libzstd.so.1"}


def check_libraries(build):
    """The package names no library that a bare machine lacks."""
    for library in glob.glob("use/lib/python*/site-packages/reprise/*.so"):
        lines = run(["readelf", "-d", library]).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", lines)) - SYSTEM - {"libRepriseC.so"} - shared_zstd(build)
        check(f"{os.path.basename(library)} needs a C library alone", not needed, str(needed))
        if os.uname().machine == "x86_64":
            versions = run(["readelf", "-W", "--version-info", library]).stdout
            newer = [v for v in re.findall(r"Name: GLIBC_2\.(\d+)", versions) if int(v) > GLIBC]
            check(f"{os.path.basename(library)} needs glibc 2.{GLIBC} at most", "GLIBC_2" in versions and not newer,
                  str(newer))


def check_name(name, build):
    """Checks the platform in the wheel's name, which indexes and pip rely on."""
    platform = name[:-len(".whl")].rsplit("-", 1)[1]
    if os.uname().machine == "x86_64" and not shared_zstd(build):
        version = re.fullmatch(r"manylinux_2_(\d+)_x86_64", platform)
        check("the wheel's name has its glibc", version and int(version.group(1)) <= GLIBC, platform)


def run_tests(build):
    environment = {"REPRISE_SOURCE": SOURCE, "REPRISE_BUILD": build}
    for test in sorted(glob.glob(os.path.join(SOURCE, "test", "Python", "test_*.py"))):
        done = run(["use/bin/python", test, "--verbose"], env=environment)
        lines = re.findall(r"^(test_\w+) .*?\.\.\. (?:.*\n)*?.*?(ok|FAIL|ERROR)$", done.stdout, re.M)
        for name, word in lines:
            check(f"{os.path.basename(test)}: {name}", word == "ok", done.stdout)
        check(f"{os.path.basename(test)} ends well", done.returncode == 0 and lines, done.stdout)


def main(build):
    if missing := find_missing():
        print(f"skipped: {missing} are not installed")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    tools = make_environment("make", *NEEDED)
    if not tools:
        print("skipped: nanobind and scikit-build-core cannot be installed")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    # The tests' environment has only the packages that the wheel requires.
    for name in glob.glob("reprise-*.whl"):
        os.remove(name)
    wheel = run([f"{tools}/pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir=.", os.path.join(SOURCE, "python"),
                 f"--config-settings=cmake.define.REPRISE_BUILD={build}",
                 f"--config-settings=build-dir={os.path.abspath('wheel')}"])
    if check("build the wheel", wheel.returncode == 0, wheel.stdout):
        name = glob.glob("reprise-*.whl")[0]
        print(f"{name}: {os.path.getsize(name) / 1e6:.1f} MB")
        if check("install it", make_environment("use", name)):
            check_libraries(build)
            check_name(name, build)
            run_tests(build)
    print(f"{sum(map(bool, results))} passed, {len(results) - sum(map(bool, results))} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
