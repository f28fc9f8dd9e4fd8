"""Makes the plan of nested regions without a budget: that of eager code.

The planner replays a value once for all of the outermost region's backward pass. Eager code replays an inner region
twice: once for the outer region, which continues with its results, and once for its own backward pass. Eager code
therefore never holds the inner values of two inner regions.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Optional

from ._plan_regions import Region

if TYPE_CHECKING:
    from ._plan_problem import Problem

#: Operation, and the region for which it runs again; None for its first run.
Run = tuple[int, Optional[Region]]


def is_nested(problem: "Problem") -> bool:
    """Returns whether regions are nested and all labels are those of regions."""
    recomputed = [operation.region for place, operation in enumerate(problem.operations) if problem.is_recomputed(place)]
    return all(recomputed) and any(len(each) > 1 for each in recomputed)


def follow(problem: "Problem") -> list[dict[str, Any]]:
    """The executions of the plan, in the planner's form."""
    places: dict[Run, int] = {}
    numbers: dict[Optional[Region], int] = {None: 0}
    executions: list[dict[str, Any]] = []
    for place in range(len(problem.operations)):
        stack: list[Run] = [(place, None)]
        while stack:
            reads = _find_reads(problem, *stack[-1])
            missing = next((each for each in reads if each and each not in places), None)
            if missing:
                stack.append(missing)
                continue
            run = stack.pop()
            places[run] = len(executions)
            executions.append({"operation": run[0], "replay": numbers.setdefault(run[1], len(numbers)),
                               "sources": [each and places[each] for each in reads]})
    return executions


def _find_reads(problem: "Problem", place: int, region: Optional[Region]) -> list[Optional[Run]]:
    """Returns, for each operand of a run, the run that computes it; None for a value that exists anyway."""
    operation = problem.operations[place]
    is_back = operation.is_backward or region is not None
    around = operation.region if region is None else region
    return [None if value is None else (problem.value_makers[value], _find_region(problem, value, around) if is_back else None)
            for value in problem.operands(operation)]


def _find_region(problem: "Problem", value: int, around: Region) -> Optional[Region]:
    """Returns the region for which a value runs again if the region reads it; None if the value is kept, as inputs of a
    region are."""
    maker = problem.value_makers[value]
    label = str(problem.label_of(value))
    is_held = problem.read_until.get(value, 0) >= len(problem.operations)
    if problem.operations[maker].is_backward or is_held or not label.endswith("recompute"):
        return None
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(problem.operations[maker].region, around))
    return tuple(each for each, _ in pairs) or (() if label == "must_recompute" else None)
