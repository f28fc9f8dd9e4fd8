"""Private names of AOTAutograd's code around compiled graphs, and changes of the functions that it makes."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator

import torch
from torch._functorch._aot_autograd.runtime_wrappers import RuntimeWrapper, post_compile, pre_compile

from . import patches

__all__ = ["Changes", "Metadata", "RuntimeWrapper", "changed", "post_compile", "pre_compile", "replay_regions"]

#: Parts of AOTAutograd's compiled functions that are changed or read.
_PARTS = ("forward", "backward", "_backward_impl", "compiled_bw", "metadata", "_aot_id", "_compiled_autograd_key")
(replay_regions,), (_wrap,) = patches.REPLAYS.originals(), patches.WRAPPER.originals()


class Metadata:
    """Facts about one compiled function."""

    def __init__(self, function: type[torch.autograd.Function]) -> None:
        self._function, self._facts = function, function.metadata

    def views(self, returned: tuple) -> list[Any]:
        """Returns the results that are views of values in the graph."""
        first = self._facts.num_mutated_inp_runtime_indices
        return [returned[first + each] for each in self._facts.unsafe_view_out_indices]

    def take_written(self) -> tuple[int, ...]:
        """Returns the places of saved tensors that the code of the backward pass may overwrite, if that code exists,
        and clears PyTorch's list of them: PyTorch refuses to keep a graph otherwise."""
        if self._function.compiled_bw is None:
            return ()
        written = tuple(self._facts.bw_donated_idxs or ())
        self._facts.bw_donated_idxs = []  # PyTorch treats None as a list with places
        return written

    def identify(self, other: type[torch.autograd.Function]) -> None:
        """Makes another function belong to this one."""
        other._aot_id = self._function._aot_id
        other._compiled_autograd_key = self._function._compiled_autograd_key


@dataclasses.dataclass(frozen=True)
class Changes:
    """Changes of compiled functions. The first three get the function's facts and its method, and return another."""

    forward: Callable[[Metadata, Callable], Callable]
    backward: Callable[[Metadata, Callable], Callable]
    #: Call of the backward pass's code.
    code: Callable[[Metadata, Callable], Callable]
    #: Pass over graphs that compute gradients inside, instead of `replay_regions`.
    replays: Callable

    def _change(self, function: type[torch.autograd.Function]) -> None:
        lacks = [name for name in _PARTS if not hasattr(function, name)]
        if lacks:
            raise patches.WRAPPER.refuse(f"makes functions without {', '.join(lacks)}")
        facts = Metadata(function)
        for name, change in ("forward", self.forward), ("backward", self.backward), ("_backward_impl", self.code):
            setattr(function, name, staticmethod(change(facts, getattr(function, name))))

    def wrap(self, wrapper: RuntimeWrapper, run: Callable, *arguments: Any, **named: Any) -> Callable:
        """Wraps compiled code as PyTorch does. Code with gradients is the `apply` of a function."""
        function = getattr(run, "__self__", None)
        if isinstance(function, type) and issubclass(function, torch.autograd.Function):
            self._change(function)
        return _wrap(wrapper, run, *arguments, **named)


@contextlib.contextmanager
def changed(changes: Changes) -> Iterator[None]:
    """Changes the functions that AOTAutograd makes within this context."""
    def wrap(self: RuntimeWrapper, *arguments: Any, **named: Any) -> Callable:
        return changes.wrap(self, *arguments, **named)
    with patches.WRAPPER.replaced(wrap), patches.REPLAYS.replaced(changes.replays):
        yield
