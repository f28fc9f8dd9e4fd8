"""Chooses what regions with a budget save, before the step is planned (docs/explanation/RegionBudgets.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from . import _plan_partition as partition
from . import _plan_regions as regions
from ._plan_nodes import describe
from ._plan_report import RegionPlan
from ._region_budgets import limit_bytes, refuse
from ._step_weights import limit_saved

if TYPE_CHECKING:
    from ._plan_problem import Problem


class _Lists:
    """The operations of a problem by regions and values, listed once for all regions."""

    def __init__(self, problem: "Problem") -> None:
        self.operands = [problem.operands(each) for each in problem.operations]
        #: Places of the forward ops in each region.
        self.members: dict[regions.Region, list[int]] = {}
        #: Places of the ops of each pass that read a value, by whether they are of the backward pass.
        self.readers: tuple[dict[int | None, list[int]], ...] = ({}, {})
        for place, operation in enumerate(problem.operations):
            if not operation.is_backward and not operation.is_state:
                for depth in range(1, len(operation.region) + 1):
                    self.members.setdefault(operation.region[:depth], []).append(place)
            for value in self.operands[place]:
                self.readers[operation.is_backward].setdefault(value, []).append(place)


class _BoundedOperations:
    """A region with a budget, in a problem."""

    def __init__(self, problem: "Problem", path: regions.Region, lists: _Lists) -> None:
        self.problem, self.budget, self.operands = problem, path[-1].budget, lists.operands
        self.members = lists.members.get(path, [])
        inside, (forward, backward) = set(self.members), lists.readers
        made = {value: size for place in self.members for value, size in problem.valued(problem.operations[place])}
        #: Inner values, and their bytes.
        self.inner = {value: size for value, size in made.items()
                      if value not in problem.read_until and inside.issuperset(forward.get(value, ()))}
        self.readers = sorted({place for value in self.inner for place in backward.get(value, ())})
        self.without_replays = sum(size for value, size in self.inner.items() if value in backward)
        self.limit = limit_bytes(self.budget, self.without_replays)

    def choose(self) -> set[int]:
        """Returns the inner values that the fastest plan within the limit saves."""
        if not self.readers:
            return set()
        content, values, border = self._write()
        taken = 4 * sum(self.inner.values()) + self.limit + 1
        answer = partition.ask(limit_saved(content, border, taken), str(taken + self.limit))
        if not answer.fits:
            place = describe(self.problem.operations[self.members[0]].node)
            refuse(self.budget, self.limit, answer.summary["lowest_peak"] - taken, place)
        # The two empty launches stand at the border.
        operands = [each["operands"] for each in content["operations"]]
        return {values[each] for each in _cross(operands, answer.plan["executions"], border, 2)}

    def _write(self) -> tuple[dict[str, Any], list[int], int]:
        """Returns the problem of the region alone, the values that its values stand for, and its number of forward ops."""
        numbers, values, written = dict[int, int](), list[int](), []
        for place in [*self.members, *self.readers]:
            entry = self.problem.entry(place)
            results = []
            for (value, _), result in zip(self.problem.valued(self.problem.operations[place]), entry["results"]):
                is_inner = value in self.inner
                results.append({key: each for key, each in result.items() if key != "read_until"} if is_inner else {"bytes": 0})
                if is_inner:
                    numbers[value] = len(values)
                values.append(value)
            entry.update(operands=[numbers.get(value) for value in self.operands[place]], results=results)
            entry.pop("scratch", None)
            written.append(entry)
        return {"version": 1, "operations": written, "other_buffers": []}, values, len(self.members)

    def describe(self, executions: list[dict[str, Any]]) -> RegionPlan:
        """Returns the bytes of the region in a plan of the whole graph."""
        saved = set(_cross(self.operands, executions, self.problem.border, 0)) & self.inner.keys()
        return RegionPlan(self.budget, self.limit, sum(self.inner[value] for value in saved), self.without_replays)


def _cross(operands: list[list[int | None]], executions: list[dict[str, Any]], border: int, empty: int) -> Iterator[int]:
    """Yields the values of forward ops that replays and ops of the backward pass read. ``empty`` launches stand at the
    border in the executions."""
    for each in executions:
        place = each["operation"]
        if border <= place < border + empty or (place < border and not each["replay"]):
            continue
        for value, source in zip(operands[place if place < border else place - empty], each["sources"]):
            if source is not None and executions[source]["operation"] < border and not executions[source]["replay"]:
                yield value


def limit_regions(problem: "Problem") -> None:
    """Labels the inner values that regions with a budget do not save."""
    paths = regions.find_bounds(each.region for each in problem.operations)
    lists = _Lists(problem) if paths else None
    for path in paths:
        bounded = _BoundedOperations(problem, path, lists)
        problem.bounded.append(bounded)
        if bounded.limit >= sum(bounded.inner.values()):
            continue
        kept = bounded.choose()
        for place in bounded.members:
            if not problem.operations[place].is_pinned and problem.labels[place] != "must_save":
                problem.limited |= {value for value, _ in problem.valued(problem.operations[place])
                                    if value in bounded.inner and value not in kept}
        if not bounded.budget.endswith("%"):
            problem.demanded |= problem.limited & bounded.inner.keys()
