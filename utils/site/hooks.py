"""Hooks of the site's generator: navigation from the index, files outside of docs/, lists as the pages have them."""

import os
import posixpath
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?\)")
ITEM = re.compile(r" *(?:[-*]|\d+\.) ")

#: What Doxygen's pages add to ours, which the tree does not have.
DOXYGEN = {
    "reference/api/c.md": "\n## Pages\n\n[Files](c/files.md), [structs](c/annotated.md), [functions](c/functions.md), "
                          "[macros](c/macros.md)\n",
    "reference/api/cpp.md": "\n## Pages\n\n[Classes](cpp/annotated.md), [namespaces](cpp/namespaces.md), "
                            "[files](cpp/files.md), [class hierarchy](cpp/hierarchy.md)\n",
}


def read(path):
    with open(os.path.join(ROOT, path)) as stream:
        return stream.read()


def index_sections():
    """(title, [(title, pages)]) for each part of docs/index.md and the headings in it; pages above the first have no title."""
    parts, seen = [], set()
    for line in read("docs/index.md").split("\n"):
        heading = re.match(r"(#{2,3}) (.+)", line)
        if heading and heading.group(1) == "##":
            parts.append((heading.group(2), [("", [])]))
        elif heading:
            parts[-1][1].append((heading.group(2), []))
        for link in LINK.finditer(line) if parts else ():
            target = posixpath.normpath(link.group(2))
            if target.endswith(".md") and not target.startswith("..") and target not in seen:
                seen.add(target)
                parts[-1][1][-1][1].append(target)
    return parts


def nav_entry(page):
    """A page of the navigation; those that are made from ODS have no title of their own."""
    made = re.fullmatch(r"reference/generated/([A-Z][A-Za-z]+)(Dialect|Passes|Interface)\.md", page)
    kinds = {"Dialect": "Ops of", "Passes": "Passes of", "Interface": "Interface:"}
    return {f"{kinds[made.group(2)]} {made.group(1).lower()}": page} if made else page


def on_config(config):
    config.nav = [{"Reprise": "index.md"}]
    for title, groups in index_sections():
        groups = [(name, list(map(nav_entry, pages))) for name, pages in groups]
        entries = [entry for name, pages in groups for entry in ([{name: pages}] if name and pages else pages)]
        config.nav.append({title: entries})
    return config


def outside(page, target):
    """The path in the tree of a link that leaves docs/, or None."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return None if path.startswith("docs/") or re.match(r"[a-z]+:", target) else path


def on_files(files, config):
    """Files outside of docs/ that pages link to become files of the site, as texts."""
    paths = set()
    for page in [each for each in files if each.src_uri.endswith(".md") and each.abs_src_path]:
        with open(page.abs_src_path) as stream:
            paths |= {outside(page.src_uri, link.group(2)) for link in LINK.finditer(stream.read())}
    for path in sorted(filter(None, paths)):
        if os.path.isfile(os.path.join(ROOT, path)):
            files.append(File.generated(config, f"source/{path}.txt", content=read(path)))
    return files


def link_outside(page):
    def replace(link):
        path = outside(page, link.group(2))
        if not path:
            return link.group(0)
        if not os.path.isfile(os.path.join(ROOT, path)):  # a folder: its name is all that the site has of it
            return link.group(1)[1:-2]
        return f"{link.group(1)}{posixpath.relpath(f'source/{path}.txt', posixpath.dirname(page) or '.')})"
    return replace


def respace(markdown):
    """Lists of the pages follow a paragraph without an empty line and are indented by two columns: here both are doubled."""
    lines, fence, in_list, is_loose = [], None, False, False
    for line in markdown.split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith("```"):
            fence = indent if fence is None else None
        if fence is not None or line.lstrip().startswith("```"):
            lines.append(" " * (indent if fence is None else fence) + line)
            continue
        if not line.strip():
            lines.append(line)
            continue
        behind_gap = not lines or not lines[-1].strip()
        if ITEM.match(line):
            if not behind_gap and (not in_list or is_loose):
                lines.append("")
            in_list, is_loose = True, False
        elif behind_gap:
            in_list, is_loose = in_list and indent > 0, in_list and indent > 0
        if line.startswith("|"):  # in a code span of a table this generator needs no backslash before a bar
            line = re.sub(r"`[^`]*`", lambda span: span.group(0).replace("\\|", "|"), line)
        lines.append(" " * indent + line)
    return "\n".join(lines)


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri in DOXYGEN and config.plugins["mkdoxy"].is_enabled():
        markdown += DOXYGEN[page.file.src_uri]
    markdown = LINK.sub(link_outside(page.file.src_uri), markdown)
    return markdown if page.file.src_uri.startswith(("reference/api/c/", "reference/api/cpp/")) else respace(markdown)
