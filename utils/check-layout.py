#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not see.

Usage: check-layout.py [BUILD [SOURCE]]      SOURCE: the tree to check (default: the one that holds this file)

- A source file that defines a pass is named after it and has a test named after it: MyThing.cpp,
  def MyThingPass, test/**/my-thing.mlir.
- No source file is longer than 400 lines.
- No loose ends are marked in the code.
- Every #include goes from a room to one that the table of rooms in docs/explanation/Architecture.md allows.
- Every line of C++ stands as clang-format-22 puts it; skipped where that is not installed.
- No line of a page of docs is longer than 120 columns, tables and code blocks aside.
- No class has more than 25 methods.
- Every doc comment (/// and Python docstrings) begins with a verb or a noun, not with a word such as "of" or "that".
- Private names of PyTorch are imported in the seam of the Python package only: see layout_seam.py.
- Pages hang together, and what they name is there: see layout_pages.py.
Functions of more than 40 lines are listed, but are no failure. The last line is "N passed, N failed", with
", N skipped" behind it if something was skipped.
"""
import ast
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layout_pages  # noqa: E402
import layout_seam  # noqa: E402

SOURCE = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), ".."))
ROOMS_PAGE = "docs/explanation/Architecture.md"
FORMATTER = "clang-format-22"
COLUMNS = 120
LINES_PER_FILE = 400
LINES_PER_FUNCTION = 40
METHODS_PER_CLASS = 25
LOOSE_ENDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

# First words of doc comments without a subject.
DANGLING = re.compile(r"(the same|also|as|by|else|everything|it|its|not|nothing|of|one|otherwise|so|such|that|then|they|"
                      r"those|what|where|whether|which|whoever|without)\b|…", re.I)

CONTROL = re.compile(r"^ *(if|for|while|switch|else|\})")


def tree_files():
    """Lists tracked and new files, or all files of a tree without git."""
    names = None
    if shutil.which("git") and os.path.exists(os.path.join(SOURCE, ".git")):
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True)
        names = listed.stdout.split("\n") if listed.returncode == 0 else None
    return sorted(name for name in (walk() if names is None else names) if name and os.path.exists(os.path.join(SOURCE, name)))


def source_files(suffixes=(".cpp", ".h", ".cuh", ".cu", ".td", ".py", ".sh", ".mlir")):
    """Lists tracked and new files that people write, without data and generated pages."""
    for name in tree_files():
        if name.endswith(suffixes) and not name.startswith(("test/data/", "docs/reference/generated/")):
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


# Patterns that can hide a brace or a parenthesis: comments, strings, characters, lines of the preprocessor.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
CLASS_HEAD = re.compile(r"(?:.*[\s>])?(?:class|struct)\s+([\w:]+)\s*(?:<[^:]*>)?\s*(?:final)?\s*(?::(?!:).*)?$", re.S)
NO_METHOD = re.compile(r"(using|friend|typedef|static_assert|enum|class|struct|union)\b")
METHOD = re.compile(r"[^=({]*?(operator\b|~?\w+)[^\w=({]*\(", re.S)


def class_named(head):
    """The name of the class that `head`, the text before a brace, opens, or None."""
    match = CLASS_HEAD.match(head)
    return match.group(1) if match and "(" not in head[:match.start(1)] and "enum" not in head.split() else None


def method_named(declaration):
    """Returns the function name that a declaration in a class declares, or None if it declares no function."""
    text = re.sub(r"\b(public|private|protected)\s*:(?!:)", "", declaration).replace("->", " ").strip()
    while re.search(r"<[^<>]*>", text):
        text = re.sub(r"<[^<>]*>", "", text)
    match = None if NO_METHOD.match(text) else METHOD.match(text)
    return match.group(1) if match else None


def methods_of_classes(text):
    """Returns class -> names of its methods as its body declares them, an overload for each.

    Constructors, destructors and operators are not counted: a class cannot give them to free functions.
    """
    text = OPAQUE.sub(" ", text)
    classes, open_braces, start, parentheses = {}, [], 0, 0

    def declare(end):
        owner = open_braces[-1][0] if open_braces else None
        name = method_named(text[start:end]) if owner else None
        if name and name != owner.split("::")[-1] and not name.startswith(("~", "operator")):
            classes[owner].append(name)

    for mark in re.finditer(r"[{};()]", text):
        if mark.group() in "()":
            parentheses += 1 if mark.group() == "(" else -1
            continue
        if mark.group() == "{":
            name = None if parentheses else class_named(text[start:mark.start()])
            if name:
                outer = open_braces[-1][0] if open_braces else None
                name = f"{outer}::{name}" if outer else name
                classes.setdefault(name, [])
            elif not parentheses:
                declare(mark.start())
            open_braces.append((name, parentheses))
            parentheses = 0
        elif mark.group() == "}" and open_braces:
            parentheses = open_braces.pop()[1]
        elif not parentheses:
            declare(mark.start())
        start = start if parentheses else mark.end()
    return classes


def check_methods(files):
    """Yields (file, problem or None): no class of the product or its tools has too many methods."""
    for name in files:
        if not name.startswith(("include/", "lib/", "tools/", "utils/")) or not name.endswith((".h", ".cpp")):
            continue
        for owner, methods in methods_of_classes(read(name)).items():
            problem = f"has {len(methods)} methods, more than {METHODS_PER_CLASS}; what needs no invariant is a function"
            yield f"{name} class {owner}", problem if len(methods) > METHODS_PER_CLASS else None


def doc_comments(name):
    """Yields (number of the first line, text) for each doc comment of a file."""
    text = read(name)
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if ast.get_docstring(node):
                    yield node.body[0].lineno, ast.get_docstring(node)
        return
    for block in re.finditer(r"(?:^[ \t]*///(?!<)[^\n]*\n)+", text, re.M):
        yield text.count("\n", 0, block.start()) + 1, block.group().strip().lstrip("/ ")


def check_words(files):
    """Yields (file, problem or None): doc comments must begin with a verb or a noun."""
    for name in files:
        if not name.endswith((".h", ".cpp", ".cuh", ".cu", ".td", ".py")):
            continue
        bad = [f"line {line} with '{DANGLING.match(text).group()}'" for line, text in doc_comments(name)
               if DANGLING.match(text)]
        yield f"{name} doc comments", f"begin without a verb or a noun: {', '.join(bad)}" if bad else None


def read_rooms():
    """Returns room -> rooms that it may include, from the table in the page of the architecture."""
    rooms = {}
    inside = False
    for line in read(ROOMS_PAGE).split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == "room" and cells[-1] == "may include":
            inside = True
        elif inside and re.match(r"`[^`]+`$", cells[0]):
            rooms[cells[0].strip("`")] = set(re.findall(r"`([^`]+)`", cells[-1]))
    return rooms


def room_of(path, rooms):
    """Returns the innermost room that holds a file. X.h and X.cpp belong to the folder X beside them."""
    path = re.sub(r"^(include|lib)/", "", path).removeprefix("reprise/")
    if path.startswith(("mlir/", "llvm/")):
        return path.split("/")[0].upper()
    room = path.split(".")[0]
    while room and room not in rooms:
        room = os.path.dirname(room)
    return room or path


def included_file(name, included, files):
    """Returns the path of a quoted include, found as the compiler finds it: beside the file, otherwise in a root."""
    for folder in (os.path.dirname(name), "include", "kernels"):
        path = os.path.normpath(os.path.join(folder, included))
        if path in files:
            return path
    return "include/" + included if included.startswith("reprise") else included


def check_arrows(files):
    """Yields (file, problem or None): included files must lie in a room that the file's room may include."""
    rooms = read_rooms()
    if not rooms:
        yield ROOMS_PAGE, "has no table of rooms"
        return
    above = {"MLIR", "LLVM"}
    for room, others in rooms.items():
        for other in sorted(others - above):
            yield ROOMS_PAGE, f"lets {room} include {other}, which is no room above it in the table"
        above.add(room)
    names = set(files)
    for name in files:
        if not name.startswith(("include/", "lib/", "tools/")) or not name.endswith((".h", ".cpp", ".td")):
            continue
        room = room_of(name, rooms)
        allowed = rooms.get(room, set()) | {room}
        bad = []
        for included in re.findall(r'^\s*#?include "([^"]+)"', read(name), re.M):
            target = room_of(included_file(name, included, names), rooms)
            if target not in allowed and not (target == "LLVM" and "MLIR" in allowed):
                bad.append(f"{included} of {target}")
        if room not in rooms:
            yield name, f"lies in no room of {ROOMS_PAGE}"
        elif bad:
            yield name, (f"includes {', '.join(bad)}; {room} may include "
                         f"{', '.join(sorted(rooms[room])) or 'nothing'} ({ROOMS_PAGE})")
        else:
            yield name, None


def check_format(files):
    """Yields (file, problem or None), or nothing if the formatter is not installed."""
    if not shutil.which(FORMATTER):
        return
    sources = [name for name in files if name.endswith((".cpp", ".h"))]
    result = subprocess.run([FORMATTER, "--dry-run", *sources], cwd=SOURCE, capture_output=True, text=True)
    wrong = set(re.findall(r"^([^:\s]+):\d+:\d+: warning: code should be clang-formatted", result.stderr, re.M))
    for name in sources:
        yield name, f"is not as {FORMATTER} puts it" if name in wrong else None
    if result.returncode != 0:
        yield FORMATTER, f"ended with {result.returncode}: {result.stderr.strip()}"


def wide_lines(name):
    """Yields the numbers of lines of prose that are too long; lines that cannot be cut, such as links, are excluded."""
    in_code = False
    for number, line in enumerate(read(name).split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif len(line) > COLUMNS and not in_code and not line.startswith(("|", "*Measured ")) and " " in line.strip()[:COLUMNS]:
            yield number


def check_width():
    for name in source_files((".md",)):
        wide = list(wide_lines(name))
        yield name, f"has lines of more than {COLUMNS} columns: {', '.join(map(str, wide))}" if wide else None


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
    checks = (check_passes, check_files, check_arrows, check_format, check_methods, check_words)
    results = [result for check in checks for result in check(files)]
    results += layout_seam.check_seam(files, read)
    results += check_width()
    results += layout_pages.check_pages(tree_files(), read, SOURCE)
    failures = [f"{name} {problem}" for name, problem in results if problem]
    for name in files:
        if name.endswith((".cpp", ".h")):
            for line in long_functions(name):
                print("note:", line)
    for failure in failures:
        print("failed:", failure)
    skipped = "" if shutil.which(FORMATTER) else ", 1 skipped"
    if skipped:
        print(f"skipped: the format of C++, since {FORMATTER} is not installed")
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed{skipped}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
