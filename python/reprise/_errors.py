"""Errors and warnings of the compiler."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class Error(Exception):
    """Error about a model, a file, a value or a budget; ``str()`` is the compiler's message."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None, column: int | None = None,
                 text: str | None = None, least_budget: int | None = None) -> None:
        super().__init__(text or message)
        #: First message, without its place.
        self.message = message
        #: File that it is about, or None.
        self.file = file
        #: Line from 1, or None.
        self.line = line
        self.column = column
        #: Smallest budget in bytes for which a plan is known, if the budget is too small; otherwise None.
        self.least_budget = least_budget


class UsageError(Error, ValueError):
    """Error about an invalid option or argument."""


class Cancelled(Error):
    """The compilation was cancelled."""


class RepriseWarning(UserWarning):
    """Warning of the compiler."""


def make(code: int, message: str, file: str, line: int, column: int, text: str, least_budget: int) -> Error:
    """The exception of an error of the C API."""
    kind = {1: Error, 2: UsageError, 3: Cancelled}[code]
    return kind(message, file or None, line or None, column or None, text.rstrip("\n"), least_budget or None)


#: End of a warning that a smaller plan replaces a share that no plan meets.
IN_ITS_PLACE = "and takes its place"


def least_met(least: int) -> str:
    """Returns the text of every front end about the budget, in bytes, that is met instead."""
    return f"the least budget that was met is {least:,} bytes"


def suggest(given: object, names: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: ``, did you mean 'NAME'?``, or all names if none is
    similar."""
    known = list(names)
    folded = {name.lower().replace("_", "-"): name for name in known}
    near = difflib.get_close_matches(str(given).lower().replace("_", "-"), folded, n=1, cutoff=0.7)
    return f", did you mean {folded[near[0]]!r}?" if near else f", expected one of {', '.join(known)}"


def warn(text: str) -> None:
    warnings.warn(text, RepriseWarning, stacklevel=4)
