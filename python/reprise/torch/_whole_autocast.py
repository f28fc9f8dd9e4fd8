"""Leaves autocast for code that eager PyTorch runs outside of it."""

from __future__ import annotations

import contextlib
from typing import Any, Iterable, Iterator

import torch


@contextlib.contextmanager
def without_autocast(values: Iterable[Any]) -> Iterator[None]:
    """Leaves autocast of the CPU and of the devices of tensors."""
    kinds = {"cpu", *(each.device.type for each in values if isinstance(each, torch.Tensor))} - {"meta"}
    with contextlib.ExitStack() as stack:
        for kind in sorted(kinds):
            stack.enter_context(torch.autocast(kind, enabled=False))
        yield
