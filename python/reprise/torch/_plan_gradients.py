"""Places gradients as PyTorch keeps them: a parameter's in the parameter's own layout and in its own memory.

Autograd keeps only such a gradient without a copy. It copies any other behind the backward pass, when all gradients are
alive and outside of any plan (AccumulateGrad, torch/csrc/autograd/functions/accumulate_grad.h). A copy in the graph
comes directly behind the op of the gradient, whose own memory is free again at once.
"""

from __future__ import annotations

from typing import Iterable

import torch
from torch import fx

from ._plan_nodes import call_behind, root
from ._seam.core import is_non_overlapping_and_dense_or_false

aten = torch.ops.aten


def keep_gradients(joint: fx.GraphModule, static_inputs: Iterable[int]) -> list[fx.Node]:
    """Copies the gradients of static inputs that autograd would copy; returns the ops of the copies."""
    graph = joint.graph
    placeholders = graph.find_nodes(op="placeholder")
    parameters = {placeholders[each].meta["desc"]: placeholders[each] for each in static_inputs
                  if "desc" in placeholders[each].meta}
    output = next(iter(graph.find_nodes(op="output")))
    results, handed, copies = list(output.args[0]), set(), []
    for place, description in enumerate(output.meta.get("desc", ())):
        parameter = parameters.get(getattr(description, "grad_of", None))
        gradient = results[place]
        if parameter is None or not isinstance(gradient, fx.Node):
            continue
        if gradient in handed or root(gradient)[0].op == "placeholder" or not _has_layout(gradient, parameter):
            results[place] = _copy(gradient, parameter.meta["val"])
            copies.append(results[place].args[0])
        handed.add(gradient)
    output.args = (type(output.args[0])(results),)
    joint.recompile()
    return copies


def _has_layout(gradient: fx.Node, parameter: fx.Node) -> bool:
    """Returns whether autograd copies a gradient, by the contract of accumulate_grad.h: the parameter's strides if it
    is dense, otherwise those of a contiguous tensor."""
    found, wanted = gradient.meta["val"], parameter.meta["val"]
    if found.layout is not torch.strided:  # autograd keeps sparse gradients
        return True
    if not is_non_overlapping_and_dense_or_false(wanted):
        return found.is_contiguous()
    return all(mine == its if size != 1 else mine != 0
               for size, mine, its in zip(found.shape, found.stride(), wanted.stride()))


def _copy(gradient: fx.Node, wanted: torch.Tensor) -> fx.Node:
    """Returns the gradient in the wanted layout, directly behind the op that computes it."""
    order = list(range(wanted.dim()))
    if is_non_overlapping_and_dense_or_false(wanted):
        order.sort(key=lambda dim: -wanted.stride(dim))
    back = [order.index(dim) for dim in range(wanted.dim())]
    node = call_behind(gradient, aten.permute.default, order)
    node = call_behind(node, aten.clone.default, memory_format=torch.contiguous_format)
    return call_behind(node, aten.permute.default, back)
