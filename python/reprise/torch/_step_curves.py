"""Finds plans of each graph for a step: the planner is asked for the limits that the other graphs leave."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

from . import _plan_cache as cache
from . import _plan_partition as partition
from ._plan_problem import Problem
from ._step_joint import Choice, Lifetimes, Option, Row, Search, held_bytes, peak_of
from ._step_weights import Weight, border_bytes, leave_out_empty, limit_saved, weigh

#: Limits of the saved bytes that are tried, as shares of the bytes that are saved without replays.
LEVELS = (0.0, 0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0)
#: Rounds in which each graph is planned for what the others leave, and corrections of one such plan.
ROUNDS, CORRECTIONS = 3, 4
#: Reductions of the smallest peak by this share are tried before an error names it.
LESS = 1 / 16


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


class Joint:
    """Planner of all graphs of a step."""

    def __init__(self, curves: Sequence[Curve], rows: Sequence[Row], calls: Sequence[int], current: Sequence[Option]) -> None:
        self.curves, self.rows, self.calls = curves, rows, calls
        self.pools = [{each.limits: each for each in [option, *curve.start()]} for curve, option in zip(curves, current)]

    def _search(self) -> Search:
        return Search(self.rows, [list(each.values()) for each in self.pools], self.calls)

    def plan(self, budget: int) -> Choice | None:
        """Returns the fastest plans within a budget, or None."""
        choice = self._search().run(budget)
        for _ in range(ROUNDS):
            before = choice or self._search().smallest()
            self._refine(before, budget)
            choice = self._search().run(budget)
            if choice and choice.seconds >= before.seconds - 1e-9 and peak_of(self.rows, before.options) <= budget:
                break
        return choice

    def smallest(self) -> Choice:
        """Returns the plans with the least peak that is found. No budget decides it."""
        choice = self._search().smallest()
        for _ in range(2 * ROUNDS):
            self._refine(choice, int(choice.peak * (1 - LESS)))
            less = self._search().smallest()
            if less.peak >= choice.peak * (1 - LESS / 8):
                return min(choice, less, key=lambda each: each.peak)
            choice = less
        return choice

    def _refine(self, choice: Choice, budget: int) -> None:
        """Adds plans of each graph for the bytes that the choice of the other graphs leaves."""
        for graph, curve in enumerate(self.curves):
            for saved in self._levels(choice, graph, budget):
                for option in self._correct(choice, graph, budget, saved):
                    self.pools[graph][option.limits] = option

    def _levels(self, choice: Choice, graph: int, budget: int) -> list[int | None]:
        """Returns limits of the saved bytes; only None if a call waits for nothing but its own backward pass."""
        counts = [dict(each.waiting).get(graph, 0) for each in self.rows]
        if all(count == 0 or each.waiting == ((graph, 1),) for count, each in zip(counts, self.rows)):
            return [None]
        more = choice.options[graph].weight.saved + max(0, budget - choice.peak) // max(counts)
        return sorted({int(each * self.curves[graph].whole.saved) for each in LEVELS} | {more})

    def _correct(self, choice: Choice, graph: int, budget: int, saved: int | None) -> Iterator[Option]:
        """Yields the plan within the peak that is left, and smaller ones until the step fits."""
        curve, others = self.curves[graph], list(choice.options)
        border = curve.whole.before - curve.whole.saved
        rows = [each for each in self.rows if each.graph == graph and each.kind != "forward"]
        peak = curve.whole_peak
        for row in rows:
            rest = sum(row.bytes_of(other, option.held, option.weight) for other, option in enumerate(others) if other != graph)
            waiting = dict(row.waiting).get(graph, 1)
            peak = min(peak, budget - row.level - rest - (waiting - 1) * (saved or 0) + border)
        for _ in range(CORRECTIONS):
            if peak <= 0:
                return
            option = curve.option(peak, saved)
            yield option
            others[graph] = option
            excess = max(each.level + sum(each.bytes_of(other, one.held, one.weight) for other, one in enumerate(others)) - budget
                         for each in self.rows)
            if excess <= 0 or not curve.weigh(peak, saved)[1]:
                return
            peak -= excess
