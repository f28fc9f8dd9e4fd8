"""Graphs whose plans belong to a step: each has the code of its first plan, and that of the step's plan."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any, Callable, Sequence

import torch

from ._seam.core import keeps_graph, tree_leaves
from ._seam.graphs import FakeTensor
from ._step_curves import Curve
from ._step_joint import Option
from ._step_record import Call, storages_of
from ._step_weights import Weight

if TYPE_CHECKING:
    from ._plan_partition import Partitioner
    from ._step_ledger import Ledger

_numbers = itertools.count()
_current = threading.local()


class StepGraph:
    """Graph that is compiled for its first plan, and again for the plan of a step."""

    def __init__(self, ledger: "Ledger", make_partitioner: Callable[[], "Partitioner"],
                 compile_once: Callable[[Sequence[Any], "Partitioner"], Callable]) -> None:
        self.ledger, self.number = ledger, next(_numbers)
        self._make, self._compile = make_partitioner, compile_once
        #: Codes by the limits of their plans, each with the peak that it may have.
        self._codes: dict[tuple[int, int | None], tuple[Callable, int]] = {}
        #: Peak that the step's plan leaves to the code, which Inductor's fusion may raise above the plan's.
        self.room = 0
        self.curve: Curve | None = None
        #: The first plan, and the step's plan, whose code is made at the next call.
        self.first: Option | None = None
        self.planned: Option | None = None
        #: Function that is called with the plan of a step when its code is made.
        self.notify: Callable[[Option], None] = lambda option: None
        self.is_cuda = self.is_fused = False
        #: Whether the first plan saves the fewest bytes, since the step was not known.
        self.saves_least = False

    @property
    def weight(self) -> Weight:
        """Returns the weight of the first plan, which recorded steps run."""
        return self.curve.executed(self.first).weight

    def current(self) -> Option:
        """Returns the plan that steps run."""
        return self.curve.option(*(self.planned or self.first).limits)

    def start(self, inputs: Sequence[Any]) -> Callable:
        """Compiles the first plan. Returns the function to call: the code itself if nothing is differentiated."""
        partitioner = self._make()
        partitioner.beside = self.ledger.waiting_bytes
        code = self.ledger.compile(lambda: self._compile(inputs, partitioner))
        if partitioner.problem is None:
            return code
        self.is_cuda = any(isinstance(each, torch.Tensor) and each.is_cuda for each in inputs)
        self.is_fused = partitioner.is_fused
        self.curve = Curve(partitioner.problem, partitioner.num_fwd_outputs)
        self.curve.record(partitioner.limits, partitioner.executions())
        self.saves_least = partitioner.saved is not None
        self.first = self.curve.option(*partitioner.limits)
        self._count(partitioner, self.first)
        self._codes[self.first.limits] = code, self.first.peak_limit
        self.ledger.graphs[self.number] = self
        return self

    def code(self, option: Option, arguments: Sequence[Any]) -> Callable:
        """Returns the code of a plan."""
        made, room = self._codes.get(option.limits, (None, 0))
        if made is None or option is self.planned and room > max(self.room, option.weight.peak) and self._make().is_fused:
            partitioner = self._make()
            partitioner.decide(*option.limits, self.room)
            made = self.ledger.compile(lambda: self._compile(arguments, partitioner))
            self._codes[option.limits] = made, max(self.room, option.weight.peak)
            self._count(partitioner, option)
            self.notify(self.curve.executed(option))
        return made

    def _count(self, partitioner: "Partitioner", option: Option) -> None:
        """Notes the bytes that Inductor's code needs."""
        if partitioner.is_fused:
            from ._plan_fused import needed_bytes  # imports much of Inductor
            if needed := needed_bytes(partitioner):
                self.curve.count_code(option, needed)

    def __call__(self, *arguments: Any) -> Any:
        if any(isinstance(each, FakeTensor) for each in arguments):  # DDP asks for the layout of the results
            return self._codes[self.first.limits][0](*arguments)
        call, option = self.ledger.begin(self)
        outer, _current.call = getattr(_current, "call", None), call
        try:
            return self.code(option, arguments)(*arguments)
        finally:
            _current.call = outer
            self.ledger.end(call)


class SavedSet:
    """Saved values of a call, as long as PyTorch keeps the node of its backward pass."""

    def __init__(self, ledger: "Ledger", call: Call) -> None:
        self.ledger, self.call = ledger, call

    def __del__(self) -> None:
        self.ledger.release(self.call)


def hold(context: Any, arguments: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Tells the step that a forward pass has saved values: called behind the pass, with its node."""
    call = getattr(_current, "call", None)
    if call is not None:
        context.reprise_set = SavedSet(call.graph.ledger, call)
        call.graph.ledger.hold(call, arguments, outputs)


class Backward:
    """Context of the backward pass of a node."""

    def __init__(self, context: Any, cotangents: Sequence[Any]) -> None:
        saved = getattr(context, "reprise_set", None)
        self.call = saved and saved.call
        # PyTorch 2.13 passes a list, of which the code drops each gradient at its last use.
        self.cotangents = storages_of(tree_leaves(cotangents), "out") if self.call else {}

    def __enter__(self) -> None:
        if self.call:
            self.keeps = keeps_graph()
            self.call.graph.ledger.begin_backward(self.call, self.keeps)

    def __exit__(self, *ignored: Any) -> None:
        if self.call:
            is_freed = all(each.expired() for each in self.cotangents.values())
            self.call.graph.ledger.end_backward(self.call, self.keeps, is_freed)
