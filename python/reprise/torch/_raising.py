"""Raises errors of backends as the user's program sees them."""

from __future__ import annotations

from typing import Any, Callable

from .._errors import Error
from ._seam.dynamo import config


def raising(error: Error) -> Callable[..., Any]:
    """Returns a function to call instead of a compiled graph. It raises the error unchanged, because Dynamo wraps what
    a backend raises.

    If Dynamo is set to suppress errors, it gets the error, and runs the graph itself.
    """
    if config.suppress_errors:
        raise error

    def run(*arguments: Any) -> Any:
        raise error.with_traceback(None)

    return run
