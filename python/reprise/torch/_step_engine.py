"""Tells when PyTorch's engine has run the backward passes of a program.

The engine restores the calling thread's state when it returns. So what its functions have done to that state, such as
the end of a profile, is undone.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from ._seam.core import current_graph_task
from ._seam.patches import ENGINE

_listeners: list[Callable[[], None]] = []


def is_inside() -> bool:
    """Returns whether the engine runs in this thread."""
    return current_graph_task() != -1


def listen(call: Callable[[], None]) -> None:
    """Calls a function each time that the engine has returned."""
    if not _listeners:
        _install()
    _listeners.append(call)


def _install() -> None:
    run, = ENGINE.originals()

    @functools.wraps(run)
    def run_backward(*arguments: Any, **named: Any) -> Any:
        try:
            return run(*arguments, **named)
        finally:
            if not is_inside():
                for each in _listeners:
                    each()
    ENGINE.install(run_backward)
