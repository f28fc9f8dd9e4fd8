#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over the sources of a build folder.

Usage: tidy.py BUILD [--jobs=J] [FILE]...

Without files it runs over every source that the build compiles. Prints each finding once. The last line is
"N passed, N failed", which counts sources.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOL = "clang-tidy-22"


def list_sources(build, wanted):
    with open(os.path.join(build, "compile_commands.json")) as stream:
        files = {os.path.realpath(entry["file"]) for entry in json.load(stream)}
    files = {path for path in files if path.startswith(SOURCE + os.sep) and path.endswith(".cpp") and not path.startswith(build + os.sep)}
    if wanted:
        wanted = {os.path.realpath(path) for path in wanted}
        if not wanted <= files:
            sys.exit(f"error: the build does not compile {', '.join(sorted(wanted - files))}")
        files = wanted
    return sorted(files)


def check(build, path):
    """Returns whether the file is clean, and its findings: each a line with what follows it."""
    done = subprocess.run([TOOL, "-p", build, "--quiet", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = done.stdout.decode(errors="replace")
    findings = re.split(r"^(?=/\S+:\d+:\d+: (?:warning|error))", text, flags=re.M)
    return done.returncode == 0, [finding for finding in findings if finding.strip()] or [done.stderr.decode(errors="replace")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder whose targets have been built")
    parser.add_argument("files", nargs="*", help="sources (all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of files at a time (one per core)")
    options = parser.parse_intermixed_args()
    if not shutil.which(TOOL):
        sys.exit(f"error: no {TOOL}: install it by utils/install-deps.sh --optional")
    build = os.path.realpath(options.build)
    sources, seen, failed = list_sources(build, options.files), set(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (is_clean, findings) in zip(sources, pool.map(lambda path: check(build, path), sources)):
            failed += not is_clean
            if not is_clean:
                print(f"FAILED: {os.path.relpath(path, SOURCE)}")
                print("".join(finding for finding in findings if finding not in seen), flush=True)
                seen.update(findings)
    print(f"{len(sources) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
