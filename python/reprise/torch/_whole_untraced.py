"""Keeps Dynamo out of this package's Python: it traces all code that runs while a compiled function computes
gradients."""

from __future__ import annotations

import types
from typing import Any, Callable

import torch

from ._seam.dynamo import trace_rules

# Frames of this package run untraced, and a call of it from a traced function breaks the graph there.
trace_rules.add("reprise")


class Untraced(torch.autograd.Function):
    """Function of PyTorch's autograd with a backward pass that Dynamo does not trace, nor the functions that it
    calls."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls.backward = staticmethod(torch.compiler.disable(cls.backward))  # type: ignore[method-assign]


def traceable(function: Callable) -> Callable:
    """Returns a plain function of this package as one that Dynamo traces: a skipped frame is recognized by the name of
    its file."""
    code = function.__code__.replace(co_filename=f"<reprise: {function.__name__}>")
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__doc__, made.__annotations__, made.__qualname__ = function.__doc__, function.__annotations__, function.__qualname__
    return made
