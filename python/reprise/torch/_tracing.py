"""Traces that begin when a compiled function is called."""

from __future__ import annotations

import contextlib
from typing import Iterator

from ._seam.dynamo import compile_lock, compile_session


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Allows one thread to trace at a time, as a compilation: otherwise other threads that call compiled functions
    would treat a bare trace as one around them."""
    with compile_lock, compile_session():
        yield
