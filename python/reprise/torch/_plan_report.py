"""Reports the plans of this process."""

from __future__ import annotations

import dataclasses

from .._report import show_bytes, show_bytes_exactly

_plans: list["GraphPlan"] = []


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

    @property
    def extra_percent(self) -> float:
        """Returns the cost of replays in percent of the step's cost."""
        return 100 * self.extra_seconds / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        budget = "no budget" if self.budget is None else f"budget {show_bytes_exactly(self.budget)}"
        return (f"{budget}: peak {show_bytes_exactly(self.peak)}, without replays {show_bytes(self.peak_without_replays)}; "
                f"{show_bytes(self.saved_bytes)} saved, {self.replays} replays ({self.random_replays} random), "
                f"cost +{self.extra_percent:.2f} % (lower bound +{self.bound_percent:.2f} %)")

    def __repr__(self) -> str:
        return f"<GraphPlan: {self}>"


def plans() -> list[GraphPlan]:
    """The plans that were made in this process, the latest last. Plans from a cache of Inductor are not made again."""
    return list(_plans)


def add(plan: GraphPlan) -> None:
    _plans.append(plan)
