"""Plans all graphs of a recorded step together."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .._errors import IN_ITS_PLACE, Error, RepriseWarning, least_met
from . import _plan_cache as cache
from . import _step_ranks as ranks
from . import _step_report as report
from ._plan_budgets import to_bytes
from ._plan_partition import sources
from ._plan_progress import searching
from ._step_joint import Choice, Option, Row, merge, peak_of
from ._step_rounds import Joint

if TYPE_CHECKING:
    from ._step_graphs import StepGraph
    from ._step_ledger import Known

#: Bytes of scalars, such as the gradient of a loss, for which no graph is compiled again.
SCALARS = 64
#: Share of a step's replays that is not worth compiling again.
WORTH = 0.01


#: Orders of passes that were recorded.
Orders = Mapping[tuple, "Known"]


def exceed(budget: str, needed: int, waiting: int) -> Error:
    """Returns the error of a pass that surely needs more bytes than the budget."""
    return Error(f"the step needs {needed:,} bytes, more than the budget of {budget} ({to_bytes(budget):,} bytes): calls that wait at once for "
                 f"their backward passes: {waiting}, each with its smallest plan; raise the budget, or run fewer forward passes before a "
                 "backward pass", least_budget=needed)


def plan(budget: str, known: Orders, graphs: Mapping[int, "StepGraph"]) -> None:
    """Gives each graph of the known orders its plan. Raises an error if bytes cannot be met."""
    numbers, own = _numbers(known), _table(known)
    rows = ranks.share(_key(budget, known, graphs), own)
    calls = [sum(each.passes.get(number, 0) for each in known.values()) for number in numbers]
    step = Step(budget, [graphs[number] for number in numbers], rows, calls)
    choice = step.choose()
    for number, (graph, option) in enumerate(zip(step.graphs, choice.options)):
        graph.planned = option
        graph.room = graph.curve.find_room(step.rows, choice.options, number, step.limit, option.held)
    prediction = Prediction(own, step.graphs, choice.options)
    prediction.number = report.add(report.describe(step.limit, step.reference, dataclasses.replace(choice, peak=prediction.peak()),
                                                   calls, step.rows))


class Prediction:
    """Predicted peak of a planned step on this rank. The plan fits on every rank. The prediction changes when a graph is
    compiled, because Inductor's code needs other bytes than its plan."""

    def __init__(self, orders: Sequence[Sequence[Row]], graphs: Sequence["StepGraph"], options: Sequence[Option]) -> None:
        self.orders, self.number = orders, -1
        self.options = [graph.curve.executed(option) for graph, option in zip(graphs, options)]
        for place, graph in enumerate(graphs):
            graph.notify = functools.partial(self._correct, place)

    def peak(self) -> int:
        return max(peak_of(each, self.options) for each in self.orders)

    def _correct(self, place: int, option: Option) -> None:
        if option.limits == self.options[place].limits:
            self.options[place] = option
            report.correct(self.number, self.peak())


def publish(budget: str, known: Orders, graphs: Mapping[int, "StepGraph"]) -> None:
    """Gives the other ranks the rows of the known orders."""
    ranks.publish(_key(budget, known, graphs), _table(known))


def _numbers(known: Orders) -> list[int]:
    """Returns the graphs of the known orders."""
    return sorted({number for each in known.values() for number in each.passes})


def _table(known: Orders) -> list[list[Row]]:
    """Returns the rows of each order."""
    numbers = _numbers(known)
    return [[_renumber(row, numbers) for row in each.rows] for each in known.values()]


def _key(budget: str, known: Orders, graphs: Mapping[int, "StepGraph"]) -> str:
    """Returns a key that is equal on ranks that run the same steps with the same plans."""
    numbers = _numbers(known)
    orders = [[(kind, numbers.index(each) if kind == "F" else each) for kind, each in order] for order in known]
    return ranks.key_of(budget, [(graphs[number].curve.key, graphs[number].current().limits) for number in numbers], orders,
                        [each.count for each in known.values()])


def _renumber(row: Row, numbers: Sequence[int]) -> Row:
    """Returns a row whose graphs are numbered by their places in the step."""
    return dataclasses.replace(row, graph=None if row.graph is None else numbers.index(row.graph),
                               waiting=tuple((numbers.index(graph), count) for graph, count in row.waiting))


def _is_alone(rows: Sequence[Row]) -> bool:
    """Returns whether no other call waits while a graph runs."""
    return len({each.waiting for each in rows} - {()}) <= 1 and all(sum(count for _, count in each.waiting) <= 1 for each in rows)


class Step:
    """The problem of one step: for each order of calls that is known, its rows."""

    def __init__(self, budget: str, graphs: Sequence["StepGraph"], orders: Sequence[Sequence[Row]], calls: Sequence[int]) -> None:
        self.budget, self.graphs, self.calls = budget, graphs, calls
        self.is_share, self.is_alone = budget.endswith("%"), all(map(_is_alone, orders))
        self.curves = [each.curve for each in graphs]
        self.current = [each.current() for each in graphs]
        wholes = [each.reference() for each in self.curves]
        peaks = [peak_of(rows, wholes) for rows in orders]
        self.reference = max(peaks)
        limits = [int(each * float(budget[:-1]) / 100) if self.is_share else to_bytes(budget) for each in peaks]
        self.limit = max(limits)
        # Orders have shares of their own. We raise the rows of smaller ones instead of searching with several limits.
        self.rows = merge([dataclasses.replace(row, level=row.level + self.limit - limit)
                           for rows, limit in zip(orders, limits) for row in rows])

    def _now(self) -> Choice:
        return Choice(self.current, peak_of(self.rows, self.current), self._seconds(self.current))

    def _seconds(self, options: Sequence[Option]) -> float:
        return sum(count * each.weight.seconds for count, each in zip(self.calls, options))

    def choose(self) -> Choice:
        """Returns the plans of the step, from the cache or by a search."""
        now = self._now()
        if self.is_alone and (self.is_share or now.peak <= self.limit + SCALARS and not any(each.saves_least for each in self.graphs)):
            return now
        name = "step-" + cache.key(self.limit, self.is_share, [dataclasses.astuple(each) for each in self.rows], self.calls,
                                   [each.curve.key for each in self.graphs], [each.limits for each in self.current], sources())
        found = cache.read(name) or self._write(name, now)
        options = [graph.curve.option(*limits) for graph, limits in zip(self.graphs, found["limits"])]
        choice = Choice(options, peak_of(self.rows, options), self._seconds(options), found["gap"])
        if not found["fits"]:
            self._refuse(choice)
        return choice

    def _write(self, name: str, now: Choice) -> dict[str, Any]:
        with searching(f"a plan of a step of {len(self.graphs)} graphs", self.budget):
            choice, fits = self._search(now)
        found = {"limits": [each.limits for each in choice.options], "gap": choice.gap, "fits": fits}
        cache.write(name, found)
        return found

    def _search(self, now: Choice) -> tuple[Choice, bool]:
        """Returns the fastest plans that fit, or the smallest ones."""
        joint = Joint(self.curves, self.rows, self.calls, self.current)
        choice = joint.plan(self.limit)
        if choice is None:
            smallest = joint.smallest()
            return smallest, smallest.peak <= self.limit
        if now.peak <= self.limit and now.seconds - choice.seconds <= WORTH * choice.seconds:
            return now, True
        return choice, True

    def _refuse(self, choice: Choice) -> None:
        """Warns of a share that no plan meets; raises an error for bytes."""
        beside = max(each.level for each in self.rows)
        text = (f"the budget of {self.budget} ({self.limit:,} bytes) cannot be met by a step of {sum(self.calls)} backward passes of "
                f"{len(self.graphs)} graph{'s' if len(self.graphs) > 1 else ''}; up to {beside:,} bytes are allocated beside their plans; "
                f"{least_met(choice.peak)}")
        if not self.is_share:
            raise Error(text, least_budget=choice.peak)
        warnings.warn(f"{text}, {IN_ITS_PLACE}", RepriseWarning, stacklevel=2)
