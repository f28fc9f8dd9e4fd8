"""What was planned in this process."""

from __future__ import annotations

import dataclasses

from .._report import show_bytes, show_bytes_exactly

_plans: list["GraphPlan"] = []


@dataclasses.dataclass(frozen=True, repr=False)
class GraphPlan:
    """The plan of one graph. Bytes are those that the allocator is asked for, beside parameters and inputs."""

    #: What the plan had to fit into, or None.
    budget: int | None
    #: The most that a step takes at once: values, gradients, and what libraries allocate inside ops. Within a budget that
    #: of Inductor's code, where it runs.
    peak: int
    #: The same without a replay.
    peak_without_replays: int
    #: What the backward pass leaves behind.
    gradient_bytes: int
    #: What the forward pass leaves for the backward one, beside outputs and arguments.
    saved_bytes: int
    #: Ops that run a second time, and how many of them draw random words.
    replays: int
    random_replays: int
    #: Seconds by the cost model: of a step without replays, and what replays add to it.
    seconds: float
    extra_seconds: float
    #: Percent of a step's cost that any plan within the budget adds at least.
    bound_percent: float

    @property
    def extra_percent(self) -> float:
        """What replays add to a step, in percent of its cost."""
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
