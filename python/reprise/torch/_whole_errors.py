"""Collects all limits of the whole-compiler backend in one error."""

from __future__ import annotations

import re
from typing import Any, Iterable

from .._errors import Error


class Unsupported(Error):
    """Error about unsupported ops, each with the user's lines that need it."""

    def __init__(self, missing: dict[str, list[str]], advice: str = "") -> None:
        #: Lines of the user's source by missing op.
        self.missing = missing
        lines = [f"  {what} ({len(places)}x), first at {places[0]}" for what, places in sorted(missing.items())]
        super().__init__(f"the model needs what reprise lacks{advice}:\n" + "\n".join(lines))


def describe_subclasses(values: Iterable[Any]) -> str:
    """Returns what is missing for subclasses of tensors, and the backend that has it."""
    if any(type(each).__name__ == "DTensor" for each in values):
        return 'tensors of the class DTensor, as in tensor parallel layers, which backend="reprise_plan" plans'
    return "subclasses of tensors, such as nested ones"


def source_place(node: Any) -> tuple[str, int] | None:
    """File and line of the user's call that made a node."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return (found[-1][0], int(found[-1][1])) if found else None


def source_line(node: Any) -> str:
    """File, line and text of the user's call that made a node."""
    place = source_place(node)
    if place is None:
        return "an unknown place"
    lines = [line.strip() for line in node.meta["stack_trace"].splitlines() if line.strip(" ^~\n")]
    text = lines[-1]
    return f"{place[0]}:{place[1]}: {text}"
