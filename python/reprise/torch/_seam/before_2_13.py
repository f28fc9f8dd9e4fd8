"""Parts of PyTorch 2.13 that 2.11 and 2.12 do not have."""

from __future__ import annotations

import contextlib
from typing import Iterator

import torch
from torch._inductor.custom_graph_pass import CustomPartitionerFn


@contextlib.contextmanager
def compile_session() -> Iterator[None]:
    """Marks a trace as a compilation, so that other threads do not treat the trace as one around them."""
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before


#: Base of a pass of Inductor's scheduler: any class with a `uuid`.
CustomSchedulerPass = CustomPartitionerFn
