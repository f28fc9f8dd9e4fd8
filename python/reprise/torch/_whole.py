"""Backend ``torch.compile(model, backend="reprise")``: the whole compiler behind AOTAutograd.

AOTAutograd makes Dynamo's graph functional and handles mutated arguments and aliases around it. The graph becomes the
dialect, Reprise differentiates, plans and compiles it, and a function of PyTorch's autograd surrounds it. Optimizers,
hooks, clipping and accumulation of PyTorch work on the gradients as usual.
"""

from __future__ import annotations

import copy
import functools
import re
import warnings
from typing import Any, Callable, Sequence

import torch
import torch.fx as fx

from .._errors import Error, UsageError, suggest
from . import _replayed_writes
from ._plan_regions import mark
from ._raising import raising
from ._region_budgets import check_open
from ._seam.dynamo import lookup_backend
from ._step_beside import compiling
from ._whole_autograd import Calling
from ._whole_budget import StepBudget, step_budget
from ._whole_coarse import keep_whole
from ._whole_eager import compile_around, find_eager
from ._whole_errors import Unsupported
from ._whole_functional import Functional, make_functional
from ._whole_functions import compile_parts
from ._whole_graphs import Imported, compile_graph
from ._whole_regions import check_uncut, has_functions
from ._whole_subgraphs import call_subgraphs

_OPTIONS = {"budget", "policy", "fallback", "target", "plan", "time_limit", "device_file", "profile"}


def _check_inputs(inputs: Sequence[Any]) -> None:
    kinds = {each.device.type for each in inputs if isinstance(each, torch.Tensor)} - {"cpu", "cuda", "meta"}
    if kinds:
        raise Unsupported({f"tensors on {', '.join(sorted(kinds))}; the backend compiles for CPUs and CUDA": ["its inputs"]})


def _compile(module: fx.GraphModule, inputs: Sequence[Any], options: dict[str, Any], share: StepBudget) -> Callable[..., Any]:
    _check_inputs(inputs)
    call_subgraphs(module)
    if eager := find_eager(module):
        with share.parts(options.get("budget")):
            return compile_around(module, inputs, eager, lambda part, given: _compile(part, given, options, share))
    if has_functions(module):
        check_uncut(module)
        with share.parts(options.get("budget")):
            return compile_parts(module, inputs, lambda part, given: _compile(part, given, options, share))
    keep_whole(module)
    mark(module)

    def compiler(functional: Functional) -> Callable[[list[Any]], list[Any]]:
        imported = Imported(functional)
        return Calling(functional, compile_graph(imported, options, share), imported.constants())

    return make_functional(module, inputs, compiler)


@functools.lru_cache(maxsize=None)
def _say_fallback(what: str) -> None:
    warnings.warn(f"Inductor compiles a graph that reprise cannot: {what}", stacklevel=2)


@functools.lru_cache(maxsize=None)
def _say_split(what: str, place: str) -> None:
    warnings.warn(f"{place}: {what}: the operator runs in eager code between two graphs, each with its own plan", stacklevel=2)


def _tell_split(reason: Any) -> None:
    """Warns once for each operator, by its line, that ends a graph because its result has no static shape, or because it
    draws from a generator of the user's."""
    text = str(getattr(reason, "reason", ""))
    found = re.search(r"Operator `([^`]+)`'s output shape depends", text)
    what = f"{found[1]} has a result whose shape depends on values" if found else \
        "a draw from a torch.Generator" if "UserDefinedObjectVariable(Generator)" in text else None
    if what:
        frame = next(iter(reversed(reason.user_stack)), None)
        _say_split(what, f"{frame.filename}:{frame.lineno}" if frame else "an unknown place")


def reprise(module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Compiles a graph. Options: ``policy`` and ``budget`` as in ``reprise.compile``; bytes are for the whole step,
    whatever graphs Dynamo makes of it, a share is that of each graph; ``fallback``: graphs with unsupported ops go
    to Inductor, with one warning.

    The result raises an error with all missing ops and the user's lines that need them.
    """
    share, options = step_budget(options), dict(options or {})
    if unknown := sorted(set(options) - _OPTIONS):
        near = suggest(unknown[0], sorted(_OPTIONS))
        return raising(UsageError(f"unknown option {unknown[0]!r} of backend \"reprise\"{near}"))
    fallback = options.pop("fallback", False)
    reason = getattr(module, "compile_subgraph_reason", None)
    share.is_followed = bool(getattr(reason, "graph_break", False))
    _tell_split(reason)
    original = copy.deepcopy(module) if fallback else None
    try:
        check_open()
        with compiling():
            return _replayed_writes.watch(_compile(module, inputs, options, share))
    except Unsupported as error:
        if not fallback:
            return raising(Unsupported(error.missing, "; fallback=True leaves such graphs to Inductor"))
        _say_fallback(", ".join(sorted(error.missing)))
        return lookup_backend("inductor")(original, inputs)
    except Error as error:
        return raising(error)
