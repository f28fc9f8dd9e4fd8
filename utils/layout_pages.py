"""Checks of pages, for check-layout.py: links, paths, length, reachability, and the stamps of measured tables.

- Every link leads to a file of the tree, and its anchor to a heading of that page.
- Every page of docs is reached from docs/index.md.
- A path in backticks is that of a file or a folder, or the end of one: `Planning/Checkpoint`, `Cuda/TileEpilogue.h`. What it
  may be is known by its first folder or by its ending.
- A page or schema of docs that any other file names is there.
- No page is longer than 400 lines, and no sentence outside of tables and code than 28 words, but for generated pages.
- Tables of docs/reference/benchmarks stand between marks of the bench, with date, commit and machine.
"""
import fnmatch
import importlib.util
import itertools
import os
import posixpath
import re

LINES_PER_PAGE = 400
WORDS_PER_SENTENCE = 28
INDEX = "docs/index.md"
GENERATED = "docs/reference/generated/"
BENCHMARKS = "docs/reference/benchmarks/"
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
#: Begins of a list item, and lines that are no prose.
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
NO_PROSE = re.compile(r"\s*(?:$|[#|<]|!\[)")
END_OF_SENTENCE = re.compile(r"(?<=[.!?:])[*)]*\s+(?=[A-Z`*\[\"(\d])")
FENCE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
#: Endings of source files. Models, arrays and JSON are examples of readers more often than files of the tree.
SOURCE_ENDING = re.compile(r"\.(cpp|h|td|py|sh|c|cu|cmake|test|schema\.json|svg)$")
FOLDERS = ("cmake/", "docs/", "examples/", "include/", "kernels/", "lib/", "python/", "test/", "tools/", "utils/")
#: Pages and schemas as other files name them.
MENTION = re.compile(r"(?<![\w/])docs/[\w./-]+?\.(?:md|json)\b")
MENTIONING = (".cpp", ".h", ".td", ".py", ".sh", ".c", ".cmake", ".test", ".mlir", ".txt", "Makefile", ".yml")
#: Files that a reader makes, or that others have.
FOREIGN = re.compile(r"^(build/|[/.]|X\.)|MyThing|my-thing|TOOL")


def anchor_of(heading):
    """The anchor of a heading, as GitHub and the site make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Tree:
    """The files of a source tree, with their pages."""

    def __init__(self, files, read):
        self.read = read
        self.files = set(files)
        self.folders = {posixpath.dirname(each) for each in files}
        for folder in list(self.folders):
            while folder:
                self.folders.add(folder)
                folder = posixpath.dirname(folder)
        self.pages = sorted(each for each in self.files if each.endswith(".md"))
        self.ends = {}
        for each in self.files | self.folders:
            self.ends.setdefault(posixpath.basename(each), []).append(each)
        self.texts = {page: read(page) for page in self.pages}
        self.anchors = {page: {anchor_of(line.lstrip("#")) for line in FENCE.sub("", text).split("\n") if line.startswith("#")}
                        for page, text in self.texts.items()}

    def links(self, page):
        """(target, anchor) of each link to the tree."""
        for target in LINK.findall(FENCE.sub("", self.texts[page])):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            yield (posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page), anchor

    def has(self, path):
        """Tells whether a path or the end of one exists; * and {a,b} mean what they mean in a shell."""
        variants = [path]
        group = re.search(r"\{([^{}]*)\}", path)
        if group:
            variants = [path[:group.start()] + word + path[group.end():] for word in group.group(1).split(",")]
            return all(map(self.has, variants))
        path = path.removeprefix("…/").rstrip("/")
        if "*" in path:
            return any(fnmatch.fnmatch(each, path) or fnmatch.fnmatch(each, "*/" + path) for each in self.files | self.folders)
        # Rooms of tools are named without the ending of their file.
        return any(each == name or each.endswith("/" + name) for name in (path, path + ".cpp")
                   for each in self.ends.get(posixpath.basename(name), ()))


def is_path(text):
    """Tells whether words in backticks must be a path of the tree."""
    if not re.fullmatch(r"[\w./*{},…+-]+", text) or FOREIGN.search(text) or text.startswith("-"):
        return False
    return bool(SOURCE_ENDING.search(text)) or text.startswith(FOLDERS)


def check_links(tree):
    for page in tree.pages:
        bad = []
        for target, anchor in tree.links(page):
            if target not in tree.files and target not in tree.folders:
                bad.append(f"{target} is not there")
            elif anchor and target in tree.anchors and anchor not in tree.anchors[target] and not target.startswith(GENERATED):
                bad.append(f"{target} has no heading #{anchor}")
        yield f"{page} (links)", "has a bad link: " + "; ".join(bad) if bad else None


def check_reach(tree):
    """Every page of docs can be reached from the index."""
    if INDEX not in tree.texts:
        return
    reached, ahead = {INDEX}, [INDEX]
    while ahead:
        for target, _ in tree.links(ahead.pop()):
            if target in tree.texts and target not in reached:
                reached.add(target)
                ahead.append(target)
    for page in tree.pages:
        if page.startswith("docs/"):
            yield f"{page} (reach)", None if page in reached else f"is not reached from {INDEX}"


def check_paths(tree):
    for page in tree.pages:
        if page.startswith(GENERATED):
            continue
        text = FENCE.sub("", tree.texts[page])
        # A span may hold several paths, and a command its arguments: only a lone word is a path.
        gone = sorted({word for word in SPAN.findall(text) if is_path(word) and not tree.has(word)})
        yield f"{page} (paths)", f"names what is not there: {', '.join(gone)}" if gone else None


def check_mentions(tree):
    """Sources, tests and scripts name pages and schemas that are there; tests of this check name others."""
    for name in sorted(tree.files):
        if not name.endswith(MENTIONING) or name.startswith(("docs/", "test/Utils/")):
            continue
        gone = sorted({path for path in MENTION.findall(tree.read(name)) if path not in tree.files and "NAME" not in path})
        yield f"{name} (pages)", f"names pages that are not there: {', '.join(gone)}" if gone else None


def check_lengths(tree):
    for page in tree.pages:
        lines = tree.texts[page].count("\n")
        if lines > LINES_PER_PAGE and not page.startswith(GENERATED):
            yield f"{page} (length)", f"has {lines} lines, more than {LINES_PER_PAGE}"


def sentences(text):
    """Yields the sentences of paragraphs and list items; a colon ends one, since a list or a definition follows."""
    paragraphs = [""]
    for line in FENCE.sub("", text).split("\n"):
        item = ITEM.match(line)
        if NO_PROSE.match(line) or item:
            paragraphs.append("")
        if not NO_PROSE.match(line):
            paragraphs[-1] += line[item.end() if item else 0:] + "\n"
    for paragraph in paragraphs:
        yield from END_OF_SENTENCE.split(re.sub(r"\]\([^)]*\)", "]", paragraph))


def check_sentences(tree):
    for page in tree.pages:
        if page.startswith(GENERATED):
            continue
        long = [words for words in ([word for word in each.split() if re.search(r"\w", word)] for each in sentences(tree.texts[page]))
                if len(words) > WORDS_PER_SENTENCE]
        told = "; ".join(f"'{' '.join(words[:5])} …' has {len(words)}" for words in long)
        yield f"{page} (words)", f"has sentences of more than {WORDS_PER_SENTENCE} words: {told}" if long else None


def check_stamps(tree, source):
    path = os.path.join(source, "utils", "bench", "pages.py")
    if not os.path.exists(path):
        return
    spec = importlib.util.spec_from_file_location("bench_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for page in tree.pages:
        if page.startswith(BENCHMARKS):
            wrong = list(module.problems(tree.texts[page]))
            yield f"{page} (measured)", "; ".join(wrong) or None


def check_pages(files, read, source):
    """Yields (page, problem or None)."""
    tree = Tree(files, read)
    yield from itertools.chain(check_links(tree), check_reach(tree), check_paths(tree), check_mentions(tree),
                               check_lengths(tree), check_sentences(tree), check_stamps(tree, source))
