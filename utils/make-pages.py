#!/usr/bin/env python3
"""Makes the reference pages of flags and of JSON files, from the tools' manuals and from the schemas.

Usage: make-pages.py MANUALS SCHEMAS OUT      MANUALS: the folder of man pages that a build makes; SCHEMAS: docs/reference/schemas
"""
import glob
import json
import os
import re
import sys


def plain(text):
    return text.replace("\\-", "-").replace("\\&", "").replace("\\\\", "\\")


def cell(text):
    return plain(text).replace("|", "\\|")


def rows_of(lines):
    """The entries of a section of a manual: (bold word, text)."""
    rows = []
    for line in lines:
        if line.startswith(".B "):
            rows.append([line[3:], ""])
        elif not line.startswith(".") and rows:
            rows[-1][1] += (" " if rows[-1][1] else "") + line
    return rows


def table(heads, rows):
    body = [f"| {heads[0]} | {heads[1]} |", "|---|---|"]
    return "\n".join(body + [f"| `{cell(name)}` | {cell(text)} |" for name, text in rows])


def flag_page(manual):
    """A tool's page, from the text of its manual."""
    parts = re.split(r"^\.S([HS]) (.*)$", manual, flags=re.M)
    sections = [(parts[i], plain(parts[i + 1]).strip('"'), parts[i + 2].strip().split("\n")) for i in range(1, len(parts), 3)]
    head = {title: lines for kind, title, lines in sections if kind == "H"}
    name, summary = plain(head["NAME"][0]).split(" - ", 1)
    usage = " ".join(plain(line.removeprefix(".B ")) for line in head["SYNOPSIS"])
    page = [f"# {name}", f"After this page you know every flag of `{name}`, which {summary}." if not summary.startswith("mlir-opt")
            else f"After this page you know what `{name}` adds to mlir-opt: {summary}.", f"```\n{usage}\n```"]
    for kind, title, lines in sections:
        if kind == "S":
            page += [f"## {title}", table(("flag" if title not in ("Operands",) else "operand", "meaning"), rows_of(lines))]
        elif title in ("EXAMPLES", "EXIT STATUS"):
            page += [f"## {title.capitalize()}", table(("command" if title == "EXAMPLES" else "code", "meaning"), rows_of(lines))]
    return name, "\n\n".join(page) + "\n"


def kind_of(schema):
    """Describes a member in words."""
    if "$ref" in schema:
        return "[" + schema["$ref"].split("/")[-1] + "](#" + schema["$ref"].split("/")[-1].lower() + ")"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(kind_of(each) for each in schema[key]))
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if "array" in kind and isinstance(schema.get("items"), dict):
        return f"{kind} of {kind_of(schema['items'])}"
    bounds = [f"{word} {schema[key]:g}" for key, word in (("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"))
              if key in schema]
    return kind + (f" ({', '.join(bounds)})" if bounds else "")


def describe(schema, path=""):
    """Rows (member, kind, meaning) of an object and of what lies in it."""
    for each in schema.get("oneOf", []) + schema.get("anyOf", []) + schema.get("allOf", []):
        yield from describe(each, path)
    if isinstance(schema.get("items"), dict):
        yield from describe(schema["items"], path + "[]")
    required = set(schema.get("required", ()))
    for name, member in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        meaning = member.get("description", "")
        yield f"`{here}`" + ("" if name in required else " (optional)"), kind_of(member), meaning
        yield from describe(member, here)


def schema_page(path):
    """A JSON file's page, from its schema."""
    with open(path) as stream:
        schema = json.load(stream)
    file = os.path.basename(path)
    name = file.removesuffix(".schema.json")
    title = schema.get("title", name)
    page = [f"# {name}.json", f"After this page you know every member of this file: {title[0].lower() + title[1:]}. "
            f"[The schema](../schemas/{file}) says the same to a program."]
    for title, part in [("Members", schema), *schema.get("$defs", {}).items()]:
        rows = list(describe(part))
        if rows or title != "Members":
            page.append(f"## {title}")
            if part.get("description"):
                page.append(part["description"][0].upper() + part["description"][1:] + ".")
            if rows:
                lines = [f"| {member} | {kind.replace('|', chr(92) + '|')} | {meaning.replace('|', chr(92) + '|')} |" for member, kind, meaning in rows]
                page.append("\n".join(["| member | kind | meaning |", "|---|---|---|", *lines]))
            elif title != "Members":
                page.append(f"One of: {kind_of(part)}.")
    return name, "\n\n".join(page) + "\n"


def main(manuals, schemas, out):
    os.makedirs(out, exist_ok=True)
    for path in sorted(glob.glob(os.path.join(manuals, "*.1"))):
        with open(path) as stream:
            name, page = flag_page(stream.read())
        with open(os.path.join(out, name + ".md"), "w") as stream:
            stream.write(page)
    for path in sorted(glob.glob(os.path.join(schemas, "*.schema.json"))):
        name, page = schema_page(path)
        with open(os.path.join(out, f"json-{name}.md"), "w") as stream:
            stream.write(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
