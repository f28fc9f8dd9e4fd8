#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not see.

Usage: check-layout.py [BUILD]

- A source file that defines a pass is named after it and has a test named after it: MyThing.cpp,
  def MyThingPass, test/**/my-thing.mlir.
- No source file is longer than 400 lines.
- No loose ends are marked in the code.
Functions of more than 40 lines are listed, but are no failure. The last line is "N passed, N failed".
"""
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES_PER_FILE = 400
LINES_PER_FUNCTION = 40
LOOSE_ENDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

CONTROL = re.compile(r"^ *(if|for|while|switch|else|\})")


def source_files():
    """Tracked and new files that people write; data and generated pages are not among them."""
    names = None
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True)
        names = listed.stdout.split("\n") if listed.returncode == 0 else None
    if names is None:
        names = walk()
    for name in sorted(names):
        excluded = name.startswith(("test/data/", "docs/generated/"))
        if name.endswith((".cpp", ".h", ".cuh", ".cu", ".td", ".py", ".sh", ".mlir")) and not excluded:
            if os.path.exists(os.path.join(SOURCE, name)):
                yield name


def walk():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if not name.startswith(("build", "."))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), SOURCE)


def read(name):
    with open(os.path.join(SOURCE, name), errors="replace") as stream:
        return stream.read()


def kebab(name):
    """MyThing2Do -> my-thing2-do, as clang's and MLIR's pass names go."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def check_passes(files):
    """Yields (description, problem or None) for every file that defines a pass."""
    tests = {os.path.basename(name) for name in files if name.startswith("test/")}
    for name in files:
        if not name.startswith("lib/") or not name.endswith(".cpp"):
            continue
        passes = re.findall(r"#define GEN_PASS_DEF_(\w+)", read(name))
        stem = os.path.splitext(os.path.basename(name))[0]
        for found in passes:
            problem = None
            if found != stem.upper() + "PASS":
                problem = f"defines {found}; a pass stands alone in the file of its name"
            elif kebab(stem) + ".mlir" not in tests:
                problem = f"has no test {kebab(stem)}.mlir"
            yield f"{name} defines {found}", problem


def check_files(files):
    for name in files:
        text = read(name)
        lines = text.count("\n")
        if lines > LINES_PER_FILE:
            yield name, f"has {lines} lines, more than {LINES_PER_FILE}"
        elif LOOSE_ENDS.search(text):
            yield name, "has a loose end: " + LOOSE_ENDS.search(text).group(0)
        else:
            yield name, None


def long_functions(name):
    """Bodies from a line that ends with ') … {' to the brace at the indent of the signature."""
    start, indent, lead = None, "", ""
    for number, line in enumerate(read(name).split("\n"), 1):
        if start is None:
            if re.match(r"^( {2})?[A-Za-z~\[]", line):
                lead = re.match(r"^ *", line).group(0)
            if re.match(r"^ *[^/ #].*\)( const| override| noexcept)* \{$", line) and not CONTROL.match(line):
                start, indent = number, lead
        elif line.startswith(indent + "}"):
            if number - start + 1 > LINES_PER_FUNCTION:
                yield f"{name}:{start}: a function of {number - start + 1} lines"
            start = None


def main():
    files = list(source_files())
    results = list(check_passes(files)) + list(check_files(files))
    failures = [f"{name} {problem}" for name, problem in results if problem]
    for name in files:
        if name.endswith((".cpp", ".h")):
            for line in long_functions(name):
                print("note:", line)
    for failure in failures:
        print("failed:", failure)
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
