"""Chooses what regions with a budget save, before the step is planned (docs/explanation/RegionBudgets.md)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Iterator

from .._errors import IN_ITS_PLACE, Error, RepriseWarning
from . import _plan_partition as partition
from . import _plan_regions as regions
from ._plan_nodes import describe
from ._plan_report import RegionPlan
from ._region_budgets import limit_bytes
from ._step_weights import limit_saved

if TYPE_CHECKING:
    from ._plan_problem import Problem


class _Bounded:
    """A region with a budget, in a problem."""

    def __init__(self, problem: "Problem", path: regions.Region) -> None:
        self.problem, self.budget = problem, path[-1].budget
        operations = problem.operations
        self.members = [place for place, each in enumerate(operations)
                        if not each.is_backward and not each.is_state and each.region[:len(path)] == path]
        inside = set(self.members)
        made = {value: size for place in self.members for value, size in problem.valued(operations[place])}
        leaving = {value for place, each in enumerate(operations) if not each.is_backward and place not in inside
                   for value in problem.operands(each)} | set(problem.read_until)
        #: Inner values, and their bytes.
        self.inner = {value: size for value, size in made.items() if value not in leaving}
        self.readers = [place for place, each in enumerate(operations) if each.is_backward
                        and not self.inner.keys().isdisjoint(problem.operands(each))]
        read = {value for place in self.readers for value in problem.operands(operations[place])} & self.inner.keys()
        self.without_replays = sum(self.inner[value] for value in read)
        self.limit = limit_bytes(self.budget, self.without_replays)

    def choose(self) -> set[int]:
        """Returns the inner values that the fastest plan within the limit saves."""
        if not self.readers:
            return set()
        content, values, border = self._write()
        taken = 4 * sum(self.inner.values()) + self.limit + 1
        answer = partition.ask(limit_saved(content, border, taken), str(taken + self.limit))
        if not answer.fits:
            self._refuse(answer.summary["lowest_peak"] - taken)
        # The two empty launches stand at the border.
        return {values[each] for each in _cross(content["operations"], answer.plan["executions"], border, 2)}

    def _write(self) -> tuple[dict[str, Any], list[int], int]:
        """Returns the problem of the region alone, the values that its values stand for, and its number of forward ops."""
        entries, numbers, values = self.problem.to_json()["operations"], {}, []
        written = []
        for place in [*self.members, *self.readers]:
            entry = {key: each for key, each in entries[place].items() if key not in ("unit", "scratch")}
            entry["operands"] = [numbers.get(value) for value in self.problem.operands(self.problem.operations[place])]
            results = []
            for (value, _), result in zip(self.problem.valued(self.problem.operations[place]), entry["results"]):
                is_inner = value in self.inner
                results.append({key: each for key, each in result.items() if key != "read_until"} if is_inner else {"bytes": 0})
                if is_inner:
                    numbers[value] = len(values)
                values.append(value)
            written.append({**entry, "results": results})
        return {"version": 1, "operations": written, "other_buffers": []}, values, len(self.members)

    def _refuse(self, least: int) -> None:
        place = describe(self.problem.operations[self.members[0]].node)
        text = (f"the region(budget={self.budget!r}) that begins with {place} cannot save {self.limit:,} bytes: "
                f"the least that a plan was found for is {least:,} bytes")
        if not self.budget.endswith("%"):
            raise Error(text)
        warnings.warn(f"{text}, {IN_ITS_PLACE}", RepriseWarning, stacklevel=2)

    def describe(self, executions: list[dict[str, Any]]) -> RegionPlan:
        """Returns the bytes of the region in a plan of the whole graph."""
        problem = self.problem
        entries = [{"operands": problem.operands(each)} for each in problem.operations]
        saved = set(_cross(entries, executions, problem.border, 0)) & self.inner.keys()
        return RegionPlan(self.budget, self.limit, sum(self.inner[value] for value in saved), self.without_replays)


def _cross(operations: list[dict[str, Any]], executions: list[dict[str, Any]], border: int, empty: int) -> Iterator[int]:
    """Yields the values of forward ops that replays and ops of the backward pass read. ``empty`` launches stand at the
    border in the executions."""
    for each in executions:
        place = each["operation"]
        if border <= place < border + empty or (place < border and not each["replay"]):
            continue
        operands = operations[place if place < border else place - empty]["operands"]
        for value, source in zip(operands, each["sources"]):
            if source is not None and executions[source]["operation"] < border and not executions[source]["replay"]:
                yield value


def limit_regions(problem: "Problem") -> None:
    """Labels the inner values that regions with a budget do not save."""
    for path in regions.find_bounds(each.region for each in problem.operations):
        bounded = _Bounded(problem, path)
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
