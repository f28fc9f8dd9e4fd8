"""Counts the memory of a plan: the bytes that are live at each execution, gradients included."""

from __future__ import annotations

import itertools
from typing import Any, Iterator

from ._plan_nodes import list_lines
from ._plan_problem import Problem
from ._plan_snapshot import Span


def _last_reads(problem: Problem, executions: list[dict[str, Any]]) -> dict[tuple[int, int], int]:
    """Returns, for each result of each execution, the last execution that reads it."""
    last: dict[tuple[int, int], int] = {}
    for index, execution in enumerate(executions):
        operands = problem.operands(problem.operations[execution["operation"]])
        for value, source in zip(operands, execution["sources"]):
            if source is not None:
                made_by = problem.operations[executions[source]["operation"]]
                last[source, value - made_by.first_value] = index
    return last


#: Word of an allocation, or None for a result, its bytes, and its first and last execution.
Holding = tuple[str | None, int, int, int]


def _list_holdings(problem: Problem, executions: list[dict[str, Any]], kept_from: int | None = None) -> Iterator[Holding]:
    end, last = len(executions), _last_reads(problem, executions)
    place = {each["operation"]: i for i, each in enumerate(executions) if each["replay"] == 0}
    for index, execution in enumerate(executions):
        operation = problem.operations[execution["operation"]]
        for result, size in enumerate(problem.sizes(operation)):
            until = problem.read_until.get(operation.first_value + result) if execution["replay"] == 0 else None
            held = end if until is not None and until >= len(problem.operations) else place.get(until, index)
            final = max(index, held, last.get((index, result), index))
            is_kept = kept_from is not None and index < kept_from <= final
            yield None, size, index, end if is_kept else final
        yield "workspace", problem.scratch(operation), index, index
    for buffer in problem.tangents():
        yield "gradient of an output", buffer["bytes"], place[buffer["first"]], place[buffer["last"]]


def list_spans(problem: Problem, executions: list[dict[str, Any]]) -> tuple[Span, ...]:
    """Returns all memory of a plan, in the order of its executions."""
    def span(word: str | None, size: int, first: int, last: int) -> Span:
        execution = executions[first]
        operation = problem.operations[execution["operation"]]
        words = [word, "generator's state" if operation.is_state and not word else None, "replay" if execution["replay"] else None]
        label = ", ".join([str(operation.node.target), *filter(None, words)])
        return Span(label, list_lines(operation.node), size, first, min(last, len(executions)))
    return tuple(span(*each) for each in _list_holdings(problem, executions) if each[1])


def list_live(problem: Problem, executions: list[dict[str, Any]], kept_from: int | None = None) -> list[int]:
    """Returns the sum of live bytes at each execution. Values that executions before ``kept_from`` have made and later
    ones read live to the end: the graph is kept."""
    end = len(executions)
    change = [0] * (end + 1)
    for _, size, first, final in _list_holdings(problem, executions, kept_from):
        change[first] += size
        if final + 1 < end:
            change[final + 1] -= size
    return list(itertools.accumulate(change[:end]))


def count(problem: Problem, executions: list[dict[str, Any]]) -> tuple[int, int]:
    """Returns the highest sum of live bytes, and the execution at which it is reached."""
    live = list_live(problem, executions)
    peak = max(live, default=0)
    return peak, live.index(peak) if live else 0
