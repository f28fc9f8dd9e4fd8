"""Matrix products."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._builder import Builder, Value
from ._registry import CONVERTERS, converts, shape_of
from .elementwise import multiply_add

aten = torch.ops.aten


@converts(aten.mm.default)
def mm(b: Builder, node: Any, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([1], [0]))


@converts(aten.bmm.default)
def bmm(b: Builder, node: Any, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([2], [1]), ([0], [0]))


@converts(aten.mv.default)
def mv(b: Builder, node: Any, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([1], [0]))


@converts(aten.dot.default, aten.vdot.default)
def dot(b: Builder, node: Any, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([0], [0]))


def _scaled(b: Builder, x: Value, factor: float) -> Value:
    return x if factor == 1 else b.binary("mul", x, factor, x.dtype)


@converts(aten.addmm.default)
def addmm(b: Builder, node: Any, c: Value, x: Value, y: Value, beta: float = 1, alpha: float = 1) -> Value:
    return b.binary("add", _scaled(b, mm(b, node, x, y), alpha), _scaled(b, c, beta))


@converts(aten.baddbmm.default)
def baddbmm(b: Builder, node: Any, c: Value, x: Value, y: Value, beta: float = 1, alpha: float = 1) -> Value:
    product = _scaled(b, bmm(b, node, x, y), alpha)
    return product if beta == 0 else b.binary("add", product, _scaled(b, c, beta))


@converts(aten.linear.default)
def linear(b: Builder, node: Any, x: Value, weight: Value, bias: Value | None = None) -> Value:
    product = b.dot(x, weight, ([x.rank - 1], [1]))
    return product if bias is None else b.binary("add", product, bias)


@converts(aten.matmul.default)
def matmul(b: Builder, node: Any, x: Value, y: Value) -> Value:
    if x.rank <= 2 and y.rank <= 2:
        return b.dot(x, y, ([x.rank - 1], [max(y.rank - 2, 0)]))
    if y.rank <= 2:
        return b.dot(x, y, ([x.rank - 1], [max(y.rank - 2, 0)]))
    lead = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x = b.expand(x if x.rank > 1 else b.reshape(x, (1, *x.shape)), lead + (x.shape[-2:] if x.rank > 1 else (1, *x.shape)))
    y = b.expand(y, lead + y.shape[-2:])
    batch = list(range(len(lead)))
    return b.reshape(b.dot(x, y, ([x.rank - 1], [y.rank - 2]), (batch, batch)), shape_of(node))


@converts(aten._trilinear.default)
def trilinear(b: Builder, node: Any, x: Value, y: Value, z: Value, expand_x: Sequence[int], expand_y: Sequence[int],
              expand_z: Sequence[int], dims: Sequence[int], *unrolled: int) -> Value:
    """The sum over dimensions of a product of three."""
    parts = []
    for part, added in ((x, expand_x), (y, expand_y), (z, expand_z)):
        sizes = list(part.shape)
        for dim in sorted(added):
            sizes.insert(dim, 1)
        parts.append(b.reshape(part, sizes))
    product = b.binary("mul", b.binary("mul", parts[0], parts[1]), parts[2])
    return b.reduce("sum", product, dims) if dims else product


def grouped_mm(b: Builder, node: Any, x: Value, weights: Value, offs: Value | None = None, **keywords: Any) -> Value:
    """Rows of expert e times its weight: all experts for all rows, and a choice."""
    rows, experts = x.shape[0], weights.shape[0]
    ends = b.reshape(b.cast(offs, torch.int64), (1, experts))
    is_behind = b.compare("ge", b.reshape(b.iota(rows), (rows, 1)), ends)
    expert = b.reduce("sum", b.cast(is_behind, torch.int64), [1])
    chosen = b.op("one_hot", [expert], (rows, experts), x.dtype)
    products = b.dot(x, weights, ([1], [1]))
    return b.reduce("sum", b.binary("mul", products, b.reshape(chosen, (rows, experts, 1))), [1])


def register_third_party() -> None:
    """Ops that other packages have registered by now."""
    packet = getattr(getattr(torch.ops, "transformers", None), "grouped_mm_fallback", None)
    if packet is not None:
        CONVERTERS[packet.default] = grouped_mm
    if hasattr(aten, "_grouped_mm"):
        CONVERTERS[aten._grouped_mm.default] = grouped_mm
    fma = getattr(torch.ops.prims, "fma", None)  # of Inductor
    if fma is not None:
        CONVERTERS[fma.default] = multiply_add
