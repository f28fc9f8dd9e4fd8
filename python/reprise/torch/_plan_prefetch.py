"""Begins copies from the host before the ops that read them, as long as the peak of the plan stays."""

from __future__ import annotations

from typing import Any

from ._plan_peak import list_live
from ._plan_problem import Problem


def _find_begin(problem: Problem, executions: list[dict[str, Any]], live: list[int], fetch: int, first: int) -> int:
    """Returns the place where a copy begins: it ends before its reader, and no more bytes are live than at the peak."""
    operation = problem.operations[executions[fetch]["operation"]]
    size, left, place = sum(problem.sizes(operation)), problem.seconds(operation) / 2, fetch
    limit = max(live) - size
    while place > first and left > 0 and live[place - 1] <= limit:
        place -= 1
        left -= problem.seconds(problem.operations[executions[place]["operation"]])
    for each in range(place, fetch):
        live[each] += size
    return place


def begin_early(problem: Problem, executions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the executions of a plan with each copy from the host at the place where it begins."""
    if all(each.offloads is None for each in problem.operations):
        return executions
    first = 1 + max(place for place, each in enumerate(executions)
                    if not each["replay"] and each["operation"] < problem.border)
    live, begins = list_live(problem, executions), dict[int, int]()
    for place, each in enumerate(executions):
        if place >= first and problem.operations[each["operation"]].offloads is not None:
            begins[place] = _find_begin(problem, executions, live, place, first)
    # A copy stands before the execution at whose place it begins.
    order = sorted(range(len(executions)), key=lambda place: (begins.get(place, place), place not in begins, place))
    moved = {old: new for new, old in enumerate(order)}
    return [{**executions[old], "sources": [None if each is None else moved[each] for each in executions[old]["sources"]]}
            for old in order]
