"""Counts the memory of Inductor's code for a plan, read from its lines before they are compiled, and reduces it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator

from .._errors import RepriseWarning
from . import _plan_report as report
from ._plan_bits import AloneChoices
from ._plan_budgets import UNLIMITED
from ._plan_nodes import block_bytes
from ._plan_workspace import Measured
from ._seam import patches
from ._seam.core import tree_leaves
from ._seam.hooks import CustomSchedulerPass
from ._seam.inductor import CppScheduling, V, config, ir, wrapper as code

if TYPE_CHECKING:
    from ._plan_partition import Partitioner

#: Attempts to compile a graph whose code exceeds the budget.
TRIES = 8
#: Attempts without a budget, for regions of torch.utils.checkpoint: those that keep the plan.
TRIES_OF_REGIONS = 4
#: Largest distance, in operations of the plan, between the first and the last fused operation.
NEAR = 8
#: Share of the budget that may die within a C++ function, which frees all at its end.
DEAD = 1 / 64


class Exceeded(BaseException):
    """Signal that the code exceeds the budget, so that another attempt follows. Inductor would wrap an `Exception`."""


class NearChoices(AloneChoices):
    """Fuses only ops that the plan runs close together: fused ops run at one time, and all their operands live until
    then."""

    @staticmethod
    def can_fuse(scheduler: Any, left: Any, right: Any, score: int) -> bool:
        apart = max(left.max_order, right.max_order) - min(left.min_order, right.min_order)
        return apart <= NEAR and AloneChoices.can_fuse(scheduler, left, right, score)

    @staticmethod
    def can_fuse_horizontal(*ignored: Any) -> bool:
        return False


def _count_bytes(node: ir.Buffer) -> int:
    size = V.graph.sizevars.optimization_hint(V.graph.get_allocation_storage_size(node), fallback=0)
    return block_bytes(int(size * node.get_dtype().itemsize), node.get_device())


def _short_functions(limit: int) -> contextlib.AbstractContextManager:
    """Ends a C++ function early; otherwise it would run all kernels up to the next library op, although many values die
    within it."""
    is_ready = CppScheduling.ready_to_flush

    def ends(self: CppScheduling) -> bool:
        buffers, dead = V.graph.scheduler.name_to_buf, V.graph.scheduler.buffer_names_to_free - V.graph.removed_buffers
        return is_ready(self) or sum(_count_bytes(buffers[name].node) for name in dead if name in buffers) > limit * DEAD
    return patches.FLUSH.replaced(ends)


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """Facts of the plan about the two graphs that their code does not have."""

    #: Bytes of the forward pass's outputs, which exist during the whole backward pass.
    held: int
    #: Bytes by name of arguments that the backward pass drops at their last use: saved values, and gradients of
    #: outputs.
    given: dict[str, int]
    #: Allocations of library ops, by name.
    measured: dict[str, Measured]


class Tally:
    """The bytes that are live while the lines of one graph's code run."""

    def __init__(self, around: Surroundings, is_backward: bool) -> None:
        self.around = around
        self.sizes = dict(around.given) if is_backward else {}
        self.holds: dict[str, list[str]] = {name: [name] for name in self.sizes}
        self.holders = dict.fromkeys(self.sizes, 1)
        self.live = self.peak = sum(self.sizes.values()) + (around.held if is_backward else 0)

    def _make(self, name: str, node: ir.Buffer, returned: int = 0) -> str:
        self.sizes[name] = max(_count_bytes(node), returned)
        self.live += self.sizes[name]
        self.holders[name] = 0
        return name

    def _hold(self, name: str, storages: list[str]) -> None:
        self.holds[name] = self.holds.get(name, []) + storages
        for each in storages:
            self.holders[each] += 1

    def _drop(self, name: str) -> None:
        for each in self.holds.pop(name, ()):
            self.holders[each] -= 1
            if not self.holders[each]:
                self.live -= self.sizes[each]

    def _run(self, node: ir.ExternKernel) -> None:
        self.peak = max(self.peak, self.live + max((each.workspace for each in self._measured(node)), default=0))

    def _measured(self, node: ir.ExternKernel) -> list[Measured]:
        return [self.around.measured[each.name] for each in node.get_origins() if each.name in self.around.measured]

    def _call(self, node: ir.ExternKernelAlloc) -> None:
        """Adds a library op that allocates its results, which a tuple holds if there are several."""
        name, layout = node.get_name(), node.get_output_spec()
        if isinstance(layout, ir.MultiOutputLayout):
            parts = [each for each in tree_leaves(getattr(node, "outputs", ())) if isinstance(each, ir.MultiOutput)]
            owned = [each for each in parts if not each.get_inputs_that_alias_output()]
            self._hold(name, [self._make(each.get_name(), each, self._returned(node, each.indices)) for each in owned])
        elif isinstance(layout, ir.Layout) and not isinstance(layout, ir.MutationLayoutSHOULDREMOVE):
            self._hold(name, [self._make(name, node, self._returned(node, []))])
        self._run(node)

    def _returned(self, node: ir.ExternKernel, place: list[tuple[type, Any]]) -> int:
        """Returns the bytes of the storage of a result that eager code returns, which may be larger than the result."""
        measured = self._measured(node)
        if len(measured) != 1 or len(place) > 1 or place and not isinstance(place[0][1], int):
            return 0
        return measured[0].returned[place[0][1] if place else 0]

    def step(self, line: Any) -> None:
        """Counts one line. Kernels and other lines neither allocate nor free."""
        if isinstance(line, code.AllocateLine):
            name = line.node.get_name()
            self._hold(name, [self._make(name, line.node)])
        elif isinstance(line, (code.ReuseLine, code.ReinterpretLine)):
            old = line.node.get_name()
            self._hold(line.reused_as.get_name(), self.holds.get(old, []))
            if getattr(line, "delete_old", False):
                self._drop(old)
        elif isinstance(line, code.FreeLine) or isinstance(line, code.FreeIfNotReusedLine) and not line.is_reused:
            self._drop(line.node.get_name())
        elif isinstance(line, code.ExternKernelAllocLine):
            self._call(line.node)
        elif isinstance(line, code.ExternKernelOutLine):
            self._run(line.node)
        elif isinstance(line, code.MultiOutputLine) and line.result_name in self.sizes:
            self._hold(line.result_name, [line.result_name])
        self.peak = max(self.peak, self.live)


class Meter(CustomSchedulerPass):
    """Counter of the memory of both graphs' code, when Inductor has chosen which buffers are reused.

    At that time all lines of the code exist, and no kernel has been compiled.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.around: Surroundings | None = None
        self.limit, self.is_strict = 0, True
        self.peaks: dict[bool, int] = {}
        self.forward, self.forwards = "", dict[str, int]()

    def __deepcopy__(self, memo: dict) -> "Meter":
        return self  # Inductor copies its configuration, which contains this object.

    def __reduce__(self) -> tuple:
        return Meter, (self.key,)

    def uuid(self) -> str:
        return self.key

    def start(self, around: Surroundings, limit: int, forward: str) -> None:
        """Starts the count before the two graphs of a plan are compiled: code above the limit is abandoned if the meter
        is strict.

        Inductor does not compile a forward graph again that an earlier attempt has compiled.
        """
        patches.LINES.check()
        self.around, self.limit, self.forward = around, limit, forward
        self.peaks = {False: self.forwards[forward]} if forward in self.forwards else {}

    def __call__(self, nodes: list[Any]) -> list[Any]:
        lines, is_backward = V.graph.wrapper_code, V.graph.is_backward
        if self.around and not isinstance(lines, code.SubgraphPythonWrapperCodegen):
            lines.memory_plan_reuse = self._follow(lines.memory_plan_reuse, lines, is_backward)
        return nodes

    def _follow(self, plan_reuse: Any, lines: Any, is_backward: bool) -> Any:
        def run() -> None:
            plan_reuse()
            tally = Tally(self.around, is_backward)
            for line in lines.lines:
                tally.step(line)
            self.peaks[is_backward] = tally.peak
            if not is_backward:
                self.forwards[self.forward] = tally.peak
            if self.is_strict and tally.peak > self.limit:
                raise Exceeded
        return run

    @property
    def peak(self) -> int:
        return max(self.peaks.values(), default=0)


@dataclasses.dataclass(frozen=True)
class Try:
    """Settings of an attempt: the byte limit of the plan (None: the budget), whether only near operations are fused,
    whether values are stored if that frees more than it needs, and whether a buffer waits for the next buffer of its
    size. Inductor lets it wait if its own estimate of the peak allows that, which knows neither the workspace of
    libraries nor the memory around the graph."""

    within: int | None = None
    is_near: bool = False
    stores: bool = False
    reuses: bool = False

    @contextlib.contextmanager
    def choices(self, limit: int) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if not self.reuses:
                stack.enter_context(config.patch(allow_buffer_reuse=False))
            if self.is_near:
                stack.enter_context(V.set_choices_handler(NearChoices()))
                stack.enter_context(_short_functions(limit))
            yield


def _make_least(compile_once: Callable[[], Callable], partitioner: "Partitioner", least: dict[Try, int]) -> Callable:
    """Returns the code that needs the least memory. Of abandoned code, the counted passes give a lower bound."""
    meter, made = partitioner.meter, {}
    meter.is_strict = False
    while (best := min(least, key=least.get)) not in made:
        partitioner.within, partitioner.stores = best.within, best.stores
        with best.choices(meter.limit):
            made[best] = compile_once(), partitioner.planned
        least[best] = meter.peak
    code, partitioner.planned = made[best]
    meter.peaks = dict.fromkeys((False, True), least[best])
    return code


def _list_tries(meter: Meter, tried: dict[Try, int], plans: dict[Try, int]) -> Iterator[Try]:
    """Yields first other code for the same plan. Then yields alternately plans that need less memory, by as much as the
    code exceeded and one hundredth more, and plans between the budget and the least memory of any code: these replay
    less, and operands of ops fused with replays live longer, too."""
    yield Try(reuses=True)
    yield Try()
    yield Try(is_near=True)
    yield (less := Try(is_near=True, stores=True))
    more = min(tried.values())
    while True:
        yield (less := Try(plans[less] * meter.limit * 99 // (100 * tried[less]), is_near=True, stores=True))
        more = math.isqrt(meter.limit * more)
        yield Try(more, is_near=True, stores=True)


def _search(compile_once: Callable[[], Callable], partitioner: "Partitioner") -> Callable:
    """Returns the first code that fits the budget, or otherwise the code that needs the least. Without a budget the
    plan's peak is the budget."""
    meter, tried, plans = partitioner.meter, {}, {}
    is_free = partitioner.budget == UNLIMITED
    for each in itertools.islice(_list_tries(meter, tried, plans), TRIES_OF_REGIONS if is_free else TRIES):
        try:
            partitioner.within, partitioner.stores = each.within, each.stores
            with each.choices(meter.limit):
                return compile_once()
        except Exceeded:
            tried[each], plans[each] = meter.peak, partitioner.planned.peak
    made = _make_least(compile_once, partitioner, tried)
    if is_free:
        return made
    if partitioner.is_wish:
        partitioner.planned = dataclasses.replace(partitioner.planned, budget=meter.peak)
        warnings.warn(f"Inductor's code needs at least {meter.peak:,} bytes, which replaces the budget of {partitioner.budget}",
                      RepriseWarning, stacklevel=2)
        return made
    warnings.warn(f"the budget of {partitioner.budget} ({meter.limit:,} bytes) is not met: Inductor's code needs "
                  f"{meter.peak:,} bytes, {meter.peak - meter.limit:,} more, because Inductor keeps some values in memory longer "
                  "than the plan", RepriseWarning, stacklevel=2)
    return made


def compile_within(compile_once: Callable[[], Callable], partitioner: "Partitioner") -> Callable:
    """Compiles until the code of both passes fits the budget. Therefore the backward pass must be compiled at once,
    too."""
    made = _search(compile_once, partitioner)
    partitioner.meter.is_strict = False
    if partitioner.planned:
        # Code that Inductor finds in its caches is not counted again.
        peak = partitioner.meter.peak if len(partitioner.meter.peaks) == 2 else partitioner.planned.peak
        report.add(dataclasses.replace(partitioner.planned, peak=peak))
    return made
