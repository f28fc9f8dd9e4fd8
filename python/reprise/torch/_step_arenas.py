"""Plans the arenas of all graphs that ``backend="reprise"`` runs in a step.

A call that waits for its backward pass holds the arena of its program. Arenas stay for later steps, so that the bytes
of a step are the sum of all arenas that were ever needed at once. A budget in bytes also bounds what PyTorch's
allocator holds beside them.
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from .. import _compile
from .._errors import Error
from .._report import Report
from . import _plan_cache as cache
from . import _step_engine as engine
from . import _step_plan as step_plan
from . import _step_report as report
from ._plan_budgets import UNLIMITED, to_bytes
from ._step_beside import Beside
from ._step_joint import Choice, Lifetimes, Option, Row
from ._step_weights import Weight

if TYPE_CHECKING:
    import torch

    from ._whole_budget import Member

#: Budgets that are tried for each graph, as shares of the room between its smallest and its fastest plan.
SHARES = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)


class ArenaCurve:
    """The plans of one program: their arenas, by estimates of the compiler."""

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        self._text, self._options = text, {**options, "estimate": True}
        self._known: dict[int | None, Option | None] = {}
        self.key = cache.key(text, sorted((name, repr(value)) for name, value in options.items()))
        self.whole = self.recorded = self._estimate(None).weight
        self.lives = Lifetimes()

    def _estimate(self, budget: int | None) -> Option | None:
        """Returns the plan within a budget; None if there is none."""
        if budget not in self._known:
            try:
                done = _compile.compile(self._text, **self._options, budget=budget).report
            except Error as error:
                if error.least_budget is None:
                    raise
                self._known[budget] = None
                return None
            self._known[budget] = self.record(budget, done)
        return self._known[budget]

    def record(self, budget: int | None, done: Report) -> Option:
        """Notes the plan of a report."""
        size = done.arena_bytes + done.workspace_bytes
        weight = Weight(size, 0, 0, 0, 0, size, size, done.content["cost"]["replay"], {})
        made = Option(budget or size, None, weight, size)
        return self._known.setdefault(made.peak_limit, made)

    def option(self, peak: int, saved: int | None = None) -> Option:
        """Returns the plan within a budget that is known to be met."""
        return self._estimate(peak)

    def reference(self) -> Option:
        return self._estimate(None)

    def smallest(self) -> Option:
        """Returns the plan of the least budget that is known to be met."""
        least = 1
        while True:
            try:
                _compile.compile(self._text, **self._options, budget=least)
                return self.option(least)
            except Error as error:
                if error.least_budget is None or error.least_budget <= least:
                    raise
                least = error.least_budget

    def start(self) -> list[Option]:
        """Returns plans between the smallest and the fastest one."""
        low, high = self.smallest(), self.reference()
        between = [self._estimate(int(low.peak_limit + share * (high.held - low.peak_limit))) for share in SHARES]
        return [low, high, *(each for each in between if each)]

    def propose(self, rows: Sequence[Row], choice: Choice, graph: int, budget: int) -> Iterator[Option]:
        """Yields the plan for the room that the choice leaves."""
        count = max(dict(each.waiting).get(graph, 0) for each in rows)
        made = self._estimate(choice.options[graph].held + max(0, budget - choice.peak) // count)
        if made:
            yield made


class Program:
    """Program of a step in the joint plan: the members with its text, and the arenas that they need at once."""

    def __init__(self, members: list["Member"]) -> None:
        self.members = members
        self.count = sum(each.most for each in members)
        self.curve = members[0].curve()
        self.saves_least = members[0].is_small

    def current(self) -> Option:
        """Returns the plan that runs."""
        return self.curve.record(self.members[0].limit, self.members[0].step.entry.program.report)


class Arenas:
    """The arenas of all graphs with the same budget."""

    def __init__(self, budget: str) -> None:
        self.budget = budget
        self.members: "weakref.WeakSet[Member]" = weakref.WeakSet()
        #: Number of forward passes, and by graph that of its last pass, and of its last one while no call waited.
        self._clock = 0
        self._begun: "weakref.WeakKeyDictionary[Member, int]" = weakref.WeakKeyDictionary()
        self._starts: "weakref.WeakKeyDictionary[Member, int]" = weakref.WeakKeyDictionary()
        #: Arenas of each text in the last plan, and bytes beside them, of programs of derivatives and of the allocator.
        self._planned: dict[str, int] = {}
        self._planned_beside = 0
        #: Record of the allocator, for a budget in bytes.
        self._beside = Beside() if self.bounds_bytes else None
        #: Graphs whose backward pass has run and may run again.
        self._kept: "weakref.WeakSet[Any]" = weakref.WeakSet()
        self._lock = threading.RLock()

    @property
    def bounds_bytes(self) -> bool:
        """Returns whether the budget is in bytes, which also bound what the allocator holds."""
        return not self.budget.endswith("%") and self.budget != UNLIMITED

    def begin(self, member: "Member", inputs: Sequence[torch.Tensor]) -> None:
        """Plans before a forward pass if no call waits, and the graphs that ran since the last such pass of the same
        graph needed more memory than in the last plan."""
        with self._lock:
            self._clock += 1
            is_quiet = not any(each.step.waiting for each in self.members)
            if is_quiet:
                self._stop()
                if member in self._starts:
                    self._plan_new([each for each, clock in self._begun.items() if each.most and clock >= self._starts[member]])
            self.members.add(member)
            self._begun[member] = self._clock
            if is_quiet:
                self._starts[member] = self._clock
            if self._beside:
                self._make_room(member)
                if is_quiet and not member.is_cuda:
                    self._beside.start(member)
                self._beside.note(inputs)

    def keep(self, graph: Any, keeps: bool) -> None:
        """Notes whether a graph may have one more backward pass, which belongs to the same step."""
        (self._kept.add if keeps else self._kept.discard)(graph)

    def settle(self) -> None:
        """Ends the record of a step if no call waits: called behind all backward passes."""
        with self._lock:
            if not self._kept and not any(each.step.waiting for each in self.members):
                self._stop()

    def _stop(self) -> None:
        if self._beside:
            self._beside.stop()

    def _make_room(self, member: "Member") -> None:
        """Frees arenas that wait for a next step, and then uses the smallest plans, until the arenas of the calls that wait
        and one more fit the budget; raises an Error if they do not."""
        limit = to_bytes(self.budget)
        if self._needed(member) <= limit:
            return
        members = sorted(self.members, key=lambda each: each.number)
        for entry in (entry for each in members for entry in (each.step.entry, *each.others())):
            entry.drop_runs()
        for each in members:
            if self._needed(member) > limit and not each.is_small and (each is member or each.step.waiting):
                each.shrink()
        gc.collect()  # Arenas of steps that were dropped may lie in cycles.
        if (needed := self._needed(member)) > limit:
            self._beside.lose()
            raise step_plan.exceed(self.budget, needed, sum(each.step.waiting for each in members))

    def _needed(self, member: "Member") -> int:
        """Returns the bytes of all arenas, with that of one more call."""
        entries = {id(entry): entry for each in self.members for entry in (each.step.entry, *each.others())}
        idle = sum(each.taken * each.idle for each in entries.values())
        waiting = sum(each.taken * each.step.waiting for each in self.members)
        return waiting + idle + (0 if member.step.entry.idle else member.taken)

    def _plan_new(self, found: list["Member"]) -> None:
        used = sorted(found, key=lambda each: each.number)
        counts: dict[str, int] = {}
        for each in used:
            counts[each.text] = counts.get(each.text, 0) + each.most
        beside = sum(each.taken * len(each.runs) for each in {id(entry): entry for each in used for entry in each.others()}.values())
        beside += self._beside.most if self._beside else 0
        is_more = any(count > self._planned.get(text, 0) for text, count in counts.items()) or any(each.is_small for each in used)
        if is_more and self._beside:
            self._beside.again()
        if is_more or beside > self._planned_beside:
            self._plan(used, beside)
            self._planned, self._planned_beside = counts, beside

    def _plan(self, used: list["Member"], beside: int) -> None:
        by_text: dict[str, list["Member"]] = {}
        for each in used:
            by_text.setdefault(each.text, []).append(each)
        programs = [Program(each) for each in by_text.values()]
        counts = [each.count for each in programs]
        row = Row("program", None, beside, tuple(enumerate(counts)))
        step = step_plan.Step(self.budget, programs, [[row]], counts)
        choice = step.choose()
        for program, option in zip(programs, choice.options):
            for each in program.members:
                each.use(option)
        report.add(report.describe(step.limit, step.reference, choice, counts, step.rows))


_arenas: dict[str, Arenas] = {}


def arenas_of(budget: str) -> Arenas:
    """Returns the account of a budget. Functions that were compiled with the same budget share it: it is the step's."""
    if budget not in _arenas:
        made = _arenas[budget] = Arenas(budget)
        if made.bounds_bytes:
            engine.listen(made.settle)
    return _arenas[budget]
