"""Sums, extrema, statistics and running sums."""

from __future__ import annotations

import math
from typing import Any, Sequence

import torch

from ._builder import Builder, Missing, Value
from ._registry import converts, dtype_of, shape_of

aten = torch.ops.aten


@converts(aten.sum.default, aten.sum.dim_IntList)
def total(b: Builder, node: Any, x: Value, dims: Any = None, keep: bool = False, **keywords: Any) -> Value:
    return b.reduce("sum", b.cast(x, dtype_of(node)), dims, keep)


@converts(aten.mean.default, aten.mean.dim)
def mean(b: Builder, node: Any, x: Value, dims: Any = None, keep: bool = False, **keywords: Any) -> Value:
    return b.reduce("mean", b.cast(x, dtype_of(node)), dims, keep)


@converts(aten.prod.default, aten.prod.dim_int)
def product(b: Builder, node: Any, x: Value, dim: Any = None, keep: bool = False, **keywords: Any) -> Value:
    return b.reduce("prod", b.cast(x, dtype_of(node)), None if dim is None else [dim], keep)


def _shared_extreme(b: Builder, name: str, x: Value, dims: Sequence[int] | None, keep: bool) -> Value:
    """Returns the largest or smallest element; equal ones share the cotangent, through their mean."""
    best = b.reduce(name, x, dims, keep=True)
    if best.active:
        is_best = b.compare("eq", x, b.expand(best, x.shape))
        count = b.reduce("sum", b.cast(is_best, x.dtype), dims, keep=True)
        total = b.reduce("sum", b.select(is_best, x, b.constant(0, x.dtype)), dims, keep=True)
        best = b.select(b.compare("gt", count, 1), b.binary("div", total, count), best)
    gone = {dim % x.rank for dim in dims} if dims else set(range(x.rank))
    return best if keep else b.reshape(best, [size for dim, size in enumerate(x.shape) if dim not in gone])


@converts(aten.amax.default, aten.amin.default)
def extreme(b: Builder, node: Any, x: Value, dims: Sequence[int] = (), keep: bool = False) -> Value:
    return _shared_extreme(b, "max" if node.target is aten.amax.default else "min", x, dims, keep)


@converts(aten.max.default, aten.min.default)
def extreme_of_all(b: Builder, node: Any, x: Value) -> Value:
    return _shared_extreme(b, "max" if node.target is aten.max.default else "min", x, None, False)


@converts(aten.max.dim, aten.min.dim)
def extreme_and_place(b: Builder, node: Any, x: Value, dim: int, keep: bool = False) -> list[Value]:
    is_max = node.target is aten.max.dim
    place = first_largest(b, x if is_max else b.unary("neg", x), dim % x.rank)
    value = b.reduce("max" if is_max else "min", x, [dim], keep)
    return [value, b.reshape(place, shape_of(node, 1))]


def first_largest(b: Builder, x: Value, dim: int) -> Value:
    shape = x.shape[:dim] + x.shape[dim + 1:]
    return b.op("argmax", [x], shape, torch.int64, {"dim": f"{dim} : i64"})


@converts(aten.argmax.default, aten.argmin.default)
def argmax(b: Builder, node: Any, x: Value, dim: Any = None, keep: bool = False) -> Value:
    x = x if node.target is aten.argmax.default else b.unary("neg", x)
    x = b.reshape(x, (math.prod(x.shape),)) if dim is None else x
    return b.reshape(first_largest(b, x, (dim or 0) % x.rank), shape_of(node))


@converts(aten.any.default, aten.any.dim, aten.any.dims, aten.all.default, aten.all.dim, aten.all.dims)
def any_or_all(b: Builder, node: Any, x: Value, dims: Any = None, keep: bool = False) -> Value:
    dims = [dims] if isinstance(dims, int) else dims
    name = "max" if "any" in node.target._schema.name else "min"
    return b.cast(b.reduce(name, b.cast(b.cast(x, torch.bool), torch.int32), dims, keep), torch.bool)


def _variance(b: Builder, x: Value, dims: Any, correction: float, keep: bool) -> tuple[Value, Value]:
    average = b.reduce("mean", x, dims, True)
    away = b.binary("sub", x, average)
    squares = b.reduce("sum", b.binary("mul", away, away), dims, keep)
    count = math.prod(x.shape[dim] for dim in ({d % x.rank for d in dims} if dims else range(x.rank)))
    return b.binary("div", squares, float(max(count - correction, 0))), b.reshape(average, squares.shape)


@converts(aten.var.correction, aten.std.correction, aten.var.dim, aten.std.dim, aten.var.default, aten.std.default)
def variance(b: Builder, node: Any, x: Value, dims: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> Value:
    correction = (0 if unbiased is False else 1) if correction is None else correction
    value = _variance(b, x, dims, correction, keepdim)[0]
    return value if "var" in node.target._schema.name else b.root(value)


@converts(aten.var_mean.correction)
def variance_and_mean(b: Builder, node: Any, x: Value, dims: Any = None, *, correction: Any = 1,
                      keepdim: bool = False) -> list[Value]:
    return list(_variance(b, x, dims, 1 if correction is None else correction, keepdim))


@converts(aten.linalg_vector_norm.default)
def vector_norm(b: Builder, node: Any, x: Value, order: float = 2, dims: Any = None, keep: bool = False,
                **keywords: Any) -> Value:
    x = b.cast(x, dtype_of(node))
    if order == 2:
        return b.root(b.reduce("sum", b.binary("mul", x, x), dims, keep))
    if order in (1, math.inf):
        return b.reduce("sum" if order == 1 else "max", b.unary("abs", x), dims, keep)
    raise Missing(f"aten.linalg_vector_norm of order {order}")


@converts(aten._weight_norm_interface.default)
def weight_norm(b: Builder, node: Any, v: Value, g: Value, dim: int = 0) -> list[Value]:
    """Returns directions scaled to lengths ``g``, one per index of ``dim``, and their original lengths."""
    others = [each for each in range(v.rank) if each != dim % v.rank]
    squares = b.binary("mul", v, v)
    lengths = b.unary("sqrt", b.reduce("sum", squares, others, True) if others else squares)
    return [b.binary("mul", v, b.binary("div", g, lengths)), lengths]


@converts(aten.logsumexp.default)
def logsumexp(b: Builder, node: Any, x: Value, dims: Sequence[int], keep: bool = False) -> Value:
    largest = b.reduce("max", x, dims, True)
    sums = b.reduce("sum", b.unary("exp", b.binary("sub", x, largest)), dims, True)
    return b.reshape(b.binary("add", b.unary("log", sums), largest), shape_of(node))


@converts(aten.cumsum.default)
def cumsum(b: Builder, node: Any, x: Value, dim: int, **keywords: Any) -> Value:
    x = b.cast(x, dtype_of(node))
    return b.unary("cumsum", x, {"dim": f"{dim % x.rank} : i64"}) if x.rank else x


@converts(aten.cumprod.default)
def cumprod(b: Builder, node: Any, x: Value, dim: int, **keywords: Any) -> Value:
    """Products of 2, 4, 8, … neighbours (Hillis and Steele 1986): no quotient, so that zeros have gradients."""
    x = b.cast(x, dtype_of(node))
    distance = 1
    while x.rank and distance < x.shape[dim]:
        low = [distance if each == dim % x.rank else 0 for each in range(x.rank)]
        before = b.pad(b.slice(x, dim % x.rank, 0, x.shape[dim] - distance), low, [0] * x.rank, 1)
        x, distance = b.binary("mul", before, x), 2 * distance
    return x


def _top(b: Builder, x: Value, count: int) -> list[Value]:
    shape = x.shape[:-1] + (count,)
    return b.emit("top_k", [x], [(shape, x.dtype), (shape, torch.int64)])


@converts(aten.topk.default)
def topk(b: Builder, node: Any, x: Value, count: int, dim: int = -1, largest: bool = True,
         sorted: bool = True) -> list[Value]:
    rows, back = b.to_last(x if largest else b.unary("neg", x), dim)
    values, places = _top(b, rows, count)
    return [b.transpose(values if largest else b.unary("neg", values), back), b.transpose(places, back)]


@converts(aten.sort.default, aten.sort.stable)
def sort(b: Builder, node: Any, x: Value, dim: int = -1, descending: bool = False, stable: bool = True) -> list[Value]:
    return topk(b, node, x, x.shape[dim % x.rank], dim, descending)


def _ranked(b: Builder, node: Any, x: Value, rank: int, dim: int) -> list[Value]:
    """The element of a rank from below, and its place."""
    rows, _ = b.to_last(b.unary("neg", x), dim)
    values, found = _top(b, rows, rank)
    last = [b.slice(each, each.rank - 1, rank - 1, rank) for each in (b.unary("neg", values), found)]
    return [b.reshape(each, shape_of(node, number)) for number, each in enumerate(last)]


@converts(aten.kthvalue.default)
def kth_value(b: Builder, node: Any, x: Value, rank: int, dim: int = -1, keep: bool = False) -> list[Value]:
    return _ranked(b, node, x, rank, dim)


@converts(aten.median.dim)
def median(b: Builder, node: Any, x: Value, dim: int, keep: bool = False) -> list[Value]:
    """Returns the median: the lower one of two."""
    return _ranked(b, node, x, (x.shape[dim] + 1) // 2, dim)


@converts(aten._cdist_forward.default)
def distances(b: Builder, node: Any, x: Value, y: Value, order: float, mode: Any = None) -> Value:
    shape = shape_of(node)
    lead = shape[:-2]
    x = b.expand(b.reshape(x, x.shape[:-1] + (1, x.shape[-1])), lead + (shape[-2], 1, x.shape[-1]))
    y = b.expand(b.reshape(y, y.shape[:-2] + (1, *y.shape[-2:])), lead + (1, shape[-1], y.shape[-1]))
    return vector_norm(b, node, b.binary("sub", x, y), order, [-1])


@converts(aten.histc.default)
def histogram(b: Builder, node: Any, x: Value, bins: int = 100, low: float = 0, high: float = 0) -> Value:
    """Counts small integers."""
    if low != 0 or high not in (bins - 1, bins):
        raise Missing("aten.histc other than counting each small integer")
    indices = b.cast(x, torch.int64)
    ones = b.op("one_hot", [indices], indices.shape + (bins,), dtype_of(node))
    return b.reduce("sum", ones, range(indices.rank))


