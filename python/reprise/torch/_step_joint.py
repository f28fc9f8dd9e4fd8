"""Chooses one plan for each graph of a step, so that the step's peak fits a budget: a search over the graphs' options."""

from __future__ import annotations

import bisect
import dataclasses
from typing import Sequence

from ._step_weights import Place, Weight

#: Choices that a search looks at before it ends with a gap.
MOVES = 200_000


@dataclasses.dataclass(frozen=True)
class Row:
    """A moment of the step at which memory may be highest: a pass of a graph, or the program between passes."""

    #: "forward", "backward", "freed" (a backward pass in which the gradients of outputs die), "kept" (one that keeps the
    #: graph), or "program".
    kind: str
    #: Graph that runs, by its number; None for the program.
    graph: int | None
    #: Bytes that the allocator holds beside the saved values of graphs, and that the pass needs beyond its plan.
    level: int
    #: For each graph, by its number, how many of its calls wait for their backward pass, this pass's own call included.
    waiting: tuple[tuple[int, int], ...]

    def bytes_of(self, graph: int, held: int, weight: Weight) -> int:
        """Returns the bytes that a plan of a graph adds, if each of its calls holds ``held`` bytes."""
        own = {"forward": weight.forward, "backward": weight.backward, "freed": weight.backward_freed, "kept": weight.backward_kept}
        return dict(self.waiting).get(graph, 0) * held + (own[self.kind] if self.graph == graph else 0)


@dataclasses.dataclass(frozen=True)
class Option:
    """A plan of one graph, and the limits that the planner found it for."""

    peak_limit: int
    saved_limit: int | None
    weight: Weight
    #: Bytes that a call holds between its passes, compared with a call whose plan saves nothing.
    held: int

    @property
    def limits(self) -> tuple[int, int | None]:
        return self.peak_limit, self.saved_limit


@dataclasses.dataclass
class Choice:
    """Options, one for each graph. At most ``gap`` seconds are not proved necessary among all options."""

    options: list[Option]
    peak: int
    seconds: float
    gap: float = 0.0


@dataclasses.dataclass
class Lifetimes:
    """Facts of recorded steps about the arguments and outputs of a graph."""

    #: Places that were gone when the backward pass of a call began, as no plan held them.
    dead: set[Place] = dataclasses.field(default_factory=set)
    #: Places that were gone behind the backward pass, in all calls, and not before: only saved values held them. None
    #: before the first call.
    sole: set[Place] | None = None


def held_bytes(weight: Weight, recorded: Weight, lives: Lifetimes) -> int:
    """Returns the bytes that a call holds: saved values, and arguments and outputs that live longer because of the plan
    than in the recorded step. Those that the recorded plan alone held are subtracted, unless the plan reads them."""
    more = sum(size for place, size in weight.reads.items() if place in lives.dead and place not in recorded.reads)
    less = sum(size for place, size in recorded.reads.items() if place in (lives.sole or ()) and place not in weight.reads)
    return weight.saved + more - less


def merge(rows: Sequence[Row]) -> list[Row]:
    """Returns the highest row of each pass, among those with the same waiting calls."""
    best: dict[tuple, Row] = {}
    for each in rows:
        key = (each.kind, each.graph, each.waiting)
        if key not in best or each.level > best[key].level:
            best[key] = each
    return list(best.values())


def peak_of(rows: Sequence[Row], options: Sequence[Option]) -> int:
    """Returns the step's peak."""
    return max((each.level + sum(each.bytes_of(graph, option.held, option.weight) for graph, option in enumerate(options))
                for each in rows), default=0)


class Search:
    """Exact search over options, by branches whose least bytes and least seconds are known."""

    def __init__(self, rows: Sequence[Row], options: Sequence[Sequence[Option]], calls: Sequence[int]) -> None:
        self.rows = list(rows)
        self.calls = calls
        # The graphs with the longest replays come first, because their choices end the most branches.
        self.order = sorted(range(len(options)), key=lambda graph: -calls[graph] * max(each.weight.seconds for each in options[graph]))
        self.options = [sorted(options[graph], key=lambda each: (each.weight.seconds, each.held, each.limits[0]))
                        for graph in self.order]
        self.adds = [[[row.bytes_of(graph, each.held, each.weight) for row in self.rows] for each in choices]
                     for graph, choices in zip(self.order, self.options)]
        self.least = [[0] * len(self.rows)]
        self.fastest = [0.0]
        for graph, choices, adds in reversed(list(zip(self.order, self.options, self.adds))):
            self.least.insert(0, [rest + min(column) for rest, column in zip(self.least[0], zip(*adds))] if self.rows else [])
            self.fastest.insert(0, self.fastest[0] + calls[graph] * choices[0].weight.seconds)

    def run(self, budget: int, takes_first: bool = False) -> Choice | None:
        """Returns the fastest options that fit, or None. ``takes_first`` ends with the first that fit."""
        self.left, self.best, self.bound, self.stops = MOVES, None, float("inf"), takes_first
        self._descend(0, [budget - row.level for row in self.rows], [], 0.0)
        if self.best is None:
            return None
        chosen = dict(zip(self.order, self.best))
        options = [chosen[graph] for graph in range(len(self.order))]
        gap = max(0.0, self.bound - self.fastest[0]) if self.left <= 0 else 0.0
        return Choice(options, peak_of(self.rows, options), self.bound, gap)

    def _descend(self, depth: int, room: list[int], taken: list[Option], seconds: float) -> None:
        if seconds + self.fastest[depth] >= self.bound or self.left <= 0:
            return
        if any(least > free for least, free in zip(self.least[depth], room)):
            return
        if depth == len(self.order):
            self.best, self.bound = list(taken), seconds
            return
        for option, adds in zip(self.options[depth], self.adds[depth]):
            self.left -= 1
            if self.stops and self.best is not None:
                return
            self._descend(depth + 1, [free - add for free, add in zip(room, adds)], [*taken, option],
                          seconds + self.calls[self.order[depth]] * option.weight.seconds)

    def smallest(self) -> Choice:
        """Returns the options with the least peak."""
        low = max((row.level + least for row, least in zip(self.rows, self.least[0])), default=0)
        high = peak_of(self.rows, [min(choices, key=lambda each: each.held)
                                   for _, choices in sorted(zip(self.order, self.options), key=lambda each: each[0])])
        if low >= high:
            return self.run(high)
        found = bisect.bisect_left(range(low, high), True, key=lambda budget: self.run(budget, takes_first=True) is not None)
        return self.run(low + found)
