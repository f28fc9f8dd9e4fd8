#!/usr/bin/env python3
"""The tables of docs/reference/benchmarks: the bench writes them, each with its date, commit and machine.

Usage: pages.py                        lists all tables, with the number of commits since each that changed what is measured
       pages.py NAME [MACHINE] < ROWS  writes a table of Markdown that another script prints, such as torch_plans.py

A table of a page stands between two marks, and ends with its stamp:

    <!-- bench: memory.resident -->
    | model | arena |
    |---|---:|
    | gpt2 | 405.6 |

    *Measured on 2026-11-20 at commit 1234abc, on AMD EPYC 9354 (family 25, model 17), 2 cores.*
    <!-- end -->

`bench.py --pages` replaces what stands between the marks of each table that it has measured. A table that no page has marks
for is not written anywhere, and a line says so.
"""
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- bench: (?P<name>[\w.-]+) -->\n(?P<body>.*?)<!-- end -->\n", re.S)
STAMP = re.compile(r"^\*Measured (?P<when>on|not after) (?P<date>\d{4}-\d\d-\d\d) at commit (?P<commit>[0-9a-f]{7,40})(?P<more>[^,]*), "
                   r"on (?P<machine>.+)\.\*$", re.M)
MEASURED = ("lib", "include", "kernels", "python", "tools")


def git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)


def make_stamp(machine, root=ROOT):
    """The last line of a table that is measured now."""
    commit = git(root, "rev-parse", "--short", "HEAD").stdout.strip() or "0000000"
    changed = " with changes" if git(root, "status", "--porcelain", "--", *MEASURED).stdout.strip() else ""
    words = f"{machine['cpu']} (family {machine['family']}, model {machine['model']}), {machine['cores']} cores, {machine['vectors']}"
    return f"*Measured on {datetime.date.today()} at commit {commit}{changed}, on {words}.*"


def make_table(heads, rows):
    """A table of Markdown: numbers to the right."""
    lines = [list(map(str, row)) for row in [heads, *rows]]
    rules = ["---"] + ["---:"] * (len(heads) - 1)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [lines[0], rules, *lines[1:]])


def write(tables, stamp, folder=ROOT / "docs" / "reference" / "benchmarks"):
    """Writes tables, name -> (heads, rows), into the pages of a folder; returns the names that no page has marks for."""
    missing = set(tables)
    for page in sorted(folder.glob("*.md")):
        text = page.read_text()

        def replace(block):
            if block["name"] not in tables:
                return block.group(0)
            missing.discard(block["name"])
            return f"<!-- bench: {block['name']} -->\n{make_table(*tables[block['name']])}\n\n{stamp}\n<!-- end -->\n"

        changed = BLOCK.sub(replace, text)
        if changed != text:
            page.with_suffix(".md.new").write_text(changed)
            page.with_suffix(".md.new").rename(page)
            print(f"wrote {page}")
    return sorted(missing)


def problems(text):
    """Returns what is wrong with the marks of a page: tables without them, or without a stamp."""
    for block in BLOCK.finditer(text):
        if not STAMP.search(block["body"]):
            yield f"has a table '{block['name']}' without date, commit and machine"
    rest = BLOCK.sub("", text)
    if re.search(r"^\|", rest, re.M) and not rest.startswith("# Benchmarks"):  # that page lists the others
        yield f"has a table outside of marks: {re.search(r'^[|].*$', rest, re.M).group(0)[:60]}"
    if "<!-- bench:" in rest or "<!-- end -->" in rest:
        yield "has a mark without its other one"


def write_rows(name, machine, text):
    """Puts the lines of `text` that are rows between the marks of a name."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.split("\n") if line.startswith("|")]
    body = [row for row in rows[1:] if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    if not body:
        return f"error: there are no rows to write for '{name}'"
    import common
    stamp = make_stamp(common.machine())
    if machine:
        stamp = re.sub(r", on .*", f", on {machine}.*", stamp)
    return f"error: no page has marks for '{name}'" if write({name: (rows[0], body)}, stamp) else None


def main():
    if len(sys.argv) > 1:
        return write_rows(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, sys.stdin.read())
    for page in sorted((ROOT / "docs" / "reference" / "benchmarks").glob("*.md")):
        for block in BLOCK.finditer(page.read_text()):
            stamp = STAMP.search(block["body"])
            if not stamp:
                print(f"{page.name}: {block['name']}: no stamp")
                continue
            count = git(ROOT, "rev-list", "--count", f"{stamp['commit']}..HEAD", "--", *MEASURED)
            since = f"{count.stdout.strip()} commits since" if count.returncode == 0 else "the commit is not in this clone"
            print(f"{page.name}: {block['name']}: {stamp['when']} {stamp['date']}, {stamp['commit']}, {since}")


if __name__ == "__main__":
    sys.exit(main())
