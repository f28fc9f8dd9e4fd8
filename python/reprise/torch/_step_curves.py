"""Finds plans of each graph for a step: the planner is asked for the limits that the other graphs leave."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Sequence

from . import _plan_cache as cache
from . import _plan_partition as partition
from ._plan_nodes import storage_bytes
from ._plan_problem import Problem
from ._step_joint import Choice, Lifetimes, Option, Row, held_bytes, peak_of
from ._step_weights import Weight, border_bytes, leave_out_empty, limit_saved, weigh, weigh_code

#: Limits of the saved bytes that are tried, as shares of the bytes that are saved without replays.
LEVELS = (0.0, 0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0)
#: Smaller peaks that are tried for a first plan.
FIRST = 4
#: Corrections of a plan whose step exceeds the budget.
CORRECTIONS = 4


def ask_within(problem: Problem, peak: int, saved: int | None) -> partition.Answer:
    """Returns the plan within a peak, and within bytes that are saved, if that is a number. If no plan fits both, the
    plan is the nearest."""
    content = problem.to_json()
    taken = 0 if saved is None else peak - saved - border_bytes(problem)
    if taken <= 0:
        return partition.ask(content, str(peak))
    answer = partition.ask(limit_saved(content, problem.border, taken), str(peak))
    return partition.Answer(answer.summary, {**answer.plan, "executions": leave_out_empty(answer.plan["executions"], problem.border)})


def least_saved(problem: Problem, peak: int, num_fwd_outputs: int) -> int | None:
    """Returns the fewest bytes that a plan within a peak saves; None if they are not bounded."""
    nearest = ask_within(problem, peak, 0)
    saved = weigh(problem, nearest.plan["executions"], num_fwd_outputs).saved
    return saved if ask_within(problem, peak, saved).fits else None


def smallest_first(problem: Problem, peak: int, saved: int, num_fwd_outputs: int) -> int:
    """Returns a peak within which a plan saves ``saved`` bytes, as small as a few tries find. Smaller peaks are only tried
    if two calls at once might not fit ``peak``, because each try is a search."""
    def weigh_within(limit: int) -> tuple[int, bool]:
        answer = ask_within(problem, limit, saved)
        return weigh(problem, answer.plan["executions"], num_fwd_outputs).peak, answer.fits

    least, (small, _) = 0, weigh_within(peak)
    if 2 * small <= peak:
        return peak
    for _ in range(FIRST):
        found, fits = weigh_within(tried := (least + small) // 2)
        least, small = (least, found) if fits else (tried, small)
    return small


class Curve:
    """The plans of one graph."""

    def __init__(self, problem: Problem, num_fwd_outputs: int) -> None:
        self.problem, self.num_fwd_outputs = problem, num_fwd_outputs
        self.key = cache.key(problem.to_json())
        self._known: dict[tuple[int, int | None], tuple[Weight, bool]] = {}
        operations = range(len(problem.operations))
        originals = [{"operation": place, "replay": 0, "sources": [None if value is None else problem.value_makers[value] for value in
                      problem.operands(problem.operations[place])]} for place in operations]
        #: The plan without replays.
        self.whole = weigh(problem, originals, num_fwd_outputs)
        self.whole_peak = max(self.whole.forward, self.whole.before + self.whole.backward)
        #: Weights of plans that are compiled to code by Inductor, by their limits, with the bytes that the code needs.
        self._codes: dict[tuple[int, int | None], Weight] = {}
        #: The plan of recorded steps, and how long its arguments and outputs lived.
        self.recorded, self.lives = self.whole, Lifetimes()

    def weigh(self, peak: int, saved: int | None) -> tuple[Weight, bool]:
        """Returns the weight of a plan, and whether it fits its limits."""
        if (peak, saved) not in self._known:
            answer = ask_within(self.problem, peak, saved)
            self._known[peak, saved] = weigh(self.problem, answer.plan["executions"], self.num_fwd_outputs), answer.fits
        return self._known[peak, saved]

    def record(self, limits: tuple[int, int | None], executions: list[dict[str, Any]]) -> None:
        """Notes the plan that recorded steps run."""
        self.recorded = weigh(self.problem, executions, self.num_fwd_outputs)
        self._known[limits] = self.recorded, True

    def count_code(self, option: Option, needed: tuple[int, int]) -> None:
        """Notes the bytes that the code of a plan needs in each pass."""
        self._codes[option.limits] = weigh_code(option.weight, needed, sum(map(storage_bytes, self.problem.list_tangents())))

    def executed(self, option: Option) -> Option:
        """Returns a plan with the bytes of its code, if these are known."""
        return dataclasses.replace(option, weight=self._codes.get(option.limits, option.weight))

    def option(self, peak: int, saved: int | None) -> Option:
        weight = self.weigh(peak, saved)[0]
        return Option(peak, saved, weight, held_bytes(weight, self.recorded, self.lives))

    def reference(self) -> Option:
        return Option(self.whole_peak, None, self.whole, held_bytes(self.whole, self.recorded, self.lives))

    def smallest_peak(self) -> int:
        weight = self.weigh(1, None)[0]
        return max(weight.forward, weight.before + weight.backward)

    def start(self) -> list[Option]:
        """Returns plans that do not depend on the step: of few saved bytes, and of a small peak."""
        peaks = [(self.whole_peak, None), (self.smallest_peak(), None)]
        peaks += [(self.whole_peak, int(level * self.whole.saved)) for level in LEVELS[:-1]]
        return [self.option(*each) for each in peaks if self.weigh(*each)[1] or each[1] == 0]

    def propose(self, rows: Sequence[Row], choice: Choice, graph: int, budget: int) -> Iterator[Option]:
        """Yields plans for the bytes that the choice of the other graphs leaves."""
        for saved in self._levels(rows, choice, graph, budget):
            yield from self._correct(rows, choice, graph, budget, saved)

    def _levels(self, rows: Sequence[Row], choice: Choice, graph: int, budget: int) -> list[int | None]:
        """Returns limits of the saved bytes; only None if a call waits for nothing but its own backward pass."""
        counts = [dict(each.waiting).get(graph, 0) for each in rows]
        if all(count == 0 or each.waiting == ((graph, 1),) for count, each in zip(counts, rows)):
            return [None]
        more = choice.options[graph].weight.saved + max(0, budget - choice.peak) // max(counts)
        return sorted({int(each * self.whole.saved) for each in LEVELS} | {more})

    def find_room(self, rows: Sequence[Row], options: Sequence[Option], graph: int, budget: int, saved: int) -> int:
        """Returns the peak, by the planner's count, that the budget leaves to the backward passes of a graph whose other
        waiting calls save ``saved`` bytes."""
        left = []
        for row in rows:
            if row.graph == graph and row.kind != "forward":
                rest = sum(row.bytes_of(other, option.held, option.weight) for other, option in enumerate(options) if other != graph)
                left.append(budget - row.level - rest - (dict(row.waiting).get(graph, 1) - 1) * saved)
        return min(left, default=budget) + self.whole.before - self.whole.saved

    def _correct(self, rows: Sequence[Row], choice: Choice, graph: int, budget: int, saved: int | None) -> Iterator[Option]:
        """Yields the plan within the peak that is left, and smaller ones until the step fits."""
        options = list(choice.options)
        peak = min(self.whole_peak, self.find_room(rows, options, graph, budget, saved or 0))
        for _ in range(CORRECTIONS):
            if peak <= 0:
                return
            options[graph] = self.option(peak, saved)
            yield options[graph]
            excess = peak_of(rows, options) - budget
            if excess <= 0 or not self.weigh(peak, saved)[1]:
                return
            peak -= excess


