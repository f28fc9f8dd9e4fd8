#!/usr/bin/env python3
"""Compares the checked-in pages of docs/reference/generated, and sources made from ODS, with those of the build.

Usage: check-docs.py BUILD      The last line is "N passed, N failed".
"""
import difflib
import os
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path):
    with open(path) as stream:
        return stream.read().splitlines(keepends=True)


def pages(folder):
    """File name -> lines, of all pages in a folder."""
    result = {}
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            result[name] = read(os.path.join(folder, name))
    return result


def sources(folder, names):
    """Returns path -> lines, for the existing files in a folder."""
    paths = {name: os.path.join(folder, name) for name in names}
    return {name: read(path) for name, path in paths.items() if os.path.exists(path)}


def main(build):
    made_sources = os.path.join(build, "docs", "sources")
    names = sorted(os.path.relpath(os.path.join(folder, name), made_sources)
                   for folder, _, files in os.walk(made_sources) for name in files)
    kept = pages(os.path.join(SOURCE, "docs", "reference", "generated")) | sources(SOURCE, names)
    made = pages(os.path.join(build, "docs", "generated")) | sources(made_sources, names)
    failed = 0 if made else 1
    if not made:
        print("failed: the build made no pages")
    for name in sorted(set(kept) | set(made)):
        if kept.get(name) != made.get(name):
            failed += 1
            print(f"failed: {name} is stale; run: make docs")
            sys.stdout.writelines(difflib.unified_diff(kept.get(name, []), made.get(name, []),
                                                       "checked in", "made from ODS"))
    print(f"{len(set(kept) | set(made)) - failed if made else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
