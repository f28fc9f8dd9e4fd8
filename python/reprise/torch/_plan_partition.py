"""The partition function: from a joint graph to the two graphs of its plan."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import json
import os
import re
import warnings
from typing import TYPE_CHECKING, Any, Callable, Sequence

from torch import fx

from .. import _core
from .._errors import IN_ITS_PLACE, Error, RepriseWarning, least_met
from .._plan import plan as plan_problem
from . import _plan_bounds as bounds
from . import _plan_cache as cache
from . import _plan_costs as costs
from . import _plan_follow as follow
from . import _plan_peak as peak
from . import _plan_regions as regions
from . import _plan_report as report
from . import _plan_workspace as workspace
from . import _step_curves as curves
from ._plan_budgets import UNLIMITED
from ._plan_clones import drop_clones
from ._plan_equal import merge_equal
from ._plan_gradients import keep_gradients
from ._plan_graphs import Carrier
from ._plan_labels import Policy
from ._plan_nodes import describe
from ._plan_overwritten import keep_overwritten
from ._plan_pause import collector_paused
from ._plan_prefetch import begin_early
from ._plan_problem import Problem
from ._plan_progress import searching
from ._plan_stores import store
from ._seam.hooks import CustomPartitionerFn
from ._seam.joint import default_partition, thread_graphsafe_rng_from_hops

if TYPE_CHECKING:
    from ._plan_fused import Candidate, Try
    from ._plan_lowering import Meter


@dataclasses.dataclass
class Answer:
    """Answer of the planner for one problem and budget. If no plan fits the budget, the plan is the one with the
    smallest peak."""

    summary: dict[str, Any]
    plan: dict[str, Any]

    @property
    def fits(self) -> bool:
        return self.summary["peak"] <= self.summary["budget"]


def ask(problem: dict[str, Any], budget: str) -> Answer:
    """Returns the plan of a problem, from the cache or from the planner, which counts its steps: no clock affects a
    plan."""
    name = "plan-" + cache.key(problem, budget, "or least", _core.version)
    known = cache.read(name)
    if known is None:
        with searching(f"a plan of {len(problem['operations'])} ops", budget):
            summary, texts = plan_problem(problem, budget=budget, or_least=True)
        known = {"summary": summary[0], "plan": json.loads(texts[0])}
        cache.write(name, known)
    return Answer(**known)


def sources() -> str:
    """Returns a hash of this package, which keys Inductor's caches."""
    digest = hashlib.sha256(_core.version.encode())
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "**", "*.py"), recursive=True)):
        with open(path, "rb") as stream:
            digest.update(stream.read())
    return digest.hexdigest()


class Partitioner(CustomPartitionerFn):
    """Partitioner that plans a joint graph within a budget: bytes, or a share of the graph's bytes without replays."""

    def __init__(self, budget: str, policy: Policy, is_fused: bool, is_followed: bool = False, saved: int | None = None,
                 bits: str = "plan", marks: str = "", moves: bool = False) -> None:
        self.budget, self.policy, self.is_fused = budget, policy, is_fused
        #: Bits of Inductor's code: "plan", equal under every plan, or "inductor", those of Inductor's own fusion.
        self.bits = bits
        #: Flag of a graph break behind the graph.
        self.is_followed = is_followed
        #: Regions with a budget around each op of Dynamo's graph, as a text.
        self.marks = marks
        #: Flag of plans that may move values to the host by themselves.
        self.moves = moves
        #: Limit of the bytes that a call saves, or None; whether a step's plan has decided it and the budget; and the
        #: peak that the step leaves to the code.
        self.saved, self.is_decided = saved, False
        self.room: int | None = None
        #: Bytes that calls of other graphs hold while this one is planned.
        self.beside: Callable[[], int] = lambda: 0
        #: Problem and outputs of the graph that was planned, and the executions of its plan.
        self.problem: Problem | None = None
        self.num_fwd_outputs = 0
        #: Counter of the bytes of Inductor's code. If there is one, a plan whose code fits the budget is searched.
        self.meter: Meter | None = None
        #: Flag of a budget that is a share and that no plan meets: the smallest plan found replaces it.
        self.is_wish = False
        self._first: Answer | None = None
        self._answer: Answer | None = None

    def __deepcopy__(self, memo: dict) -> "Partitioner":
        return self  # Inductor copies its configuration, which contains this object.

    def __reduce__(self) -> tuple:
        return Partitioner, (self.budget, self.policy, self.is_fused, self.is_followed, self.saved, self.bits, self.marks, self.moves)

    def uuid(self) -> Any:
        """The key of Inductor's caches. A policy that is a function has no text that tells its next answers."""
        if callable(self.policy):
            return None
        policy = sorted(map(str, self.policy.items())) if isinstance(self.policy, dict) else str(self.policy)
        return cache.key(self.budget, self.saved, policy, self.is_fused, self.bits, self.marks, self.moves, sources())

    def decide(self, peak: int, saved: int | None, room: int) -> None:
        """Sets the limits that a step's plan gives the graph, and the peak that the step leaves to its code."""
        self.budget, self.saved, self.room, self.is_decided = str(peak), saved, room, True

    @property
    def limits(self) -> tuple[int, int | None]:
        """Returns the limits that the plan was found for: of the peak, and of the bytes that a call saves."""
        return self._first.summary["budget"], self.saved

    def executions(self) -> list[dict[str, Any]]:
        """Returns the executions of the plan that runs."""
        return self._answer.plan["executions"]

    def __call__(self, joint: fx.GraphModule, joint_inputs: Sequence[Any], *, num_fwd_outputs: int,
                 static_lifetime_input_indices: Sequence[int] | None = None,
                 **ignored: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
        static = list(static_lifetime_input_indices or ())
        with collector_paused():
            graphs = self._partition(joint, joint_inputs, num_fwd_outputs, static)
        if graphs:
            return graphs
        from ._plan_fused import choose  # imports much of Inductor
        code = choose(self, joint, self._make_candidate)
        self._answer = code.answer
        return code.forward, code.backward

    def _partition(self, joint: fx.GraphModule, joint_inputs: Sequence[Any], num_fwd_outputs: int,
                   static: list[int]) -> tuple[fx.GraphModule, fx.GraphModule] | None:
        """Plans the joint graph. Returns both graphs of the plan; None if Inductor's code of a plan is counted."""
        problem = self._pose(joint, num_fwd_outputs, static)
        if problem.border == len(problem.operations):  # no differentiation
            return default_partition(joint, joint_inputs, num_fwd_outputs=num_fwd_outputs, static_lifetime_input_indices=static)
        self.problem, self.num_fwd_outputs = problem, num_fwd_outputs
        if self.is_fused and any(each.offloads is not None for each in problem.operations):
            raise Error('must_offload moves values in eager code only: set codegen="eager"')
        bounds.limit_regions(problem)
        self._first = self._first or self._plan(problem)
        if self.meter:
            return None
        carrier, forward, backward = self._carry_out(self._first)
        report.add(self._describe(self._first, carrier))
        return forward, backward

    def _pose(self, joint: fx.GraphModule, num_fwd_outputs: int, static: list[int]) -> Problem:
        """Returns the planning problem of a joint graph, whose ops it makes those of the plan."""
        joint.graph.eliminate_dead_code()
        if not self.is_fused:
            drop_clones(joint)
        merge_equal(joint)
        regions.mark_kept(joint)
        if not self.is_fused:
            regions.split_dropouts(joint)
        keep_gradients(joint, static)
        keep_overwritten(joint, static, num_fwd_outputs)
        if self.is_fused and self.bits == "plan":
            from ._plan_bits import fix  # imports much of Inductor
            fix(joint.graph)
        calls = [node for node in joint.graph.nodes if node.op == "call_function"]
        measured = [each for each in calls if workspace.calls_library(each)] if self.is_fused else calls
        return Problem(joint, num_fwd_outputs, static, self.policy, workspace.measure(measured), self.moves)

    def _carry_out(self, answer: Answer) -> tuple[Carrier, fx.GraphModule, fx.GraphModule]:
        """Returns the forward and the backward graph of a plan, and their writer."""
        executions = begin_early(self.problem, answer.plan["executions"])
        self._answer = dataclasses.replace(answer, plan={**answer.plan, "executions": executions})
        carrier = Carrier(self.problem, executions, self.num_fwd_outputs)
        forward = thread_graphsafe_rng_from_hops(carrier.forward(), is_backward=False)
        return carrier, forward, thread_graphsafe_rng_from_hops(carrier.backward(), is_backward=True)

    def _make_candidate(self, settings: "Try") -> "Candidate":
        """Returns the graphs of a plan within the limit of some settings."""
        from ._plan_fused import Candidate, limit_of
        within = settings.within
        answer = self._first if within is None else curves.ask_within(self.problem, within, self.saved)
        carrier, forward, backward = self._carry_out(answer)
        planned, around = self._describe(answer, carrier), carrier.surroundings()
        if settings.is_near:
            store(forward.graph, {})
            store(backward.graph, around.given)
        return Candidate(forward, backward, around, planned, answer, self.num_fwd_outputs, limit_of(self, planned),
                         dict.fromkeys((False, True), settings))

    def _describe(self, answer: Answer, carrier: Carrier) -> report.GraphPlan:
        """Returns the report of a plan."""
        limit = self._first.summary["budget"] if self.budget != UNLIMITED else None
        return dataclasses.replace(_describe(self.problem, answer, carrier, limit), bits=self.bits)

    def _plan(self, problem: Problem) -> Answer:
        if self.budget == UNLIMITED and follow.is_nested(problem):
            return Answer({"budget": None, "bound_percent": 0.0}, {"executions": follow.follow(problem)})
        if self.is_decided:
            return curves.ask_within(problem, int(self.budget), self.saved)
        answer = ask(problem.to_json(), self.budget)
        if answer.fits:
            return self._start(problem, answer)
        musts = problem.count_musts()
        clashes = musts > 0 and ask(problem.to_json(obeys=False), self.budget).summary["lowest_peak"] < answer.summary["lowest_peak"]
        refusal = self._refuse(problem, answer.summary, musts if clashes else 0)
        if clashes or not self.budget.endswith("%"):
            raise Error(refusal)
        # A share is a goal: the smallest plan is the nearest.
        warnings.warn(f"{refusal}, {IN_ITS_PLACE}", RepriseWarning, stacklevel=2)
        self.is_wish = True
        return dataclasses.replace(answer, summary={**answer.summary, "budget": answer.summary["peak"]})

    def _start(self, problem: Problem, answer: Answer) -> Answer:
        """Returns the first plan of a graph, whose step is not known yet. A budget in bytes is the step's: the plan
        leaves room for the calls that wait. If others may follow, it saves the fewest bytes, and has a small peak."""
        if self.budget.endswith("%") or self.budget == UNLIMITED:
            return answer
        limit = answer.summary["budget"] - self.beside()
        if limit < answer.summary["budget"]:
            answer = ask(problem.to_json(), str(max(1, limit)))
            answer = answer if answer.fits else ask(problem.to_json(), str(answer.summary["lowest_peak"]))
        if any(each.numel() == 1 for each in problem.list_tangents()) and not self.is_followed:  # a loss
            return answer
        room = answer.summary["budget"]
        self.saved = curves.least_saved(problem, room, self.num_fwd_outputs)
        if self.saved is None:
            return answer
        # Inductor's code may need more than a small plan, and has to fit the budget only.
        peak = room if self.is_fused else curves.smallest_first(problem, room, self.saved, self.num_fwd_outputs)
        answer = curves.ask_within(problem, peak, self.saved)
        return dataclasses.replace(answer, summary={**answer.summary, "budget": room})

    def _refuse(self, problem: Problem, summary: dict[str, Any], musts: int) -> str:
        lines = [f"the budget of {self.budget} ({summary['budget']:,} bytes) cannot be met"]
        place = re.search(r"launch (\d+)", summary.get("place") or "")
        if place:
            node = problem.operations[int(place.group(1))].node
            lines.append(f"{describe(node)} needs {summary['needed']:,} bytes at once")
        if musts:
            lines.append(f"{musts} ops have a MUST label or lie in a region with a budget in bytes, which every plan obeys")
        is_first = self.is_followed and not self.budget.endswith("%")
        lines.append(least_met(summary['lowest_peak'])
                     + (" for this graph; later graphs, behind a graph break, are not counted" if is_first else ""))
        return "; ".join(lines)


def _describe(problem: Problem, answer: Answer, carrier: Carrier, budget: int | None) -> report.GraphPlan:
    executions = carrier.executions
    originals = [each for each in range(len(problem.operations))]
    kept = [{"operation": i, "replay": 0, "sources": _own_sources(problem, i)} for i in originals]
    again = [problem.operations[each["operation"]] for each in executions if each["replay"]]
    return report.GraphPlan(
        budget=budget, peak=peak.count(problem, executions)[0],
        peak_without_replays=peak.count(problem, kept)[0],
        gradient_bytes=problem.gradient_bytes, saved_bytes=carrier.saved_bytes(), host_bytes=carrier.host_bytes(),
        replays=sum(each.offloads is None for each in again),
        random_replays=sum(each.is_redrawn for each in again),
        seconds=sum(problem.seconds(each) for each in problem.operations if each.offloads is None),
        extra_seconds=sum(map(problem.seconds, again)), bound_percent=answer.summary["bound_percent"],
        executions=len(executions), spans=peak.list_spans(problem, executions),
        regions=tuple(each.describe(executions) for each in problem.bounded))


def _own_sources(problem: Problem, place: int) -> list[int | None]:
    operands = problem.operands(problem.operations[place])
    return [None if value is None else problem.value_makers[value] for value in operands]
