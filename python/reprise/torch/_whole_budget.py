"""Shares budgets in bytes, which apply to a whole step, among the graphs that Dynamo or a user's function makes of a
model."""

from __future__ import annotations

import contextlib
import itertools
import re
import weakref
from typing import Any, Callable, Iterator, Sequence

import torch

from .._errors import Error, least_met
from ._seam.dynamo import CompileContext
from ._plan_budgets import parse_budget
from ._step_arenas import ArenaCurve, Arenas, arenas_of
from ._step_joint import Option
from ._whole_levels import Level
from ._whole_pause import PausingStep
from ._whole_step import Entry, text_options
from ._whole_text import Text

_numbers = itertools.count()
_UNITS = {"": 1, "B": 1, **{f"{letter}iB": 1 << 10 * power for power, letter in enumerate("KMGT", 1)},
          **{f"{letter}B": 1000 ** power for power, letter in enumerate("kMGT", 1)}}


def _parse(budget: Any) -> int | None:
    """Returns bytes; None for a share, for no budget, and for text that the compiler will refuse."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]*)", str(budget))
    if isinstance(budget, bool) or not found or found.group(2) not in _UNITS:
        return None
    return int(float(found.group(1)) * _UNITS[found.group(2)])


class Member:
    """Step of one graph, which may be planned again for other bytes."""

    def __init__(self, make: Callable[[Any], PausingStep], budget: Any, least: int = 0) -> None:
        self._make, self._least = make, least
        self.step = make(budget)
        self.number = next(_numbers)
        #: Limit of the plan in bytes; None for a share and for no budget.
        self.limit = budget if isinstance(budget, int) else None
        #: Whether the plan is the smallest one, since the step is not known yet.
        self.is_small = False
        self._curve: ArenaCurve | None = None
        self._arenas: Arenas | None = None
        self._level: Level | None = None

    def join(self, budget: Any, text: Text, level: Level, options: dict[str, Any]) -> None:
        """Lets the graph be planned with the other graphs of a step."""
        self.text, self._level, self._options = text.text, level, options
        if budget is not None:
            self._arenas = arenas_of(parse_budget(budget))
            self.step.notify = self._arenas.settle

    def begin(self, inputs: Sequence[torch.Tensor]) -> None:
        """Plans the step if it is known, before a forward pass."""
        if self._arenas:
            self._arenas.begin(self, inputs)

    def keep(self, graph: Any, keeps: bool) -> None:
        """Notes whether a graph that has run its backward pass may run one more."""
        if self._arenas:
            self._arenas.keep(graph, keeps)

    def curve(self) -> ArenaCurve:
        """Returns the plans of the program."""
        if self._curve is None:
            given = {name: value for name, value in self._options.items() if name != "budget"}
            self._curve = ArenaCurve(self.text, {**given, **text_options(self.step.entry.text)})
        return self._curve

    def others(self) -> list[Entry]:
        """Returns the programs of further derivatives."""
        return [each for each in self._level.entries() if each.runs]

    def use(self, option: Option) -> None:
        """Uses the plan of a step."""
        if option.held != self.taken:
            self._replace(option.peak_limit)
        self.is_small = False

    @property
    def is_cuda(self) -> bool:
        """Returns whether arenas lie in PyTorch's memory of a GPU."""
        return self.step.entry.place.device.type == "cuda"

    @property
    def most(self) -> int:
        """Returns the highest number of calls that have waited at once."""
        return self.step.most

    @property
    def taken(self) -> int:
        """Bytes of arena and workspace."""
        return self.step.entry.taken

    def least(self) -> int:
        self._least = self._least or least_of(self._make)
        return self._least

    def shrink(self) -> None:
        """Uses the smallest plan, and abandons steps that wait for a backward pass, which will run their forward pass
        again."""
        self._replace(self.least())
        self.is_small = True

    def _replace(self, limit: int) -> None:
        old, self.step, self.limit = self.step, self._make(limit), limit
        self.step.most, self.step.notify = old.most, old.notify
        old.give_up()


def least_of(make: Callable[[Any], PausingStep]) -> int:
    """Bytes of the least budget that is known to be met."""
    try:
        make(1)
    except Error as error:
        if error.least_budget is None:
            raise
        return error.least_budget
    return 1


class StepBudget:
    """Budget of all graphs of one call of torch.compile."""

    def __init__(self, options: dict[str, Any]) -> None:
        # We keep the options alive, so that their id is not reused.
        self._options = options
        self._members: "weakref.WeakValueDictionary[tuple[Any, ...], Member]" = weakref.WeakValueDictionary()
        self._last: tuple[Any, ...] = ()
        #: Flag of a graph break behind the graph under compilation: later graphs are not known yet.
        self.is_followed = False
        #: Errors of the parts of a graph that a user's function cuts; None outside of such a graph.
        self._errors: list[Error] | None = None

    @contextlib.contextmanager
    def parts(self, budget: Any) -> Iterator[None]:
        """Lets all parts of a graph be compiled before an error, so that the smallest budget in the error is for all of
        them."""
        if self._errors is not None:
            yield
            return
        self._errors = []
        try:
            yield
            if self._errors:
                raise self._refuse(self._errors[0], list(self._members.values()), 0, _parse(budget) or 0)
        finally:
            self._errors = None

    def _key(self) -> tuple[Any, ...]:
        """Returns the frame, and the number of the graph in it: a frame that is compiled for other sizes replaces
        itself."""
        identity = CompileContext.current_compile_id()
        compiled = (identity.frame_id, identity.frame_compile_id) if identity else (None, None)
        ordinal = self._last[2] + 1 if self._last[:2] == compiled else 0
        self._last = (*compiled, ordinal)
        return compiled[0], ordinal

    def fit(self, make: Callable[[Any], PausingStep], budget: Any, is_loss: bool = True) -> Member:
        """Makes a step within the bytes that the other graphs leave. If it does not fit, all of them use their smallest
        plans. So does a graph whose result is no loss, because other calls may follow before its backward pass."""
        total, key = _parse(budget), self._key()
        if total is None:
            return Member(make, budget)
        others = [member for other, member in self._members.items() if other != key]
        try:
            member = self._fit(make, total, others, is_loss and not self.is_followed)
        except Error as error:
            if error.least_budget is None:
                raise
            if self._errors is None:
                raise self._refuse(error, others, error.least_budget, total) from None
            self._errors.append(error)
            least = least_of(make)
            member = Member(make, least, least)
        self._members[key] = member
        return member

    @staticmethod
    def _fit(make: Callable[[Any], PausingStep], total: int, others: list[Member], is_loss: bool) -> Member:
        try:
            if not is_loss and (least := least_of(make)) + sum(each.taken for each in others) <= total:
                member = Member(make, least, least)
                member.is_small = True
                return member
            return Member(make, max(1, total - sum(each.taken for each in others)))
        except Error as error:
            if error.least_budget is None or not others or error.least_budget + sum(each.least() for each in others) > total:
                raise
        for each in others:
            each.shrink()
        return Member(make, total - sum(each.taken for each in others))

    def _refuse(self, error: Error, members: list[Member], least: int, total: int) -> Error:
        """Returns the error of all known graphs: ``members``, and one more if that needs ``least`` bytes."""
        count, least = len(members) + bool(least), least + sum(each.least() for each in members)
        refusal, told = error.message, least_met(least)
        if count > 1:
            refusal = f"the {count} graphs of the model do not fit in {total:,} bytes together: {error.message}"
        if self.is_followed:
            told += f" for the first {f'{count} ' if count > 1 else ''}of the graphs; later graphs, behind a graph break, are not counted"
        return Error(refusal, error.file, error.line, error.column, f"{refusal}; {told}", least)


_budgets: dict[int, StepBudget] = {}


def step_budget(options: dict[str, Any] | None) -> StepBudget:
    """Returns the budget of the call of torch.compile with these options."""
    return _budgets.setdefault(id(options), StepBudget(options)) if options else StepBudget({})
