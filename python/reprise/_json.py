"""Reads JSON files of users, with errors at line and column."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any

from ._errors import Error

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<colon>\s*:)?|[{}]')


def load_json(path: str | os.PathLike[str]) -> Any:
    """The content of a file. Errors: no JSON, a key that stands twice in one object, a byte-order mark."""
    text, name = pathlib.Path(path).read_text(encoding="utf-8"), os.fspath(path)
    if text.startswith("\ufeff"):
        raise _error("unexpected byte-order mark: save the file as UTF-8 without it", name, text, 0)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise _error(f"syntax error: {error.msg}", name, text, error.pos) from None
    repeated = _find_repeated(text)
    if repeated:
        raise _error(f"the key '{repeated[0]}' is repeated", name, text, repeated[1])
    return content


def _find_repeated(text: str) -> tuple[str, int] | None:
    """Returns the first repeated key of an object in valid JSON, and its place."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            keys.append(set())
        elif token[0] == "}":
            keys.pop()
        elif token["colon"]:
            key = json.loads(token[0][:-len(token["colon"])])
            if key in keys[-1]:
                return key, token.start()
            keys[-1].add(key)
    return None


def _error(message: str, name: str, text: str, at: int) -> Error:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Error(message, name, line, column, f"{name}:{line}:{column}: error: {message}")
