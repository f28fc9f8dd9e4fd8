"""Traces that begin when a compiled function is called."""

from __future__ import annotations

import contextlib
from typing import Iterator

import torch
from torch._dynamo.convert_frame import compile_lock


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Allows one thread to trace at a time, as a compilation: otherwise other threads that call compiled functions
    would treat a bare trace as one around them."""
    with compile_lock, torch.compiler._compile_session_context():
        yield
