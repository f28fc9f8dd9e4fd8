"""Keeps account of steps: records the first step of each order of calls, and plans all its graphs together."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import weakref
from typing import Any, Callable, Iterator, Sequence

import torch

from . import _step_engine as engine
from . import _step_plan as step_plan
from . import _step_ranks as ranks
from ._plan_budgets import to_bytes
from ._seam.pipelines import finds_sizes
from ._step_graphs import StepGraph
from ._step_joint import Option, Row, merge
from ._step_record import Call, Earlier, Segment, list_rows, storages_of

#: Orders of calls that are recorded at most. Steps of further orders run the first plans.
ORDERS = 32


@dataclasses.dataclass
class Known:
    """Recorded order of calls: the moments of its steps, and the bytes that were held before them."""

    rows: list[Row]
    before: int
    #: Number of backward passes of each graph, by its number.
    passes: dict[int, int]
    #: Number of recorded steps.
    count: int = 1


class Ledger:
    """Account of all graphs with the same budget."""

    def __init__(self, budget: str) -> None:
        self.budget = budget
        self.graphs: "weakref.WeakValueDictionary[int, StepGraph]" = weakref.WeakValueDictionary()
        self.known: dict[tuple, Known] = {}
        self.parameters: dict[int, "weakref.ref[torch.Tensor]"] = {}
        self._lock = threading.RLock()
        self._segment: Segment | None = None
        #: Orders that were recorded since the last plan.
        self._new: set[tuple] = set()
        #: Set if an unknown order has run without a record.
        self._is_missed = False

    def compile(self, compile_once: Callable[[], Callable]) -> Callable:
        """Compiles, and leaves the memory of that out of the record."""
        with ranks.compiling(), self._out_of_record():
            return compile_once()

    @contextlib.contextmanager
    def _out_of_record(self) -> Iterator[None]:
        segment = self._segment
        if segment is None:
            yield
            return
        segment.mark("compile")
        segment.is_compiling = True
        try:
            yield
        finally:
            segment.is_compiling = False
            segment.mark("program")

    def waiting_bytes(self) -> int:
        """Returns the bytes that calls hold which wait for their backward pass, by their first plans."""
        return sum(each.graph.weight.saved for each in self._segment.waiting) if self._segment else 0

    def begin(self, graph: StepGraph) -> tuple[Call, Option]:
        """Begins a forward pass; returns its call, and the plan to run."""
        with self._lock:
            self.settle()
            if self._segment is None:
                self._start(graph)
            segment = self._segment
            call = Call(graph, len(segment.calls))
            self._check("forward", call)
            segment.calls.append(call)
            segment.order.append(("F", graph.number))
            is_known = segment.gauge is None and self._follows(segment)
            segment.run("forward", call)
            return call, graph.planned if is_known and graph.planned else graph.first

    def _start(self, graph: StepGraph) -> None:
        earlier = Earlier(each for ref in self.parameters.values() if (each := ref()) is not None)
        self._forget()
        before = earlier.bytes()
        is_known = any(order[0] == ("F", graph.number) and before <= each.before for order, each in self.known.items())
        related = self._find_related(graph.number) if is_known else {}
        # Each micro-batch of a last stage adds results. The plan is made when all are recorded.
        if self._new & set(related) and not earlier.has_results:
            step_plan.plan(self.budget, related, dict(self.graphs))
            self._new -= set(related)
        is_trial = finds_sizes()
        records = (not is_known or self._is_missed) and len(self.known) < ORDERS and not engine.is_inside() and not is_trial
        self._segment = Segment(earlier, graph.is_cuda, records)
        # A trial is no step: a plan for its few passes would leave no room for those of the step behind it.
        self._segment.is_clean = not is_trial

    def _find_related(self, graph: int) -> dict[tuple, Known]:
        """Returns the orders that share graphs with those of a graph, directly or through others."""
        found, graphs = dict[tuple, Known](), {graph}
        while more := {order: each for order, each in self.known.items() if order not in found and graphs & set(each.passes)}:
            found |= more
            graphs.update(number for each in more.values() for number in each.passes)
        return {order: each for order, each in self.known.items() if order in found}

    def _forget(self) -> None:
        """Drops orders whose graphs are gone, and parameters that are."""
        self.known = {order: each for order, each in self.known.items() if all(graph in self.graphs for graph in each.passes)}
        self.parameters = {key: ref for key, ref in self.parameters.items() if ref() is not None}

    def _follows(self, segment: Segment) -> bool:
        """Returns whether the passes so far are the begin of a known order."""
        length = len(segment.order)
        return any(list(order[:length]) == segment.order and segment.before <= each.before for order, each in self.known.items())

    def _check(self, kind: str, call: Call) -> None:
        """Raises an Error if a pass of a step without a plan needs more bytes than the budget."""
        segment = self._segment
        if segment.gauge is None or self.budget.endswith("%"):
            return
        needed = segment.needed_bytes(kind, call)
        if needed > to_bytes(self.budget):
            segment.lose()
            raise step_plan.exceed(self.budget, needed, len(segment.waiting))

    def hold(self, call: Call, arguments: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Notes that a forward pass has saved values."""
        with self._lock:
            segment = self._segment
            if segment is None or call not in segment.calls:
                return
            segment.waiting[call] = None
            if segment.gauge:
                call.storages = {**storages_of(arguments, "in"), **storages_of(outputs, "out")}
                self.parameters.update({id(each): weakref.ref(each) for each in arguments if isinstance(each, torch.Tensor)
                                        and each.requires_grad and each.is_leaf})

    def end(self, call: Call) -> None:
        """Ends a forward pass."""
        with self._lock:
            segment = self._segment
            if segment is None or call not in segment.calls:
                return
            if call not in segment.waiting:  # a pass without gradients, or one that failed
                segment.forget(call)
            segment.run("program")
            self._finish_if_quiet()

    def begin_backward(self, call: Call, keeps: bool) -> None:
        with self._lock:
            segment = self._segment
            if segment is None or call not in segment.waiting:
                return
            self._check("kept" if keeps else "freed", call)
            segment.order.append(("K" if keeps else "B", call.number))
            segment.run("kept" if keeps else "backward", call)
            if segment.gauge:
                call.lost = call.find_lost()
                call.graph.curve.lives.dead |= call.lost

    def end_backward(self, call: Call, keeps: bool, is_freed: bool) -> None:
        """Ends a backward pass. The step goes on until PyTorch has run all backward passes, with those of eager ops."""
        with self._lock:
            segment = self._segment
            if segment is None or call not in segment.waiting:
                return
            if not keeps:
                del segment.waiting[call]
                if segment.gauge:
                    segment.end_backward(is_freed)
                    lives, sole = call.graph.curve.lives, call.find_lost() - call.lost
                    lives.sole = sole if lives.sole is None else lives.sole & sole
            segment.run("program")

    def settle(self) -> None:
        """Ends the step if nothing waits: called behind all backward passes, and before a forward pass."""
        with self._lock:
            if self._segment:
                self._finish_if_quiet()

    def release(self, call: Call) -> None:
        """Notes that PyTorch has dropped saved values."""
        with self._lock:
            segment = self._segment
            if segment and call in segment.waiting:
                del segment.waiting[call]
                if segment.running is None:
                    segment.mark("program")
                self._finish_if_quiet()

    def _finish_if_quiet(self) -> None:
        segment = self._segment
        if segment.waiting or segment.running or segment.is_compiling or engine.is_inside():
            return
        self._segment = None
        found = segment.finish()
        if not segment.order:
            return
        order = tuple(segment.order)
        known = self.known.get(order)
        is_known = known is not None and segment.before <= known.before
        if not found or not segment.is_clean:
            self._is_missed = not is_known and segment.is_clean
            return
        self._is_missed = False
        if not is_known:
            calls = {call.number: call.graph.number for call in segment.calls}
            passes = dict.fromkeys(calls.values(), 0)
            for kind, call in order:
                if kind != "F":
                    passes[calls[call]] += 1
            rows = list_rows(found) + (known.rows if known else [])
            self.known[order] = Known(merge(rows), segment.before, passes, known.count + 1 if known else 1)
            self._new.add(order)
            step_plan.publish(self.budget, self._find_related(order[0][1]), self.graphs)


_ledgers: dict[str, Ledger] = {}


def ledger_of(budget: str) -> Ledger:
    """Returns the account of a budget. Functions that were compiled with the same budget share it: it is the step's."""
    if budget not in _ledgers:
        _ledgers[budget] = Ledger(budget)
        engine.listen(_ledgers[budget].settle)
    return _ledgers[budget]
