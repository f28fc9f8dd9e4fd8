"""Records what PyTorch's allocator holds in a step beside the arenas of programs: outputs, gradients, eager code's values."""

from __future__ import annotations

import contextlib
import weakref
from typing import Hashable, Iterator, Sequence

import torch

from ._step_record import Earlier, Segment

_records: "weakref.WeakSet[Beside]" = weakref.WeakSet()


class Beside:
    """Most bytes beside arenas, by records of steps. A step is recorded until it needs no more than those before."""

    def __init__(self) -> None:
        self.most = 0
        #: By the graph that a step begins with, the bytes before a step that needed no more.
        self._known: "weakref.WeakKeyDictionary[Hashable, int]" = weakref.WeakKeyDictionary()
        self._first: Hashable = None
        self._segment: Segment | None = None
        self._parameters: dict[int, "weakref.ref[torch.Tensor]"] = {}
        _records.add(self)

    def note(self, inputs: Sequence[torch.Tensor]) -> None:
        """Notes the parameters of a call, whose gradients count also if they are from before the step."""
        if self._segment:
            self._parameters.update({id(each): weakref.ref(each) for each in inputs if each.is_leaf and each.requires_grad})

    def start(self, first: Hashable) -> None:
        """Begins the record of a step, before its first forward pass."""
        self._parameters = {key: ref for key, ref in self._parameters.items() if ref() is not None}
        earlier = Earlier([each for ref in self._parameters.values() if (each := ref()) is not None])
        if earlier.bytes() > self._known.get(first, -1):
            self._first, self._segment = first, Segment(earlier, False, True)
            self._segment.mark("program")

    def stop(self) -> None:
        """Ends the record of a step. There is none if a profiler or another record was active in its thread."""
        segment, self._segment = self._segment, None
        found = segment.finish() if segment else []
        if found:
            most = max(most for mark, _, most in found if mark.kind != "compile")
            if most <= self.most:
                self._known[self._first] = segment.before
            self.most = max(most, self.most)

    def lose(self) -> None:
        """Ends the record of a step that has failed."""
        if self._segment:
            self._segment.lose()

    def again(self) -> None:
        """Lets the next steps be recorded, since they have other passes than those before."""
        self._known.clear()

    def mark(self, kind: str) -> None:
        if self._segment:
            self._segment.mark(kind)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Leaves what a compilation allocates out of the records."""
    for each in list(_records):
        each.mark("compile")
    try:
        yield
    finally:
        for each in list(_records):
            each.mark("program")
