"""Cuts a graph around ops that only PyTorch runs, such as those of nested tensors. They stay eager code, with a warning.

The parts before and behind such ops are graphs as any others. PyTorch's autograd stands between the parts.
"""

from __future__ import annotations

import functools
import os
import re
import warnings
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.fx as fx
from torch.utils.checkpoint import checkpoint

from .._errors import Error
from ._region_budgets import KEY
from ._seam.core import HigherOrderOperator, is_traceable_wrapper_subclass, tree_leaves
from ._seam.graphs import FakeTensor, split_module
from ._whole_functions import Compiler, compile_part
from ._whole_regions import body_of, is_region
from ._whole_subgraphs import NAMES


_TORCH = os.path.dirname(torch.__file__) + os.sep


@functools.lru_cache(maxsize=None)
def _say(what: str, place: str) -> None:
    warnings.warn(f"{place}: {what}: PyTorch runs these ops in eager code, between graphs that have plans of their own", stacklevel=2)


def _values(node: fx.Node) -> Iterator[Any]:
    for each in (node, *node.all_input_nodes):
        yield from tree_leaves(each.meta.get("example_value"))


def find_reason(node: fx.Node) -> str | None:
    """Returns what only PyTorch runs in a node, or in the region of a node; None for all other nodes."""
    if node.op not in ("call_function", "call_method"):
        return None
    if any(is_traceable_wrapper_subclass(each) and type(each).__name__ != "DTensor" for each in _values(node)):
        return "a nested tensor, or another subclass of tensors"
    if any(isinstance(leaf, torch.Generator) for leaf in tree_leaves((node.args, dict(node.kwargs)))):
        return "a draw from a torch.Generator of its own"
    if isinstance(node.target, HigherOrderOperator) and node.target.name() in NAMES:
        return f"torch.{node.target.name()} that writes to its operands, or returns numbers"
    if is_region(node):
        inner = (find_reason(each) for each in body_of(node).graph.nodes)
        return next((each for each in inner if each), None)
    return None


def find_eager(module: fx.GraphModule) -> dict[fx.Node, str]:
    """Returns the nodes that only PyTorch runs, with the reasons."""
    found: dict[fx.Node, str] = {}
    for node in module.graph.nodes:
        reason = find_reason(node)
        if reason is None and node.op != "output" and not isinstance(node.meta.get("example_value"), torch.Tensor):
            reason = next((found[each] for each in node.all_input_nodes if each in found), None)  # such as its sizes
        if reason:
            found[node] = reason
    return found


def _split(module: fx.GraphModule, eager: dict[fx.Node, str]) -> fx.GraphModule:
    """Returns the parts: those that stay eager have odd numbers."""
    number, numbers = 0, {}
    for node in module.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            number += number % 2 != (node in eager)
            numbers[node] = number
    return split_module(module, None, lambda node: numbers[node])


def _run_region(body: Any, *arguments: Any, **named: Any) -> Any:
    """Runs a region as eager code does, so that its replay draws the same numbers."""
    context = body.meta.get("_checkpoint_context_fn")
    return checkpoint(body, *arguments, use_reentrant=False, **({"context_fn": context} if context else {}))


def _keep_eager(part: fx.GraphModule) -> None:
    for node in part.graph.nodes:
        if is_region(node):
            node.target = _run_region
    part.recompile()


def _place(node: fx.Node) -> str:
    """Returns the user's line of a node, not that of a function of PyTorch which the user has called."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [each for each in frames if not each[0].startswith(_TORCH)] or frames
    return ":".join(own[-1]) if own else "an unknown place"


def _plain(value: Any) -> Any:
    """Returns a tensor without elements that is no view: AOTAutograd would look for the base of a nested tensor's view."""
    if not isinstance(value, FakeTensor):
        return value
    with value.fake_mode:
        made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
    return made.requires_grad_(value.requires_grad)


def compile_around(module: fx.GraphModule, inputs: Sequence[Any], eager: dict[fx.Node, str], compiler: Compiler) -> Callable[..., Any]:
    """Returns the code of a graph in which some nodes stay eager code; ``compiler`` compiles the others."""
    for node, reason in eager.items():
        if any(str(each).startswith(KEY) for each in node.meta.get("custom", {})):
            raise Error(f"{_place(node)}: {reason} lies in a region(budget=…), which would be cut around it; end the region before it")
        _say(reason, _place(node))
    values = {node.name: _plain(node.meta.get("example_value")) for node in module.graph.nodes}
    values |= zip((node.name for node in module.graph.find_nodes(op="placeholder")), inputs)
    split = _split(module, eager)
    for name, part in list(split.named_children()):
        if not name.startswith("submod_"):
            continue
        if int(name.removeprefix("submod_")) % 2:
            _keep_eager(part)
            continue
        given = [values[node.name] for node in part.graph.find_nodes(op="placeholder")]
        setattr(split, name, compile_part(part, given, compiler))
    split.recompile()
    return split
