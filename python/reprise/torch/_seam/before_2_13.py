"""Parts of PyTorch 2.13 that 2.11 and 2.12 do not have."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator

import torch
from torch._inductor.custom_graph_pass import CustomPartitionerFn

from . import patches


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


@dataclasses.dataclass
class Table:
    """Decompositions in a form that keys of Inductor's caches may hold. They follow from versions, which the keys hold."""

    decompositions: dict

    def __call__(self) -> dict:
        return self.decompositions

    def __reduce__(self) -> tuple:
        return Table, (sorted(map(str, self.decompositions)),)


def compile_fx(graph: Any, inputs: Any, **named: Any) -> Callable:
    """Compiles a graph by Inductor."""
    from torch._inductor.compile_fx import compile_fx
    with patches.DECOMPOSITIONS.replaced(Table(named.pop("decompositions"))):
        return compile_fx(graph, inputs, **named)
