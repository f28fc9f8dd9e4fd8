"""Reports the plans of this process."""

from __future__ import annotations

import dataclasses
import os

from .._report import show_bytes, show_bytes_exactly
from . import _plan_snapshot as snapshot
from ._plan_progress import log

_plans: list["GraphPlan"] = []


@dataclasses.dataclass(frozen=True)
class RegionPlan:
    """Bytes of a region with a budget. Values that leave the region do not count."""

    #: Budget as it was given, and its bytes.
    budget: str
    limit: int
    #: Bytes that the region saves for the backward pass, and what it saves without replays.
    saved_bytes: int
    saved_without_replays: int


@dataclasses.dataclass(frozen=True, repr=False)
class GraphPlan:
    """Plan of one graph. Bytes are those requested from the allocator, in addition to parameters and inputs."""

    #: Limit of the plan in bytes, or None.
    budget: int | None
    #: Peak bytes of a step: values, gradients, and allocations of libraries inside ops. Within a budget that of
    #: Inductor's code, if it runs.
    peak: int
    #: Peak bytes without a replay.
    peak_without_replays: int
    #: Bytes that the backward pass leaves.
    gradient_bytes: int
    #: Bytes that the forward pass leaves for the backward pass, in addition to outputs and arguments.
    saved_bytes: int
    #: Number of ops that run a second time, and of those that draw random words.
    replays: int
    random_replays: int
    #: Seconds by the cost model: of a step without replays, and of the replays.
    seconds: float
    extra_seconds: float
    #: Percent of a step's cost that any plan within the budget adds at least.
    bound_percent: float
    #: Bits of the code: "plan", equal under every plan, or "inductor", whose low bits depend on the plan.
    bits: str = "plan"
    #: Number of executions of the plan, and the memory that they hold.
    executions: int = dataclasses.field(default=0, compare=False)
    spans: tuple[snapshot.Span, ...] = dataclasses.field(default=(), compare=False)
    #: Regions with a budget, inner ones first.
    regions: tuple[RegionPlan, ...] = ()
    #: Bytes that wait in the memory of the host between the passes.
    host_bytes: int = 0

    @property
    def extra_percent(self) -> float:
        """Returns the cost of replays in percent of the step's cost."""
        return 100 * self.extra_seconds / self.seconds if self.seconds else 0.0

    def write_snapshot(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan's memory for https://pytorch.org/memory_viz: each value with its op and the lines of the program.

        The snapshot is that of the plan; Inductor's code keeps some values out of memory.
        """
        snapshot.write(path, self.spans, self.executions)

    def __str__(self) -> str:
        bits = "" if self.bits == "plan" else f"; bits of {self.bits}'s own fusion"
        budget = "no budget" if self.budget is None else f"budget {show_bytes_exactly(self.budget)}"
        return (f"{budget}: peak {show_bytes_exactly(self.peak)}, without replays {show_bytes(self.peak_without_replays)}; "
                f"{show_bytes(self.saved_bytes)} saved, {self.replays} replays ({self.random_replays} random), "
                f"cost +{self.extra_percent:.2f} % (lower bound +{self.bound_percent:.2f} %)"
                f"{bits}")

    def __repr__(self) -> str:
        return f"<GraphPlan: {self}>"


def plans() -> list[GraphPlan]:
    """The plans that were made in this process, the latest last. Plans from a cache of Inductor are not made again."""
    return list(_plans)


def add(plan: GraphPlan) -> None:
    _plans.append(plan)
    log.info("plan %d: %s", len(_plans), plan)
