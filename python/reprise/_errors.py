"""Errors and warnings of the compiler."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class Error(Exception):
    """What is wrong with a model, a file, a value or a budget; ``str()`` is what a compiler prints."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None, column: int | None = None,
                 text: str | None = None, least_budget: int | None = None) -> None:
        super().__init__(text or message)
        #: What was said first, without its place.
        self.message = message
        #: The file that it is about, or None.
        self.file = file
        #: From 1, or None.
        self.line = line
        self.column = column
        #: Bytes of the least budget that a plan is known to meet, where the budget is too small; else None.
        self.least_budget = least_budget


class UsageError(Error, ValueError):
    """An option or an argument that makes no sense."""


class Cancelled(Error):
    """The compilation was cancelled."""


class RepriseWarning(UserWarning):
    """What the compiler warns of."""


def make(code: int, message: str, file: str, line: int, column: int, text: str, least_budget: int) -> Error:
    """The exception of an error of the C API."""
    kind = {1: Error, 2: UsageError, 3: Cancelled}[code]
    return kind(message, file or None, line or None, column or None, text.rstrip("\n"), least_budget or None)


#: How a warning ends that says what a share becomes that no plan meets.
IN_ITS_PLACE = "and takes its place"


def least_met(least: int) -> str:
    """What refusals and warnings of every front end say of the budget, in bytes, that is met instead."""
    return f"the least budget that was met is {least:,} bytes"


def suggest(given: object, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: ``, did you mean 'NAME'?``, or all names if none is near."""
    known = list(names)
    folded = {name.lower().replace("_", "-"): name for name in known}
    near = difflib.get_close_matches(str(given).lower().replace("_", "-"), folded, n=1, cutoff=0.7)
    return f", did you mean {folded[near[0]]!r}?" if near else f", expected one of {', '.join(known)}"


def warn(text: str) -> None:
    warnings.warn(text, RepriseWarning, stacklevel=4)
