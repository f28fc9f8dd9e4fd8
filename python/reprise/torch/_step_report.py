"""Reports the plans of steps."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from .._report import show_bytes, show_bytes_exactly
from ._plan_progress import log
from ._step_joint import Choice, Row

_steps: list["StepPlan"] = []


@dataclasses.dataclass(frozen=True)
class GraphShare:
    """Part of one graph in a step's plan."""

    #: Backward passes of the graph in the recorded steps, and calls that wait for theirs at once.
    calls: int
    waiting: int
    #: Bytes that one call saves, and the highest bytes that its two passes need.
    saved_bytes: int
    forward_bytes: int
    backward_bytes: int
    #: Limits for which the graph was planned: of its own peak, and of the bytes that it saves (None: no limit).
    peak_limit: int
    saved_limit: int | None
    #: Seconds of the replays of one backward pass, by the cost model.
    extra_seconds: float


@dataclasses.dataclass(frozen=True, repr=False)
class StepPlan:
    """Plan of all graphs of a step. Bytes are those that the allocator holds beside parameters and inputs."""

    #: Budget of the step in bytes.
    budget: int
    #: Predicted peak of the step on this rank; and that of a step without replays on the rank that holds the most.
    peak: int
    peak_without_replays: int
    #: Most bytes that are held beside the plans of graphs: gradients, outputs, and what the program allocates.
    other_bytes: int
    #: Seconds that replays add by the cost model; seconds of these that are not proved necessary among all plans tried.
    extra_seconds: float
    gap: float
    graphs: tuple[GraphShare, ...]

    def __str__(self) -> str:
        lines = [f"budget of the step {show_bytes_exactly(self.budget)}: peak {show_bytes_exactly(self.peak)}, without replays "
                 f"{show_bytes(self.peak_without_replays)}; up to {show_bytes(self.other_bytes)} beside plans; replays take "
                 f"{1e3 * self.extra_seconds:.3g} ms (gap {1e3 * self.gap:.3g} ms)"]
        lines += [f"  graph {number}: {each.calls} calls, {each.waiting} at once, each saves {show_bytes(each.saved_bytes)}, needs "
                  f"{show_bytes(each.forward_bytes)} forward and {show_bytes(each.backward_bytes)} backward, replays take "
                  f"{1e3 * each.extra_seconds:.3g} ms" for number, each in enumerate(self.graphs)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<StepPlan: {self}>"


def steps() -> list[StepPlan]:
    """The plans of steps that were made in this process, the latest last."""
    return list(_steps)


def add(step: StepPlan) -> int:
    """Adds a plan; returns its number."""
    _steps.append(step)
    log.info("step %d: %s", len(_steps), step)
    return len(_steps) - 1


def correct(number: int, peak: int) -> None:
    """Changes the predicted peak of a plan."""
    _steps[number] = dataclasses.replace(_steps[number], peak=peak)


def describe(limit: int, reference: int, choice: Choice, calls: Sequence[int], rows: Sequence[Row]) -> StepPlan:
    """Returns the report of a choice."""
    def share(number: int) -> GraphShare:
        option = choice.options[number]
        waiting = max((dict(each.waiting).get(number, 0) for each in rows), default=0)
        weight = option.weight
        return GraphShare(calls[number], waiting, weight.saved, weight.forward, weight.backward, *option.limits, weight.seconds)
    return StepPlan(limit, choice.peak, reference, max((each.level for each in rows), default=0), choice.seconds, choice.gap,
                    tuple(share(number) for number in range(len(calls))))
