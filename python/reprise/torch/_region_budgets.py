"""``reprise.torch.region(budget=…)``: a part of a model that saves few bytes for its backward pass."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import threading
import warnings
from typing import Any, Callable, Iterator, TypeVar

import torch
from torch.fx.traceback import annotate

from .._errors import IN_ITS_PLACE, Error, RepriseWarning, UsageError
from ._plan_budgets import UNITS
from ._whole_untraced import traceable

Function = TypeVar("Function", bound=Callable[..., Any])
#: Annotation of the ops in a region; the number of the entry follows.
KEY = "reprise_budget_"
_numbers = itertools.count()
_around = threading.local()


@torch.compiler.assume_constant_result
@traceable
def _next_number() -> int:
    return next(_numbers)


def parse_limit(budget: Any) -> str:
    """Returns bytes or a share in one spelling; zero saves nothing."""
    text = str(budget)
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
        text = text.replace(",", "")
    number = re.fullmatch(r"(\d+(?:\.\d+)?)(\D*)", text)
    if isinstance(budget, bool) or not number or number.group(2) not in (*UNITS, "%"):
        raise UsageError(f'region: expected a budget of bytes, a text with a unit ("20MiB"; units are {", ".join(filter(None, UNITS))}) '
                         f'or a share ("50%"), got {budget!r}')
    return text


def limit_bytes(budget: str, whole: int) -> int:
    """Returns the bytes of a limit; ``whole`` is what a share is of."""
    number, unit = re.fullmatch(r"([\d.]+)(\D*)", budget).groups()
    return int(float(number) * whole / 100) if unit == "%" else int(float(number) * UNITS[unit])


def refuse(budget: str, limit: int, least: int, place: str) -> None:
    """Raises an Error for a region that saves ``least`` bytes at least. A share is a goal: the smallest plan runs, with a
    warning."""
    text = (f"the region(budget={budget!r}) that begins at {place} cannot save {limit:,} bytes: "
            f"the least that a plan was found for is {least:,} bytes")
    if not budget.endswith("%"):
        raise Error(text)
    warnings.warn(f"{text}, {IN_ITS_PLACE}", RepriseWarning, stacklevel=2)


@contextlib.contextmanager
@traceable
def _mark(budget: Any) -> Iterator[None]:
    """Annotates ops. Dynamo leaves a graph break in a context of this form to code outside of graphs, and so to
    ``check_open``."""
    with annotate({f"{KEY}{_next_number()}": budget}):
        yield


class _Region:
    """Region outside of compiled code, where it has no effect; a decorator."""

    def __init__(self, budget: Any) -> None:
        parse_limit(budget)
        self.budget = budget

    def __enter__(self) -> None:
        if torch.compiler.is_compiling():
            raise UsageError("region: enter it where it is made, as in: with reprise.torch.region(budget=…)")
        _around.budgets = [*getattr(_around, "budgets", ()), self.budget]

    def __exit__(self, *error: Any) -> None:
        _around.budgets = _around.budgets[:-1]

    def __call__(self, function: Function) -> Function:
        budget = self.budget

        @traceable
        def run(*arguments: Any, **named: Any) -> Any:
            with region(budget):
                return function(*arguments, **named)
        return functools.update_wrapper(run, function)


@traceable
def region(budget: int | str) -> contextlib.AbstractContextManager[None]:
    """Bounds the bytes that a part of a compiled model saves for its own backward pass.

        with reprise.torch.region(budget="50%"):
            x = layer(x)

    The result is a context manager, and a decorator of functions and methods. ``budget`` is bytes (``20 << 20``,
    ``"20MiB"``) or a share of what the region saves without replays; 0 replays all inner values. Inputs and results of
    the region do not count. Outside of code that a backend of Reprise compiles, a region has no effect.

    Raises UsageError for a budget that is none of these. The first call of the compiled model raises Error if no plan
    meets a budget in bytes, and if a graph break lies in the region.
    """
    if torch.compiler.is_compiling():
        return _mark(budget)
    return _Region(budget)


def check_open() -> None:
    """Raises an Error if a region is open around a graph that is compiled, which does not see the region."""
    budgets = getattr(_around, "budgets", ())
    if budgets:
        raise Error(f"a region(budget={budgets[-1]!r}) is open around a compiled graph, and does not bound it: enter the region inside "
                    "of the compiled function, and end graph breaks in it (TORCH_LOGS=graph_breaks shows them)")
