"""Pauses Python's garbage collector while a plan is made.

A collection walks all objects of AOTAutograd's trace, which takes longer than some plans, and a plan leaves few cycles.
"""

from __future__ import annotations

import contextlib
import gc
from typing import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses the collector, unless the program itself has."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()
