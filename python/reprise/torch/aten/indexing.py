"""Elements and rows by index."""

from __future__ import annotations

import math
from typing import Any, Sequence

import torch

from ._builder import Builder, Missing, Value
from ._registry import converts, dtype_of, shape_of
from ._values import Refused
from .scatters import reduce_by_index

aten = torch.ops.aten


def _wrapped(b: Builder, indices: Value, size: int) -> Value:
    """Negative indices count from the end."""
    indices = b.cast(indices, torch.int64)
    return b.select(b.compare("lt", indices, 0), b.binary("add", indices, size), indices)


def _refuse_sparse(sparse: bool, table: Value) -> None:
    if sparse and table.active:
        raise Refused("gradients that are sparse (sparse=True, sparse_grad=True)")


@converts(aten.embedding.default)
def embedding(b: Builder, node: Any, table: Value, indices: Value, padding: int = -1, scales_by_count: bool = False,
              sparse: bool = False) -> Value:
    """The row of ``padding`` has no gradient."""
    if scales_by_count and table.active:
        raise Missing("an embedding with scale_grad_by_freq")
    _refuse_sparse(sparse, table)
    rows = b.gather(table, indices)
    if padding < 0 or not table.active:
        return rows
    is_padding = b.reshape(b.compare("eq", indices, padding), indices.shape + (1,))
    return b.select(b.expand(is_padding, rows.shape), b.gather(b.freeze(table), indices), rows)


@converts(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def embedding_bag(b: Builder, node: Any, table: Value, indices: Value, offsets: Value, scales_by_count: bool = False,
                  mode: int = 0, sparse: bool = False, weights: Value | None = None, has_end: bool = False,
                  padding: int = -1) -> list[Value | None]:
    """Rows of the table are added where their bag is: a bag begins at each offset. What is padding counts nowhere."""
    if scales_by_count or mode == 2:
        raise Missing("an embedding bag with " + ("scale_grad_by_freq" if scales_by_count else "mode='max'"))
    _refuse_sparse(sparse, table)
    count, bags = indices.shape[0], offsets.shape[0] - has_end
    starts = b.reshape(b.slice(offsets, 0, 0, bags), (1, bags))
    begun = b.compare("ge", b.reshape(b.iota(count, offsets.dtype), (count, 1)), starts)
    bag = b.binary("sub", b.reduce("sum", b.cast(begun, torch.int64), [1]), 1)
    rows = b.gather(table, indices)
    counted = b.constant(1, rows.dtype, (count,))
    if weights is not None:
        rows = b.binary("mul", rows, b.reshape(weights, (count, 1)))
    if padding >= 0:
        is_counted = b.compare("ne", indices, padding)
        counted = b.cast(is_counted, rows.dtype)
        mask = b.expand(b.reshape(is_counted, (count, 1)), rows.shape)
        rows = b.select(mask, rows, b.constant(0, rows.dtype, rows.shape))
    total = b.op("scatter_add", [bag, rows], (bags, table.shape[1]), rows.dtype)
    if mode == 1:
        sizes = b.op("scatter_add", [bag, counted], (bags,), rows.dtype)
        total = b.binary("div", total, b.reshape(b.binary("maximum", sizes, 1), (bags, 1)))
    return [total, None, None, None]


def _flatten(b: Builder, indices: Sequence[Value], sizes: Sequence[int]) -> Value:
    """The row-major index of tuples of indices."""
    flat = None
    for each, size in zip(indices, sizes):
        each = _wrapped(b, each, size)
        flat = each if flat is None else b.binary("add", b.binary("mul", flat, size), each)
    return flat


def _to_integers(b: Builder, indices: Sequence[Value | None]) -> list[Value | None]:
    if any(each is not None and each.dtype is torch.bool for each in indices):
        raise Missing("indexing by a mask: the size of the result depends on values")
    return list(indices)


@converts(aten.index.Tensor, aten._unsafe_index.Tensor)
def index(b: Builder, node: Any, x: Value, indices: Sequence[Value | None]) -> Value:
    """Merges adjacent indexed dimensions; the common shape of the indices replaces them."""
    indices = _to_integers(b, indices)
    at = [dim for dim, each in enumerate(indices) if each is not None]
    others = [dim for dim in range(x.rank) if dim not in at]
    flat = _flatten(b, [indices[dim] for dim in at], [x.shape[dim] for dim in at])
    rest = [x.shape[dim] for dim in others]
    table = b.reshape(b.transpose(x, at + others), [math.prod(x.shape[dim] for dim in at), *rest])
    taken = b.gather(table, flat)
    if at[-1] - at[0] != len(at) - 1:
        return b.reshape(taken, shape_of(node))
    lead, own = list(range(flat.rank)), list(range(flat.rank, taken.rank))
    return b.transpose(taken, own[:at[0]] + lead + own[at[0]:])


@converts(aten.index_select.default)
def index_select(b: Builder, node: Any, x: Value, dim: int, indices: Value) -> Value:
    return b.take(x, dim, b.reshape(indices, (math.prod(indices.shape),)))


@converts(aten.gather.default)
def gather(b: Builder, node: Any, x: Value, dim: int, indices: Value, sparse_grad: bool = False) -> Value:
    _refuse_sparse(sparse_grad, x)
    for other in range(x.rank):
        if other != dim % x.rank:
            x = b.slice(x, other, 0, indices.shape[other])
    rows, back = b.to_last(x, dim)
    places = b.to_last(indices, dim)[0]
    return b.transpose(b.op("take_along", [rows, places], places.shape, rows.dtype), back)


def _add_rows(b: Builder, table: Value, indices: Value, rows: Value) -> Value:
    """Adds a row of the table for each index."""
    if table.dtype.is_floating_point:
        return b.binary("add", table, b.op("scatter_add", [indices, rows], table.shape, table.dtype))
    count, size = math.prod(indices.shape), math.prod(table.shape[1:])
    places = b.expand(b.reshape(indices, (count, 1)), (count, size))
    flat = b.reshape(table, (table.shape[0], size))
    return b.reshape(reduce_by_index(b, flat, 0, places, b.reshape(rows, (count, size)), "sum", True), table.shape)


@converts(aten.index_put.default)
def index_put(b: Builder, node: Any, x: Value, indices: Sequence[Value | None], values: Value,
              accumulate: bool = False) -> Value:
    if len(indices) == 1 and indices[0].dtype is torch.bool and not values.shape:
        mask = b.reshape(indices[0], indices[0].shape + (1,) * (x.rank - indices[0].rank))
        return b.select(b.expand(mask, x.shape), b.expand(b.cast(values, x.dtype), x.shape), x)
    indices = _to_integers(b, indices)
    if any(each is None for each in indices):
        raise Missing("aten.index_put with some dimensions not indexed")
    count = len(indices)
    flat = _flatten(b, indices, x.shape[:count])
    table = b.reshape(x, (math.prod(x.shape[:count]), *x.shape[count:]))
    updates = b.expand(b.cast(values, x.dtype), flat.shape + table.shape[1:])
    if accumulate:
        return b.reshape(_add_rows(b, table, flat, updates), x.shape)
    return b.reshape(b.op("scatter", [table, flat, updates], table.shape, x.dtype), x.shape)


@converts(aten.index_add.default)
def index_add(b: Builder, node: Any, x: Value, dim: int, indices: Value, source: Value, *, alpha: float = 1) -> Value:
    if not x.rank or not indices.rank:
        raise Missing("aten.index_add of scalars")
    dim %= x.rank
    order = [dim] + [each for each in range(x.rank) if each != dim]
    rows = b.transpose(source if alpha == 1 else b.binary("mul", source, alpha), order)
    added = _add_rows(b, b.transpose(x, order), indices, rows)
    return b.transpose(added, [order.index(each) for each in range(x.rank)])


@converts(aten.one_hot.default)
def one_hot(b: Builder, node: Any, indices: Value, classes: int = -1) -> Value:
    return b.op("one_hot", [b.cast(indices, torch.int64)], shape_of(node), dtype_of(node))
