"""Weighs plans of one graph: the bytes that a plan saves and needs in each pass, and the seconds of its replays."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import torch
from torch import fx

from . import _plan_costs as costs
from . import _plan_peak as peak
from ._plan_graphs import Carrier
from ._plan_nodes import root, storage_bytes, tangent_bytes
from ._plan_problem import Problem, state_bytes
from ._seam.joint import is_primal, is_tangent

#: Number of empty launches between the passes, during which only values that cross the border are in memory.
EMPTY = 2
#: An argument or an output of a graph, by its number: ("in", 3).
Place = tuple[str, int]


@dataclasses.dataclass(frozen=True)
class Weight:
    """Bytes and seconds of one plan of a graph."""

    #: Bytes that one call holds until its backward pass, in addition to its arguments and outputs.
    saved: int
    #: Highest bytes during the forward pass, above those before the pass.
    forward: int
    #: Highest bytes during the backward pass, above those before the pass; if gradients of outputs die at their last
    #: use; and if the pass keeps the graph.
    backward: int
    backward_freed: int
    backward_kept: int
    #: Highest bytes of both passes by the planner's count.
    peak: int
    #: Bytes before the backward pass by the planner's count: saved values, outputs, and gradients of outputs.
    before: int
    #: Seconds of the replays by the cost model.
    seconds: float
    #: Bytes of the arguments and outputs that the backward pass reads.
    reads: dict[Place, int]


def crossing_bytes(problem: Problem) -> int:
    """Returns the bytes of outputs, which are in memory between the passes under every plan."""
    return sum(size for operation in problem.operations[:problem.border] for value, size in problem.valued(operation)
               if problem.read_until.get(value, -1) >= len(problem.operations))


def border_bytes(problem: Problem) -> int:
    """Returns the bytes between the passes by the planner's count, without saved values."""
    return crossing_bytes(problem) + sum(each["bytes"] for each in problem.tangents())


def limit_saved(content: dict[str, Any], border: int, taken: int) -> dict[str, Any]:
    """Returns a problem with two empty launches between the passes, during which ``taken`` bytes are not free."""
    made = copy.deepcopy(content)
    for each in made["operations"]:
        for result in each["results"]:
            if result.get("read_until", -1) >= border:
                result["read_until"] += EMPTY
    for buffer in made["other_buffers"]:
        buffer["first"] += EMPTY if buffer["first"] > border else 0
        buffer["last"] += EMPTY if buffer["last"] >= border else 0
    empty = [{"name": f"border{number}", "cost": 0.0, "operands": [], "results": [], "backward": True} for number in range(EMPTY)]
    if "units" in made:
        empty = [{**each, "unit": made["operations"][border]["unit"]} for each in empty]
    made["operations"][border:border] = empty
    made["other_buffers"].append({"first": border, "last": border + EMPTY - 1, "bytes": taken})
    return made


def leave_out_empty(executions: list[dict[str, Any]], border: int) -> list[dict[str, Any]]:
    """Returns the executions of a plan without those of the empty launches."""
    places: dict[int | None, int | None] = {None: None}
    made = []
    for place, each in enumerate(executions):
        if border <= each["operation"] < border + EMPTY:
            continue
        places[place] = len(made)
        moved = each["operation"] - (EMPTY if each["operation"] >= border else 0)
        made.append({**each, "operation": moved, "sources": [places[source] for source in each["sources"]]})
    return made


def weigh(problem: Problem, executions: list[dict[str, Any]], num_fwd_outputs: int) -> Weight:
    """Returns the bytes and seconds of a plan."""
    carrier = Carrier(problem, executions, num_fwd_outputs)
    start = carrier.start
    live, kept = peak.list_live(problem, executions), peak.list_live(problem, executions, start)
    # Replays may precede the first operation of the backward pass, from which the planner counts gradients of outputs.
    first = next(place for place, each in enumerate(executions) if each["operation"] == problem.border)
    early = sum(each["bytes"] for each in problem.tangents())
    for place in range(start, first):
        live[place] += early
        kept[place] += early
    freed = _free_tangents(problem, executions, live)
    saved = carrier.saved_bytes() + sum(state_bytes(problem.operations[executions[each]["operation"]].node) for each in carrier.states)
    before = saved + crossing_bytes(problem) + sum(map(storage_bytes, problem.list_tangents()))
    again = [problem.operations[each["operation"]] for each in executions if each["replay"]]
    return Weight(saved, max(live[:start]), *(max(0, max(each[start:]) - before) for each in (live, freed, kept)), max(live), before,
                  sum(map(problem.seconds, again)), _find_reads(problem, carrier))


def weigh_code(weight: Weight, needed: tuple[int, int], cotangents: int) -> Weight:
    """Returns the weight of a plan with the bytes that its code by Inductor needs in each pass. The code drops gradients of
    outputs at their last use. If the program holds them, their bytes are added."""
    forward, freed = needed
    return dataclasses.replace(weight, forward=forward, backward_freed=freed,
                               backward=max(freed, min(freed + cotangents, weight.backward)))


def _free_tangents(problem: Problem, executions: list[dict[str, Any]], live: list[int]) -> list[int]:
    """Returns the live bytes if the gradients of outputs die at their last use."""
    found = list(live)
    given = {root(each)[0] for each in problem.backward_outputs if isinstance(each, fx.Node)}
    for node in problem.joint.graph.find_nodes(op="placeholder"):
        if is_tangent(node) and isinstance(node.meta.get("val"), torch.Tensor) and node not in given:
            last = max((place for place, each in enumerate(executions) if any(
                root(read)[0] is node for read in problem.operations[each["operation"]].reads)), default=len(live))
            for place in range(last + 1, len(live)):
                found[place] -= tangent_bytes(node.meta["val"])
    return found


def _find_reads(problem: Problem, carrier: Carrier) -> dict[Place, int]:
    primals = [each for each in problem.joint.graph.find_nodes(op="placeholder") if is_primal(each)]
    numbers: dict[fx.Node, Place] = {each: ("in", number) for number, each in enumerate(primals)}
    outputs = {problem.holder(each): ("out", number) for number, each in enumerate(problem.forward_outputs) if isinstance(each, fx.Node)}
    reads: dict[Place, int] = {}
    for each in carrier.saved:
        held = problem.holder(each)
        place = numbers.get(held[0]) if held[0].op == "placeholder" else outputs.get(held)
        if place and held[0].op == "placeholder":
            reads[place] = storage_bytes(held[0].meta["val"]) if isinstance(held[0].meta["val"], torch.Tensor) else 0
        elif place:
            reads[place] = problem.returned(held[0])[held[1]]
    return reads
