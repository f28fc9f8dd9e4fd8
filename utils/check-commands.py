#!/usr/bin/env python3
"""Runs the commands of README and the pages of docs.

Usage: check-commands.py BUILD [PAGE]...      Works in the current folder. The last line is "N passed, N failed".

Each page gets a fresh folder that looks like the source tree, with BUILD as `build`, and runs there from top to bottom:

- A block ```sh runs as a shell script; shell variables and files stay for the next block. Each is one check.
- A block ```output behind it holds lines that the script prints, in this order; … stands for any text.
- <!-- file: PATH --> before a block: the block is written to PATH if no such file exists; otherwise it must be a part
  of that file.
- <!-- no-run: REASON --> before a block ```sh: bash only reads it, and does not run it.
- A block ```python is only parsed; examples/ has programs that run.
"""
import ast
import os
import re
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"(?:^<!-- (?P<mark>file|no-run): (?P<about>.+?) -->\n+)?^```(?P<kind>[a-z]*)\n(?P<text>.*?)^```$", re.M | re.S)
SECONDS_PER_PAGE = 240
results = []


def note(name, problem=None):
    results.append(not problem)
    print(f"{'failed' if problem else 'ok'}: {name}", *([problem] if problem else []), sep="\n  ", flush=True)


def make_folder(build, page):
    """Makes a folder like the source tree, in which new files disturb nothing."""
    folder = os.path.abspath(page.replace("/", "-") + ".run")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
    os.symlink(build, os.path.join(folder, "build"))
    return folder


def holds_lines(text, part):
    """Returns whether the lines of `part` are consecutive lines of `text`; indents are ignored."""
    lines, wanted = ([line.strip() for line in side.strip().split("\n")] for side in (text, part))
    return any(lines[at:at + len(wanted)] == wanted for at in range(len(lines)))


def check_output(name, text, expected):
    at = 0
    lines = text.split("\n")
    for line in filter(str.strip, expected.split("\n")):
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("…"))))
        found = next((i for i in range(at, len(lines)) if pattern.fullmatch(lines[i].strip())), None)
        if found is None:
            return note(name, f"does not print the line '{line.strip()}' but\n{text}")
        at = found + 1
    note(name)


class Shell:
    """Shell of one page, which reports the exit code of every block."""

    def __init__(self, build, folder):
        path = os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]
        self.folder, self.end = folder, time.time() + SECONDS_PER_PAGE
        self.environment = dict(os.environ, PATH=path, REPRISE_SOURCE=SOURCE, REPRISE_BUILD=build)
        self.state = os.path.join(folder, ".state")

    def run(self, text):
        """Returns the exit code and the output."""
        keep = f"trap 'status=$?; declare -px > {self.state}; pwd > {self.state}.folder; exit $status' EXIT"
        load = f"[ ! -e {self.state} ] || {{ . {self.state}; cd \"$(cat {self.state}.folder)\"; }}"
        left = max(1, self.end - time.time())
        try:
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", "\n".join((load, keep, text))], cwd=self.folder,
                                  env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=left)
        except subprocess.TimeoutExpired as late:
            return "timeout", (late.stdout or b"").decode(errors="replace")
        return done.returncode, done.stdout.decode(errors="replace")


def check_file(name, folder, path, text):
    target = os.path.join(folder, path)
    if not os.path.exists(target):
        with open(target, "w") as stream:
            stream.write(text)
        return
    with open(target) as stream:
        note(name, None if holds_lines(stream.read(), text) else f"is no part of {path}")


def parse_python(text):
    """Returns what is wrong with a program, or None."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return None


def check_page(build, page):
    with open(os.path.join(SOURCE, page)) as stream:
        source = stream.read()
    folder = make_folder(build, page)
    shell, printed = Shell(build, folder), ""
    for block in BLOCK.finditer(source):
        name = f"{page}:{source.count(chr(10), 0, block.start('kind')) + 1}"
        if block["mark"] == "file":
            check_file(name, folder, block["about"], block["text"])
        elif block["kind"] == "output":
            check_output(name, printed, block["text"])
        elif block["kind"] == "python":
            note(f"{name}, parsed", parse_python(block["text"]))
        elif block["kind"] == "sh" and block["mark"] == "no-run":
            done = subprocess.run(["bash", "-n", "-c", block["text"]], capture_output=True, text=True)
            note(f"{name}, not run: {block['about']}", done.stderr if done.returncode else None)
        elif block["kind"] == "sh":
            code, printed = shell.run(block["text"])
            note(name, f"ends with {code}\n{block['text']}\n{printed[-4000:]}" if code else None)
            if code:
                return


def pages():
    yield "README.md"
    for folder, folders, names in os.walk(os.path.join(SOURCE, "docs")):
        folders[:] = sorted(name for name in folders if name != "generated")
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), SOURCE)


def main(build, chosen):
    for page in chosen or pages():
        start = time.time()
        before = len(results)
        check_page(os.path.abspath(build), page)
        if len(results) > before:
            print(f"  {page}: {time.time() - start:.1f} s")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
