"""Records the calls of a step: graphs, the order of their passes, saved sets that wait, and the memory around them."""

from __future__ import annotations

import collections
import dataclasses
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import _step_ranks as ranks
from ._seam import pipelines, sharded
from ._step_gauge import CpuGauge, CudaGauge, Gauge
from ._step_joint import Row
from ._step_weights import Place

if TYPE_CHECKING:
    from ._step_graphs import StepGraph


_open = threading.local()


@dataclasses.dataclass(eq=False)
class Call:
    """Call of a graph in a step."""

    graph: "StepGraph"
    number: int
    #: Storages of arguments and outputs, to see which live until the backward pass.
    storages: dict[Place, StorageWeakRef] = dataclasses.field(default_factory=dict)
    #: Places that were gone when the backward pass began.
    lost: set[Place] = dataclasses.field(default_factory=set)

    def find_lost(self) -> set[Place]:
        """Returns the places that are gone."""
        return {place for place, storage in self.storages.items() if storage.expired()}


@dataclasses.dataclass
class Mark:
    """Begin of a period of the step."""

    kind: str
    call: Call | None
    #: Calls that wait for their backward pass in this period.
    waiting: list[Call]
    #: Bytes from before the step that are still held.
    earlier: int


def storages_of(tensors: Iterable[Any], kind: str) -> dict[Place, StorageWeakRef]:
    return {(kind, number): StorageWeakRef(each.untyped_storage()) for number, each in enumerate(sharded.plain(tensors))
            if isinstance(each, torch.Tensor) and each.layout is torch.strided}


class Earlier:
    """Memory from before a step: gradients of parameters that graphs or stages have read, and what FSDP2 and pipelines
    hold."""

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        #: Function that is called when FSDP2 or a pipeline drops a tensor.
        self.notify: Callable[[], None] = lambda: None
        grads = sharded.plain(each.grad for each in [*parameters, *pipelines.parameters()] if each.grad is not None)
        held = {each.untyped_storage()._cdata: each for each in grads if each.layout is torch.strided}
        storages = [each.untyped_storage() for each in held.values()]
        self._gradients = [(StorageWeakRef(each), each.nbytes()) for each in storages]
        # FSDP2 frees and fills the storage of one tensor again and again, so that the tensor is watched.
        results = pipelines.results()
        #: Whether a pipeline holds results of earlier micro-batches.
        self.has_results = bool(results)
        others = {each.untyped_storage()._cdata: each for each in [*sharded.held(), *results]}
        self._watched = [(weakref.ref(each, lambda _: self.notify()), each.untyped_storage().nbytes()) for key, each in others.items() if key not in held]

    def bytes(self) -> int:
        """Returns the bytes that have been held without a pause."""
        self._watched = [(ref, size) for ref, size in self._watched
                         if (each := ref()) is not None and each.untyped_storage().nbytes() == size]
        return sum(size for storage, size in self._gradients if not storage.expired()) + sum(size for _, size in self._watched)


def _take_over() -> None:
    """Ends the record of this thread, if there is one: of another budget, of a step that has failed, or of one that another
    thread has ended, since a thread's profiler stops in that thread only."""
    before: Segment | None = getattr(_open, "segment", None)
    if before:
        before.lose()


class Segment:
    """Passes from a call while nothing waits to the next such moment. A recorded one has marks."""

    def __init__(self, earlier: Earlier, is_cuda: bool, records: bool) -> None:
        #: Thread that may run the passes; None if several do, as the engine runs those of a GPU in a thread of its own.
        self.thread = None if is_cuda else threading.get_ident()
        self.earlier = earlier
        #: Bytes that were held at the begin.
        self.before = earlier.bytes()
        #: Passes in order: ("F", graph), or ("B" or "K", call).
        self.order: list[tuple[str, int]] = []
        self.calls: list[Call] = []
        self.waiting: dict[Call, None] = {}
        self.running: Call | None = None
        self.is_compiling = False
        self.marks: list[Mark] = []
        self.is_finished = False
        self.gauge: Gauge | None = None
        #: Cleared if the record tells nothing: several threads, or passes within passes.
        self.is_clean = True
        earlier.notify = self._mark_free
        if records:
            _take_over()
            gauge = CudaGauge() if is_cuda else CpuGauge()
            self.gauge = gauge if gauge.start() else None
            _open.segment = self if self.gauge else None
            self.marks.append(Mark("program", None, [], self.before))

    def lose(self) -> None:
        """Ends the record without a result, in its own thread."""
        if self.gauge and getattr(_open, "segment", None) is self:
            self.gauge.stop()
            self.gauge = _open.segment = None

    def is_own_thread(self) -> bool:
        return self.thread in (None, threading.get_ident())

    def run(self, kind: str, call: Call | None = None) -> None:
        """Begins a pass of a call, or the program behind it."""
        if not self.is_own_thread() or (call and self.running):
            self.is_clean = False
        self.running = call
        self.mark(kind, call)

    def needed_bytes(self, kind: str, call: Call) -> int:
        """Returns the bytes that a pass surely needs: saved values of the calls that wait, and what eager code of its plan
        adds. Inductor's code may need less than its plan."""
        waiting = sum(each.graph.weight.saved for each in self.waiting)
        return waiting if call.graph.is_fused else waiting + _own_bytes(kind, call)

    def mark(self, kind: str, call: Call | None = None) -> None:
        """Begins a period of the record."""
        if self.gauge and self.is_own_thread():
            self.gauge.mark()
            ranks.sign()
            self.marks.append(Mark(kind, call, list(self.waiting), self.earlier.bytes()))

    def _mark_free(self) -> None:
        """Begins another period of the program, since less memory from before the step is held."""
        if self.marks and self.marks[-1].kind == "program" and not self.is_finished:
            self.mark("program")

    def end_backward(self, is_freed: bool) -> None:
        """Notes whether the gradients of a call's outputs died in its backward pass."""
        if is_freed:
            self.marks[-1].kind = "freed"

    def forget(self, call: Call) -> None:
        """Takes out a call that saves nothing, or that has failed: its memory is the program's."""
        last = max(place for place, each in enumerate(self.order) if each == ("F", call.graph.number))
        del self.order[last]
        for each in self.marks:
            if each.call is call:
                each.kind, each.call = "program", None

    def finish(self) -> list[tuple[Mark, int, int]]:
        """Ends the record; returns, for each period, the bytes at its begin and the most within it. In another thread the
        record is lost."""
        self.is_finished = True
        if self.gauge is None or not self.is_own_thread():
            return []
        counts = self.gauge.stop()
        _open.segment = None
        found, compiled = [], 0
        for place, mark in enumerate(self.marks):
            begin = 0 if place == 0 else counts[place - 1][0]
            end, most = counts[place]
            found.append((mark, begin - compiled + mark.earlier, most - compiled + mark.earlier))
            if mark.kind == "compile":
                compiled += end - begin
        return found


def _own_bytes(kind: str, call: Call) -> int:
    """Returns the bytes that the plan of a recorded call adds in a pass."""
    return Row(kind, call.graph.number, 0, ()).bytes_of(call.graph.number, 0, call.graph.weight)


def list_rows(found: Sequence[tuple[Mark, int, int]]) -> list[Row]:
    """Returns the moments of a recorded segment, with the saved values of graphs taken out."""
    rows = []
    for mark, begin, most in found:
        if mark.kind == "compile":
            continue
        counts = collections.Counter(each.graph.number for each in mark.waiting)
        saved = sum(each.graph.weight.saved for each in mark.waiting)
        waiting = tuple(sorted(counts.items()))
        if mark.call is None:
            rows.append(Row("program", None, most - saved, waiting))
            continue
        rows.append(Row(mark.kind, mark.call.graph.number, max(begin, most - _own_bytes(mark.kind, mark.call)) - saved, waiting))
    return rows
