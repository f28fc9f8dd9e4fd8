"""Finds the plan whose code by Inductor fits a budget. At most two codes are made; others are only counted."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator

from torch import fx

from .._errors import RepriseWarning
from . import _plan_cache as cache
from . import _plan_report as report
from ._plan_budgets import UNLIMITED
from ._plan_lowering import Exceeded, Meter, lower, settings
from ._plan_progress import searching
from ._plan_tally import Surroundings, count_bytes
from ._seam import patches
from ._seam.inductor import CppScheduling, InductorChoices, V

if TYPE_CHECKING:
    from ._plan_partition import Partitioner

#: Codes of a graph that are counted at most.
TRIES = 7
#: Codes without a budget, for regions of torch.utils.checkpoint: those that keep the plan.
TRIES_OF_REGIONS = 3
#: Largest distance, in operations of the plan, between the first and the last fused operation.
NEAR = 8
#: Share of the budget that may die within a C++ function, which frees all at its end.
DEAD = 1 / 64


def _fuse_near(choices: type[InductorChoices]) -> InductorChoices:
    """Returns choices that fuse only ops that the plan runs close together: fused ops run at one time, and all their
    operands live until then."""
    class NearChoices(choices):
        @staticmethod
        def can_fuse(scheduler: Any, left: Any, right: Any, score: int) -> bool:
            apart = max(left.max_order, right.max_order) - min(left.min_order, right.min_order)
            return apart <= NEAR and choices.can_fuse(scheduler, left, right, score)

        @staticmethod
        def can_fuse_horizontal(*ignored: Any) -> bool:
            return False
    return NearChoices()


def _short_functions(limit: int) -> contextlib.AbstractContextManager:
    """Ends a C++ function early; otherwise it would run all kernels up to the next library op, although many values die
    within it."""
    is_ready = CppScheduling.ready_to_flush

    def ends(self: CppScheduling) -> bool:
        buffers, dead = V.graph.scheduler.name_to_buf, V.graph.scheduler.buffer_names_to_free - V.graph.removed_buffers
        return is_ready(self) or sum(count_bytes(buffers[name].node) for name in dead if name in buffers) > limit * DEAD
    return patches.FLUSH.replaced(ends)


@dataclasses.dataclass(frozen=True)
class Try:
    """Settings of a code: the byte limit of the plan (None: the budget), whether only near operations are fused, and
    whether values are stored if that frees more than it needs."""

    within: int | None = None
    is_near: bool = False
    stores: bool = False

    @contextlib.contextmanager
    def choices(self, limit: int) -> Iterator[None]:
        if not self.is_near:
            yield
            return
        with V.set_choices_handler(_fuse_near(type(V.choices))), _short_functions(limit):
            yield


#: Settings of the code that is compiled without a count.
FIRST = Try()


@dataclasses.dataclass
class Candidate:
    """The graphs of a plan, and the bytes that their code needs."""

    forward: fx.GraphModule
    backward: fx.GraphModule
    around: Surroundings
    planned: report.GraphPlan
    #: Executions of the plan, and number of the forward pass's outputs before saved values.
    answer: Any
    num_fwd_outputs: int
    #: Bytes that the code may need.
    limit: int
    #: Bytes that the code of the passes needs, by whether the pass is the backward pass.
    peaks: dict[bool, int] = dataclasses.field(default_factory=dict)
    #: Strides of the forward pass's outputs.
    strides: list[tuple[int, ...] | None] = dataclasses.field(default_factory=list)

    @property
    def peak(self) -> int:
        """Returns the bytes of the code; of one pass, if the other one is not counted."""
        return max(self.peaks.values())

    @property
    def is_whole(self) -> bool:
        return len(self.peaks) == 2

    @property
    def fits(self) -> bool:
        return self.is_whole and self.peak <= self.limit

    def count(self, meter: Meter, each: Try, is_strict: bool = True) -> None:
        """Counts the code of both passes; not that of the backward pass if the forward pass alone needs too much."""
        if not self.strides:
            self.peaks = {}
        with each.choices(self.limit):
            for is_backward, graph in (False, self.forward), (True, self.backward):
                if is_strict and self.peaks and self.peak > self.limit:
                    return
                if is_backward not in self.peaks:
                    meter.start(self.around, self.limit)
                    strides = lower(graph, is_backward, self.num_fwd_outputs, self.strides)
                    self.strides = self.strides or strides
                    self.peaks[is_backward] = meter.peaks.get(is_backward, 0)


def limit_of(partitioner: "Partitioner", planned: report.GraphPlan) -> int:
    """Returns the bytes that the code of a plan may need. Without a budget these are the plan's own."""
    limit = planned.budget
    return planned.peak if limit is None else min(limit, max(partitioner.room or limit, planned.peak))


class Search:
    """Search for the first code that fits the budget, or otherwise for the code that needs the least."""

    def __init__(self, partitioner: "Partitioner", make: Callable[[Try], Candidate]) -> None:
        self.meter, self.make = partitioner.meter, make
        self.tries = TRIES_OF_REGIONS if partitioner.budget == UNLIMITED else TRIES
        self.tried: dict[Try, Candidate] = {}

    def _list(self) -> Iterator[Try]:
        """Yields first other code for the same plan. Then yields alternately plans that need less memory, by as much as
        the code exceeded and one hundredth more, and plans between the budget and the least memory of any code: these
        replay less, and operands of ops fused with replays live longer, too."""
        yield FIRST
        yield Try(is_near=True)
        yield (less := Try(is_near=True, stores=True))
        more = min(each.peak for each in self.tried.values())
        while True:
            code = self.tried[less]
            yield (less := Try(code.planned.peak * code.limit * 99 // (100 * code.peak), is_near=True, stores=True))
            more = math.isqrt(code.limit * more)
            yield Try(more, is_near=True, stores=True)

    def run(self) -> tuple[Try, Candidate]:
        for each in itertools.islice(self._list(), self.tries):
            code = self._add(each)
            if each not in self.meter.made:
                code.count(self.meter, each)
            if code.fits:
                return each, code
        # The bytes of a code with one counted pass are a lower bound, so the other pass is counted, too.
        while not self.tried[best := min(self.tried, key=lambda each: self.tried[each].peak)].is_whole:
            self.tried[best].count(self.meter, best, is_strict=False)
        return best, self.tried[best]

    def _add(self, each: Try) -> Candidate:
        self.tried[each] = self.make(each)
        self.tried[each].peaks = dict(self.meter.made.get(each, {}))
        return self.tried[each]

    def recall(self, name: str) -> tuple[Try, Candidate] | None:
        """Returns the answer of an earlier compilation."""
        known = cache.read(name)
        if known is None:
            return None
        each = Try(*known["settings"])
        code = self._add(each)
        code.peaks = dict(zip((False, True), known["peaks"]))
        return each, code


def choose(partitioner: "Partitioner", joint: fx.GraphModule, make: Callable[[Try], Candidate]) -> Candidate:
    """Returns the graphs to compile, and sets the settings of their compilation.

    The first code is compiled without a count, because most codes fit. If it needs too much memory, its compilation ends,
    and the next codes are counted.
    """
    search, meter = Search(partitioner, make), partitioner.meter
    if meter.made:
        with searching(f"the code of a plan of {len(partitioner.problem.operations)} ops", partitioner.budget):
            chosen, code = search.run()
    else:
        meter.name = "code-" + cache.key(partitioner.problem.to_json(), partitioner.limits, partitioner.room, partitioner.bits,
                                         search.tries, settings(joint, meter))
        chosen, code = search.recall(meter.name) or (FIRST, make(FIRST))
    meter.choose(chosen, code)
    return code


def _warn_of_excess(partitioner: "Partitioner", planned: report.GraphPlan, limit: int) -> report.GraphPlan:
    """Warns that the code needs more than the budget; returns the report."""
    if partitioner.is_wish:
        warnings.warn(f"Inductor's code needs at least {planned.peak:,} bytes, which replaces the budget of {partitioner.budget}",
                      RepriseWarning, stacklevel=2)
        return dataclasses.replace(planned, budget=planned.peak)
    warnings.warn(f"the budget of {partitioner.budget} ({limit:,} bytes) is not met: Inductor's code needs "
                  f"{planned.peak:,} bytes, {planned.peak - limit:,} more, because Inductor keeps some values in memory longer "
                  "than the plan", RepriseWarning, stacklevel=2)
    return planned


def compile_within(compile_once: Callable[[], Callable], partitioner: "Partitioner") -> Callable:
    """Compiles the first code. If its lines need too much memory, the search compiles another code, which it has
    counted."""
    try:
        made = compile_once()
    except Exceeded:
        made = compile_once()
    meter, code = partitioner.meter, partitioner.meter.code
    if code:
        peaks = {**code.peaks, **meter.peaks}
        if len(peaks) == 2:
            cache.write(meter.name, {"settings": dataclasses.astuple(meter.chosen), "peaks": [peaks[False], peaks[True]]})
        # Code that Inductor finds in its caches has met the same limit before.
        planned = dataclasses.replace(code.planned, peak=max(peaks.values(), default=code.planned.peak))
        if planned.peak > code.limit and partitioner.budget != UNLIMITED:
            planned = _warn_of_excess(partitioner, planned, code.limit)
        report.add(planned)
    return made
