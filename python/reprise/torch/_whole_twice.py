"""Makes the second derivative of a user's torch.autograd.Function: its backward pass, as a graph that has gradients
itself.

Dynamo traces a backward pass without gradients, and leaves no trace of a no_grad in it. So only code that certainly has
no no_grad is differentiated; any other raises an error with the user's line, when the second derivative is requested.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re
from typing import Any, Iterator, Sequence

import torch
import torch.fx as fx

from .._errors import Error
from ._whole_untraced import Untraced

_TORCH = os.path.dirname(torch.__file__)
#: Contexts and decorators that may surround the lines of a backward pass, because they end no gradient.
_CONTEXTS, _DECORATORS = {"autocast", "enable_grad", "record_function"}, {"staticmethod", "custom_bwd"}
_CHANGES = {"set_grad_enabled", "_set_grad_enabled", "inference_mode", "no_grad"}


def _frames(node: fx.Node) -> list[tuple[str, int]]:
    return [(name, int(line)) for name, line in
            re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")]


@functools.lru_cache(maxsize=64)
def _tree(name: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(name)) or "(")
    except SyntaxError:
        return None


def _last_name(expression: ast.expr) -> str:
    """Returns no_grad of torch.no_grad()."""
    if isinstance(expression, ast.Call):
        return _last_name(expression.func)
    return getattr(expression, "attr", None) or getattr(expression, "id", "")


def _around(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """The statements and functions that a line is in, from the outermost on."""
    node: ast.AST | None = tree
    while node is not None:
        yield node
        node = next((each for each in ast.walk(node) if each is not node and isinstance(each, ast.stmt)
                     and _first_line(each) <= line <= (each.end_lineno or 0)), None)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def _ends_gradients(name: str, line: int) -> str | None:
    """Returns the construct around a line of a backward pass that may end its gradients."""
    if name.startswith(_TORCH + os.sep):
        inside = name[len(_TORCH) + 1:]
        return {"autograd/function.py": "once_differentiable", "utils/_contextlib.py": "a decorator"}.get(inside)
    tree = _tree(name)
    if tree is None:
        return "code without source"
    around = list(_around(tree, line))
    functions = [number for number, each in enumerate(around) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    around = around[functions[-1]:] if functions else around
    for each in around:
        if isinstance(each, (ast.With, ast.AsyncWith)):
            other = [_last_name(item.context_expr) for item in each.items]
        else:
            other = [_last_name(decorator) for decorator in getattr(each, "decorator_list", [])]
        allowed = _CONTEXTS if isinstance(each, (ast.With, ast.AsyncWith)) else _DECORATORS
        if unknown := [found or "an expression" for found in other if found not in allowed]:
            return unknown[0]
    called = (_last_name(each) for each in ast.walk(around[0]) if isinstance(each, ast.Call))
    return next((each for each in called if each in _CHANGES), None)


def why_not_twice(function: fx.Node, backward: fx.GraphModule) -> str | None:
    """Returns the reason, with the user's line, that forbids the derivative of a backward pass, or None."""
    outside = len(_frames(function))
    for node in backward.graph.nodes:
        for name, line in _frames(node)[outside:]:
            if what := _ends_gradients(name, line):
                own = [each for each in _frames(node)[outside:] if not each[0].startswith(_TORCH)]
                place = own[-1] if own else (name, line)
                return f"{place[0]}:{place[1]}: {what} may end gradients"
    return None


class Refused(Untraced):
    """Gradients that have no derivative."""

    @staticmethod
    def forward(ctx: Any, why: str, count: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.why = why
        return tuple(each.view_as(each) for each in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        raise Error(f"a torch.autograd.Function has no second derivative: {ctx.why}")


def refuse(why: str, gradients: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """The gradients; their derivatives by the inputs are errors."""
    tensors = [each for each in gradients if isinstance(each, torch.Tensor)]
    made = iter(Refused.apply(why, len(tensors), *tensors, *(each for each in inputs if isinstance(each, torch.Tensor))))
    return [next(made) if isinstance(each, torch.Tensor) else each for each in gradients]
