"""Errors of backends as the user's program sees them."""

from __future__ import annotations

from typing import Any, Callable

import torch

from .._errors import Error


def raising(error: Error) -> Callable[..., Any]:
    """What is called instead of a compiled graph: raises the error as it is, since Dynamo puts a frame around what a backend raises.

    Where Dynamo is told to suppress errors, it gets the error, and runs the graph itself.
    """
    if torch._dynamo.config.suppress_errors:
        raise error

    def run(*arguments: Any) -> Any:
        raise error.with_traceback(None)

    return run
