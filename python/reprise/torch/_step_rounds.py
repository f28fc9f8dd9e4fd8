"""Plans graphs jointly: asks each graph's curve for plans, and chooses among them."""

from __future__ import annotations

from typing import Iterator, Protocol, Sequence

from ._step_joint import Choice, Option, Row, Search, peak_of

#: Rounds in which each graph is planned for what the others leave.
ROUNDS = 3
#: Reductions of the smallest peak by this share are tried before an error names it.
LESS = 1 / 16


class Proposer(Protocol):
    """Source of the plans of one graph."""

    def start(self) -> list[Option]:
        """Returns plans that do not depend on the step."""

    def propose(self, rows: Sequence[Row], choice: Choice, graph: int, budget: int) -> Iterator[Option]:
        """Yields plans for the bytes that the choice of the other graphs leaves."""


class Joint:
    """Planner of all graphs of a step."""

    def __init__(self, curves: Sequence[Proposer], rows: Sequence[Row], calls: Sequence[int], current: Sequence[Option]) -> None:
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
            for option in curve.propose(self.rows, choice, graph, budget):
                self.pools[graph][option.limits] = option
