"""Finds the plan whose code by Inductor fits a budget. Codes are counted, and one code is compiled."""

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
from ._plan_lowering import Lowered, Meter, Strides, settings
from ._plan_nodes import mutated_inputs
from ._plan_progress import searching
from ._plan_tally import Surroundings, count_bytes
from ._seam import patches
from ._seam.inductor import CppScheduling, InductorChoices, V
from ._seam.joint import giving

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
    """Settings of the code of a pass: the byte limit of the plan (None: the budget), whether only near operations are fused
    and values are stored if that frees more than it needs, and whether C++ functions end early."""

    within: int | None = None
    is_near: bool = False
    is_short: bool = False

    @contextlib.contextmanager
    def choices(self, limit: int) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self.is_near:
                stack.enter_context(V.set_choices_handler(_fuse_near(type(V.choices))))
            if self.is_short:
                stack.enter_context(_short_functions(limit))
            yield


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
    #: Settings of the code of the passes, by whether the pass is the backward pass.
    settings: dict[bool, Try]
    #: Bytes that the code of the passes needs.
    peaks: dict[bool, int] = dataclasses.field(default_factory=dict)
    #: Graphs that are lowered, and strides of the values that are saved.
    lowered: dict[bool, Lowered] = dataclasses.field(default_factory=dict)
    saved: Strides = dataclasses.field(default_factory=list)

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

    def count(self, meter: Meter, is_strict: bool = True) -> None:
        """Counts the code of both passes; not that of the backward pass if the forward pass alone needs too much."""
        with giving(self.forward, self.backward, self.num_fwd_outputs):
            for is_backward, graph in (False, self.forward), (True, self.backward):
                if is_strict and self.peaks and self.peak > self.limit:
                    return
                if is_backward not in self.peaks:
                    meter.start(self.around, self.limit)
                    with self.settings[is_backward].choices(self.limit):
                        self.lowered[is_backward] = made = meter.lower(graph, is_backward, self.saved)
                    self.saved = self.saved or made.strides[self.num_fwd_outputs:]
                    self.peaks[is_backward] = meter.peaks.get(is_backward, 0)

    def take_forward(self, other: "Candidate") -> None:
        """Takes the code of the forward pass of another code of the same plan."""
        self.forward, self.saved = other.forward, other.saved
        for mine, its in (self.settings, other.settings), (self.peaks, other.peaks), (self.lowered, other.lowered):
            if False in its:
                mine[False] = its[False]


def limit_of(partitioner: "Partitioner", planned: report.GraphPlan) -> int:
    """Returns the bytes that the code of a plan may need. Without a budget these are the plan's own."""
    limit = planned.budget
    return planned.peak if limit is None else min(limit, max(partitioner.room or limit, planned.peak))


class Search:
    """Search for the first code that fits the budget, or otherwise for the code that needs the least."""

    def __init__(self, partitioner: "Partitioner", make: Callable[[Try], Candidate]) -> None:
        self.partitioner, self.meter, self.make = partitioner, partitioner.meter, make
        self.tries = TRIES_OF_REGIONS if partitioner.budget == UNLIMITED else TRIES
        self.tried: dict[Try, Candidate] = {}

    def _list(self) -> Iterator[Try]:
        """Yields first other code for the same plan. Short functions come last, because the C++ compiler needs a fixed time
        for each function. Then yields alternately plans that need less memory, by as much as the code exceeded and one
        hundredth more, and plans between the budget and the least memory of any code: these replay less, and operands of
        ops fused with replays live longer, too. No plan needs less than the smallest."""
        yield Try()
        yield Try(is_near=True)
        yield (less := Try(is_near=True, is_short=True))
        more = min(each.peak for each in self.tried.values())
        while True:
            code = self.tried[less]
            if not self._is_smallest(less):
                yield (less := Try(code.planned.peak * code.limit * 99 // (100 * code.peak), is_near=True, is_short=True))
            more = math.isqrt(code.limit * more)
            yield Try(more, is_near=True, is_short=True)

    def _is_smallest(self, each: Try) -> bool:
        """Returns whether no plan within the limit was found, so that the plan is the smallest."""
        return self.partitioner.is_wish if each.within is None else not self.tried[each].answer.fits

    def run(self) -> Candidate:
        tries, partitioner = itertools.islice(self._list(), self.tries), self.partitioner
        found = self._find(itertools.islice(tries, 1))
        if found:
            return found
        with searching(f"the code of a plan of {len(partitioner.problem.operations)} ops", partitioner.budget):
            return self._find(tries) or self._take_least()

    def _find(self, tries: Iterator[Try]) -> Candidate | None:
        """Returns the first code that fits."""
        for each in tries:
            first, code = self.tried.get(Try()), self.make(each)
            if first and each.within is None and first.peaks[False] <= first.limit:
                code.take_forward(first)
            self.tried[each] = code
            code.count(self.meter)
            if code.fits:
                return code
            for old in filter(None, (first, code if first else None)):
                old.lowered.clear()
        return None

    def _take_least(self) -> Candidate:
        """Returns the code that needs the least. The bytes of a code with one counted pass are a lower bound, so the other
        pass is counted, too."""
        while not (best := min(self.tried.values(), key=lambda each: each.peak)).is_whole:
            best.count(self.meter, is_strict=False)
        return best

    def recall(self, name: str) -> Candidate | None:
        """Returns the answer of an earlier compilation."""
        known = cache.read(name)
        if known is None:
            return None
        forward, backward = (Try(*each) for each in known["settings"])
        code = self.make(backward)
        if forward != backward:
            code.take_forward(self.make(forward))
        code.peaks = dict(zip((False, True), known["peaks"]))
        return code


def choose(partitioner: "Partitioner", joint: fx.GraphModule, make: Callable[[Try], Candidate]) -> Candidate:
    """Returns the graphs to compile, and sets the settings of their compilation."""
    search, meter = Search(partitioner, make), partitioner.meter
    written = sum(1 for _ in mutated_inputs(joint))
    meter.visible = range(written, written + meter.num_results)
    meter.name = "code-" + cache.key(partitioner.problem.to_json(), partitioner.limits, partitioner.room, partitioner.bits,
                                     search.tries, settings(joint, meter))
    code = search.recall(meter.name) or search.run()
    meter.choose(code)
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


def needed_bytes(partitioner: "Partitioner") -> tuple[int, int] | None:
    """Returns the bytes that the compiled code of the forward and of the backward pass needs, each above those before the
    pass; None if the code is not counted."""
    code = partitioner.meter and partitioner.meter.code
    peaks = {**code.peaks, **partitioner.meter.peaks} if code else {}
    if len(peaks) < 2:
        return None
    return peaks[False], peaks[True] - code.around.held - sum(code.around.given.values())


def conclude(partitioner: "Partitioner") -> None:
    """Reports the plan of the compiled code, and keeps its settings for later processes."""
    meter, code = partitioner.meter, partitioner.meter.code
    if code is None:
        return
    peaks = {**code.peaks, **meter.peaks}
    if len(peaks) == 2:
        chosen = [dataclasses.astuple(code.settings[each]) for each in (False, True)]
        cache.write(meter.name, {"settings": chosen, "peaks": [peaks[False], peaks[True]]})
    # Code that Inductor finds in its caches has met the same limit before.
    planned = dataclasses.replace(code.planned, peak=max(peaks.values(), default=code.planned.peak))
    if planned.peak > code.limit and partitioner.budget != UNLIMITED:
        planned = _warn_of_excess(partitioner, planned, code.limit)
    report.add(planned)
