"""Keeps the loops of reductions along several dimensions, which Inductor's C++ code merges if all reads of the kernel
allow it.

If vectors lie along reduced dimensions, vectors of one merged loop hold other elements than those of two loops, so a
sum has other bits. For example, a value computed from a row per column is read in two loops if it is part of the
kernel, and in one if it lies in memory. If no view shows an operand, such as a row that is repeated inside of a row,
its index has a remainder, so that vectors lie elsewhere.
"""

from __future__ import annotations

from typing import Callable

import torch
from torch import fx

from ._plan_nodes import is_view, tensor_operands
from ._seam.core import OpOverload

#: Ops that move elements: their layout in Inductor may be that of an operand.
MOVES = {getattr(torch.ops.aten, name) for name in ("cat", "constant_pad_nd", "copy", "flip", "gather", "index", "index_select", "repeat",
                                                    "roll", "select_scatter", "slice_scatter")}
#: Ops whose result has several pieces, each with the dimensions along which it has parts of its own.
_PIECES: dict = {torch.ops.aten.cat: lambda node, dim=0: [dim], torch.ops.aten.copy: lambda *given: [],
                 torch.ops.aten.select_scatter: lambda node, source, dim, index: [dim],
                 torch.ops.aten.slice_scatter: lambda node, source, dim=0, *given: [dim],
                 torch.ops.aten.constant_pad_nd: lambda node, pads, *given: [-1 - place for place in range(len(pads) // 2)]}
#: Further ops that Inductor may fuse into kernels, and that read in another order than that of the result.
_SCATTERED = (MOVES | {getattr(torch.ops.aten, name) for name in (
    "_adaptive_avg_pool2d", "avg_pool2d", "embedding", "reflection_pad1d", "reflection_pad2d", "replication_pad2d", "tril", "triu",
    "upsample_bilinear2d", "upsample_nearest2d")}) - set(_PIECES)
#: Stride that merges with no other dimension.
_APART = (1 << 40) + 1


def _dimensions(reduction: fx.Node, tensor: torch.Tensor) -> list[int]:
    """Returns the dimensions of several elements along which a call reduces its operand."""
    names = [each.name for each in reduction.target._schema.arguments]
    given = dict(zip(names, reduction.args)) | dict(reduction.kwargs)
    dims = given.get("dim")
    dims = [dims] if isinstance(dims, int) else dims or range(tensor.dim())
    return sorted(dim % tensor.dim() for dim in dims if tensor.shape[dim] > 1)


def _merges(tensor: torch.Tensor, dims: list[int]) -> list[bool]:
    """Returns whether each of these dimensions merges with the next one."""
    return [tensor.stride(outer) == tensor.stride(inner) * tensor.shape[inner] for outer, inner in zip(dims, dims[1:])]


def _like(shape: tuple, stride: tuple) -> torch.Tensor:
    return torch.empty_strided(shape, stride, device="meta")


def _look(view: fx.Node, tensor: torch.Tensor) -> torch.Tensor:
    args, kwargs = fx.map_arg((view.args[1:], view.kwargs), lambda each: each.meta["val"])
    return view.target(tensor, *args, **kwargs)


def _break(tensor: torch.Tensor, shape: tuple, dims: list[int]) -> torch.Tensor:
    """Returns a tensor of that shape that is read as a piece of it, in which these dimensions have bounds."""
    stride = list(tensor.expand(*shape[:len(shape) - tensor.dim()], *tensor.shape).stride())
    for dim in dims:
        stride[dim] = _APART
    return _like(shape, stride)


def _operands(node: fx.Node, show: Callable) -> list[tuple[fx.Node, Callable]]:
    """Returns the values that may be read instead of a computed value: each with a function from it to a tensor that is
    read as the value is."""
    target, shape = node.target, node.meta["val"].shape
    if not isinstance(target, OpOverload):
        return []
    if target.overloadpacket in _PIECES:
        dims = _PIECES[target.overloadpacket](*node.args, **node.kwargs)
        return [(each, lambda tensor: show(_break(tensor, shape, dims))) for each in tensor_operands(node)]
    if torch.Tag.pointwise not in target.tags:
        return []
    return [(each, show if each.meta["val"].shape == shape else lambda tensor: show(tensor.expand(shape)))
            for each in tensor_operands(node)]


def _see_through(node: fx.Node, show: Callable) -> tuple[fx.Node, Callable]:
    """The value that views show."""
    while is_view(node):
        node, show = node.args[0], lambda tensor, view=node, show=show: show(_look(view, tensor))
    return node, show


def find_splitters(reduction: fx.Node, operand: fx.Node) -> set[fx.Node]:
    """Returns the values that must be stored so that the vectors of a reduction do not depend on the other ops of the
    kernel."""
    value = operand.meta["val"]
    dims = _dimensions(reduction, value) if value.dim() else []
    merged = _merges(value, dims)
    is_one = any(merged) and any(value.stride(dim) == 1 for dim in dims)
    stack, seen, found = [_see_through(operand, lambda tensor: tensor)] if dims else [], set(), set()

    def fits(node: fx.Node, show: Callable) -> bool:
        tensor = node.meta["val"]
        try:
            own = _merges(show(_like(tensor.shape, tensor.stride())), dims)
        except (RuntimeError, ValueError):  # no view of these dimensions shows it
            return False
        return not is_one or all(its for mine, its in zip(merged, own) if mine)
    while stack:
        node, show = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        operands = [_see_through(*each) for each in _operands(node, show)]
        if is_one and getattr(node.target, "overloadpacket", None) in _SCATTERED or not all(fits(*each) for each in operands):
            found.add(node)
        else:
            stack.extend(operands)
    return found
