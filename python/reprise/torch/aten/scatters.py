"""Converts updates by index: written values, and reductions of several updates of one element."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from ._builder import Builder, Missing, Value, compute_type
from ._registry import converts

aten = torch.ops.aten
#: Makes new rows [b…, n] of rows, places and updates [b…, m].
_Compute = Callable[[Value, Value, Value], Value]


def _by_rows(b: Builder, x: Value, dim: int, indices: Value, source: Any, compute: _Compute) -> Value:
    """Moves the dimension behind all others. Elements beyond the indices in another dimension stay unchanged."""
    if not x.rank:
        x, indices = b.reshape(x, (1,)), b.reshape(indices, (math.prod(indices.shape),))
        source = b.reshape(source, indices.shape) if isinstance(source, Value) else source
        return b.reshape(_by_rows(b, x, 0, indices, source, compute), ())
    if 0 in indices.shape:
        return x
    part, cuts = x, []
    for other, size in enumerate(indices.shape):
        if other != dim % x.rank and size < x.shape[other]:
            cuts.append((other, part))
            part = b.slice(part, other, 0, size)
    if isinstance(source, Value):
        for each, size in enumerate(indices.shape):
            source = b.slice(source, each, 0, size)
    else:
        source = b.constant(source, x.dtype, indices.shape)
    rows, back = b.to_last(part, dim)
    places, updates = (b.to_last(b.cast(each, dtype), dim)[0] for each, dtype in ((indices, torch.int64), (source, x.dtype)))
    made = b.transpose(compute(rows, places, updates), back)
    for other, before in reversed(cuts):
        rest = b.slice(before, other, indices.shape[other], before.shape[other])
        made = b.concatenate([made, rest], other)
    return made


def _take(b: Builder, rows: Value, places: Value) -> Value:
    return b.op("take_along", [rows, places], places.shape, rows.dtype)


def _add(b: Builder, shape: tuple[int, ...], places: Value, updates: Value) -> Value:
    """Sums from zeros on."""
    return b.op("scatter_add_along", [places, updates], shape, updates.dtype)


def _write(b: Builder, rows: Value, places: Value, updates: Value) -> Value:
    """The last update of a place stays."""
    size, count = rows.shape[-1], math.prod(rows.shape[:-1])
    start = b.binary("mul", b.reshape(b.iota(count), (*rows.shape[:-1], 1)), size)
    flat = b.reshape(b.binary("add", places, start), (math.prod(places.shape),))
    table = b.reshape(rows, (count * size,))
    return b.reshape(b.op("scatter", [table, flat, b.reshape(updates, flat.shape)], table.shape, rows.dtype), rows.shape)


def _order(b: Builder, keys: Value) -> Value:
    """Returns the indices of each row's elements in descending order; the sort is stable."""
    return b.emit("top_k", [keys], [(keys.shape, keys.dtype), (keys.shape, torch.int64)])[1]


def _folded(b: Builder, name: str, places: Value, updates: Value) -> tuple[Value, Value]:
    """Returns places in ascending order; the last update of a place is the fold of all of them.

    Those of 2, 4, 8, … neighbours are folded (Hillis and Steele 1986), so that products need no quotient.
    """
    order = _order(b, b.unary("neg", places))
    places, updates = _take(b, places, order), _take(b, updates, order)
    lead, count, distance = [0] * (places.rank - 1), places.shape[-1], 1

    def earlier(x: Value, filling: int) -> Value:
        return b.pad(b.slice(x, x.rank - 1, 0, count - distance), [*lead, distance], [*lead, 0], filling)

    while distance < count:
        is_one = b.compare("eq", earlier(places, -1), places)
        updates = b.select(is_one, b.binary(name, earlier(updates, 1), updates), updates)
        distance *= 2
    return places, updates


def _counts(b: Builder, rows: Value, places: Value) -> Value:
    """Returns the number of updates of each element."""
    return _add(b, rows.shape, places, b.constant(1, torch.float32, places.shape))


def _sum(b: Builder, rows: Value, places: Value, updates: Value, includes_self: bool) -> Value:
    zeros = b.constant(0, rows.dtype, rows.shape)
    base = rows if includes_self else b.select(b.compare("gt", _counts(b, rows, places), 0), zeros, rows)
    if rows.dtype.is_floating_point:
        return b.binary("add", base, _add(b, rows.shape, places, updates))
    return b.binary("add", base, _write(b, zeros, *_folded(b, "add", places, updates)))


def _mean(b: Builder, rows: Value, places: Value, updates: Value, includes_self: bool) -> Value:
    """Returns the mean; for integers it is rounded down."""
    counts = _counts(b, rows, places)
    counts = b.binary("add", counts, 1) if includes_self else b.binary("maximum", counts, 1)
    total = _sum(b, rows, places, updates, includes_self)
    if rows.dtype.is_floating_point:
        return b.cast(b.binary("div", b.cast(total, compute_type(rows.dtype)), counts), rows.dtype)
    counts = b.cast(counts, rows.dtype)
    below = b.binary("sub", total, b.binary("sub", counts, 1))
    return b.binary("div", b.select(b.compare("lt", total, 0), below, total), counts)


def _product(b: Builder, rows: Value, places: Value, updates: Value, includes_self: bool) -> Value:
    places, products = _folded(b, "mul", places, updates)
    if not includes_self:
        return _write(b, rows, places, products)
    return b.binary("mul", rows, _write(b, b.constant(1, rows.dtype, rows.shape), places, products))


def _extreme(b: Builder, is_max: bool, rows: Value, places: Value, updates: Value, includes_self: bool) -> Value:
    """Written in ascending order, the largest update of a place stays. NaN is larger than all, and smaller."""
    x, u, count = b.freeze(rows), b.freeze(updates), updates.shape[-1]
    backwards = b.expand(b.binary("sub", count - 1, b.iota(count)), places.shape)
    order = _take(b, _order(b, u if is_max else b.unary("neg", u)), backwards)
    found = _write(b, x, _take(b, places, order), _take(b, u, order))
    if includes_self:
        found = b.binary("maximum" if is_max else "minimum", x, found)
    if not rows.active and not updates.active:
        return found
    return _with_shares(b, found, rows, places, updates, includes_self)


def _with_shares(b: Builder, found: Value, rows: Value, places: Value, updates: Value, includes_self: bool) -> Value:
    """Returns extremes, with the gradient that PyTorch defines: all equal elements have the same share of it.

    The gradient of an element which no update includes is 0, but the element counts.
    """
    wide = compute_type(found.dtype)
    is_self = b.compare("eq", b.freeze(rows), found)
    is_update = b.compare("eq", b.freeze(updates), _take(b, found, places))
    shares = b.binary("add", b.cast(is_self, wide), _add(b, rows.shape, places, b.cast(is_update, wide)))
    if not includes_self:
        is_self = b.op("and", [is_self, b.compare("eq", _counts(b, rows, places), 0)], rows.shape, torch.bool)
    zero = b.constant(0, wide)
    own, others = b.select(is_self, _change(b, rows), zero), b.select(is_update, _change(b, updates), zero)
    moved = b.binary("add", own, _add(b, rows.shape, places, others))
    return b.binary("add", found, b.cast(b.binary("div", moved, shares), found.dtype))


def _change(b: Builder, x: Value) -> Value:
    """Returns zeros, whose derivative by a finite ``x`` is 1."""
    frozen, wide = b.freeze(x), compute_type(x.dtype)
    change = b.binary("sub", b.cast(x, wide), b.cast(frozen, wide))
    is_finite = b.compare("lt", b.unary("abs", b.cast(frozen, wide)), math.inf)
    return b.select(is_finite, change, b.constant(0, wide))


def reduce_by_index(b: Builder, x: Value, dim: int, indices: Value, source: Any, reduction: str, includes_self: bool) -> Value:
    def compute(rows: Value, places: Value, updates: Value) -> Value:
        if reduction in ("amax", "amin"):
            return _extreme(b, reduction == "amax", rows, places, updates, includes_self)
        kinds = {"sum": _sum, "add": _sum, "mean": _mean, "prod": _product, "multiply": _product}
        return kinds[reduction](b, rows, places, updates, includes_self)

    if x.dtype is torch.bool:
        raise Missing(f"a scatter of bool with the reduction {reduction}")
    return _by_rows(b, x, dim, indices, source, compute)


@converts(aten.scatter_add.default)
def scatter_add(b: Builder, node: Any, x: Value, dim: int, indices: Value, updates: Value) -> Value:
    return reduce_by_index(b, x, dim, indices, updates, "sum", True)


@converts(aten.scatter_reduce.two)
def scatter_reduce(b: Builder, node: Any, x: Value, dim: int, indices: Value, updates: Value, reduction: str, *,
                   include_self: bool = True) -> Value:
    return reduce_by_index(b, x, dim, indices, updates, reduction, include_self)


@converts(aten.index_reduce.default)
def index_reduce(b: Builder, node: Any, x: Value, dim: int, indices: Value, updates: Value, reduction: str, *,
                 include_self: bool = True) -> Value:
    shape = [1] * updates.rank
    if shape:
        shape[dim] = math.prod(indices.shape)
    return reduce_by_index(b, x, dim, b.expand(b.reshape(indices, shape), updates.shape), updates, reduction, include_self)


@converts(aten.scatter.reduce, aten.scatter.value_reduce)
def scatter_with_reduction(b: Builder, node: Any, x: Value, dim: int, indices: Value, source: Any, *, reduce: str) -> Value:
    return reduce_by_index(b, x, dim, indices, source, reduce, True)


@converts(aten.scatter.value, aten.scatter.src)
def scatter(b: Builder, node: Any, x: Value, dim: int, indices: Value, source: Any) -> Value:
    return _by_rows(b, x, dim, indices, source, lambda *given: _write(b, *given))
