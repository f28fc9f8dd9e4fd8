"""Decomposes ops without a converter, as PyTorch expresses them by others."""

from __future__ import annotations

from typing import Any

import torch
import torch.fx as fx

from ._seam.core import disable_current_modes, tree_flatten, tree_unflatten
from ._seam.graphs import FakeTensorMode, decomposition_table, make_fx
from ._whole_fast_paths import FAST_PATHS
from .aten import CONVERTERS, Missing


def _sample(node: fx.Node) -> Any:
    value = node.meta["val"]
    return torch.empty(tuple(map(int, value.shape)), dtype=value.dtype) if isinstance(value, torch.Tensor) else int(value)


_LISTS = "aten._foreach_"


def _one_by_one(target: Any, arguments: Any, keywords: Any) -> list[Any]:
    """Decomposes an op of lists of tensors, which optimizers and clipping call, into ops of their elements."""
    name = str(target).removeprefix(_LISTS).split(".")[0]
    is_limit = name in ("minimum", "maximum") and isinstance(arguments[1], (int, float))
    name = {"minimum": "clamp_max", "maximum": "clamp_min"}[name] if is_limit else {"norm": "linalg_vector_norm"}.get(name, name)
    op, made = getattr(torch.ops.aten, name), []
    for number in range(next(len(each) for each in arguments if isinstance(each, (list, tuple)))):
        given = [each[number] if isinstance(each, (list, tuple)) else each for each in arguments]
        named = dict(keywords, value=given.pop()) if name in ("addcmul", "addcdiv") and len(given) > 3 else keywords
        made.append(op(*given, **named))
    return made


def decompose(node: fx.Node) -> tuple[fx.GraphModule, list[fx.Node]]:
    """Returns the graph of an op and its input nodes. Raises ``Missing`` if it needs an op without a converter."""
    leaves, structure = tree_flatten((node.args, node.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, fx.Node)]

    def call(*values: Any) -> Any:
        given = list(leaves)
        for place, value in zip(places, values):
            given[place] = value
        arguments, keywords = tree_unflatten(given, structure)
        if str(node.target).startswith(_LISTS):
            return _one_by_one(node.target, arguments, keywords)
        return FAST_PATHS.get(node.target, node.target)(*arguments, **keywords)

    table = {target: rule for target, rule in decomposition_table.items() if target not in CONVERTERS}
    with disable_current_modes(), torch.no_grad(), FakeTensorMode():
        traced = make_fx(torch.func.functionalize(call, remove="mutations_and_views"), decomposition_table=table)
        module = traced(*[_sample(leaves[place]) for place in places])
    module.graph.eliminate_dead_code()
    if any(each.op == "call_function" and each.target not in CONVERTERS for each in module.graph.nodes):
        raise Missing(str(node.target))
    return module, [leaves[place] for place in places]
