"""Views, permutations, parts and joins."""

from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import torch

from ._builder import Builder, Missing, Value
from ._registry import converts, dtype_of, shape_of

aten = torch.ops.aten


@converts(operator.getitem)
def item(b: Builder, node: Any, parts: Sequence[Any], number: int) -> Any:
    """Returns one of several results."""
    return parts[number]


@converts(aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.unsqueeze.default,
          aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims)
def reshape(b: Builder, node: Any, x: Value, *arguments: Any) -> Value:
    return b.reshape(x, shape_of(node))


@converts(aten.t.default)
def t(b: Builder, node: Any, x: Value) -> Value:
    return b.transpose(x, list(range(x.rank))[::-1])


@converts(aten.transpose.int)
def transpose(b: Builder, node: Any, x: Value, first: int, second: int) -> Value:
    order = list(range(x.rank))
    if order:
        order[first], order[second] = order[second], order[first]
    return b.transpose(x, order)


@converts(aten.permute.default)
def permute(b: Builder, node: Any, x: Value, order: Sequence[int]) -> Value:
    return b.transpose(x, [dim % x.rank for dim in order])


@converts(aten.expand.default)
def expand(b: Builder, node: Any, x: Value, *arguments: Any, **keywords: Any) -> Value:
    return b.expand(x, shape_of(node))


@converts(aten.repeat.default)
def repeat(b: Builder, node: Any, x: Value, counts: Sequence[int]) -> Value:
    x = b.reshape(x, (1,) * (len(counts) - x.rank) + x.shape)
    parts = b.reshape(x, [size for dim in x.shape for size in (1, dim)])
    return b.reshape(b.expand(parts, [n for dim, count in zip(x.shape, counts) for n in (count, dim)]), shape_of(node))


@converts(aten.slice.Tensor)
def slice_dim(b: Builder, node: Any, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim %= x.rank
    return b.slice(x, dim, *slice(start, end, step).indices(x.shape[dim]))


@converts(aten.select.int)
def select(b: Builder, node: Any, x: Value, dim: int, index: int) -> Value:
    dim %= x.rank
    index %= x.shape[dim]
    return b.reshape(b.slice(x, dim, index, index + 1), shape_of(node))


@converts(aten.split.Tensor, aten.unsafe_split.Tensor, aten.split_with_sizes.default, aten.split_copy.Tensor,
          aten.split_with_sizes_copy.default)
def split(b: Builder, node: Any, x: Value, sizes: Any, dim: int = 0) -> list[Value]:
    dim %= x.rank
    parts, at = [], 0
    for part in node.meta["val"]:
        parts.append(b.slice(x, dim, at, at + int(part.shape[dim])))
        at += int(part.shape[dim])
    return parts


@converts(aten.unbind.int, aten.unbind_copy.int)
def unbind(b: Builder, node: Any, x: Value, dim: int = 0) -> list[Value]:
    dim %= x.rank
    return [b.reshape(b.slice(x, dim, index, index + 1), part.shape) for index, part in enumerate(node.meta["val"])]


@converts(aten.cat.default)
def concatenate(b: Builder, node: Any, parts: Sequence[Value], dim: int = 0) -> Value:
    parts = [b.cast(part, dtype_of(node)) for part in parts if 0 not in part.shape]
    return b.concatenate(parts, dim % parts[0].rank)


@converts(aten.stack.default)
def stack(b: Builder, node: Any, parts: Sequence[Value], dim: int = 0) -> Value:
    dim %= len(shape_of(node))
    return b.concatenate([b.reshape(b.cast(part, dtype_of(node)), part.shape[:dim] + (1,) + part.shape[dim:])
                          for part in parts], dim)


@converts(aten.roll.default)
def roll(b: Builder, node: Any, x: Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> Value:
    shape = x.shape
    if not dims:
        x, dims = b.reshape(x, (math.prod(shape),)), [0]
    for shift, dim in zip(shifts, dims):
        size = x.shape[dim]
        if shift % size:
            parts = [b.slice(x, dim, size - shift % size, size), b.slice(x, dim, 0, size - shift % size)]
            x = b.concatenate(parts, dim % x.rank)
    return b.reshape(x, shape)


@converts(aten.flip.default)
def flip(b: Builder, node: Any, x: Value, dims: Sequence[int]) -> Value:
    for dim in dims:
        size = x.shape[dim]
        x = b.take(x, dim, b.binary("sub", size - 1, b.iota(size)))
    return x


def put(b: Builder, x: Value, source: Value, dim: int, start: int, stop: int) -> Value:
    """Returns x with source at [start, stop) of a dimension."""
    before = [b.slice(x, dim, 0, start)] if start else []
    behind = [b.slice(x, dim, stop, x.shape[dim])] if stop < x.shape[dim] else []
    return b.concatenate(before + [b.cast(source, x.dtype)] + behind, dim)


@converts(aten.slice_scatter.default)
def slice_scatter(b: Builder, node: Any, x: Value, source: Value, dim: int = 0, start: Any = None, end: Any = None,
                  step: int = 1) -> Value:
    dim %= x.rank
    start, end, step = slice(start, end, step).indices(x.shape[dim])
    if start >= end:
        return x
    if step == 1:
        return put(b, x, source, dim, start, end)
    for number, index in enumerate(range(start, end, step)):
        x = put(b, x, b.slice(source, dim, number, number + 1), dim, index, index + 1)
    return x


@converts(aten.select_scatter.default)
def select_scatter(b: Builder, node: Any, x: Value, source: Value, dim: int, index: int) -> Value:
    dim %= x.rank
    index %= x.shape[dim]
    return put(b, x, b.reshape(source, x.shape[:dim] + (1,) + x.shape[dim + 1:]), dim, index, index + 1)


@converts(aten.constant_pad_nd.default)
def pad(b: Builder, node: Any, x: Value, pad: Sequence[int], value: Any = 0) -> Value:
    """Negative padding cuts."""
    low, high = [0] * x.rank, [0] * x.rank
    for number in range(len(pad) // 2):
        low[x.rank - 1 - number], high[x.rank - 1 - number] = pad[2 * number], pad[2 * number + 1]
    for dim in range(x.rank):
        x = b.slice(x, dim, max(0, -low[dim]), x.shape[dim] - max(0, -high[dim]))
    return b.pad(x, [max(0, n) for n in low], [max(0, n) for n in high], value)


@converts(aten.as_strided.default)
def as_strided(b: Builder, node: Any, x: Value, size: Sequence[int], stride: Sequence[int], offset: Any = 0) -> Value:
    dense = torch.empty(list(size), device="meta").stride()
    is_dense = all(a == c for a, c, n in zip(dense, stride, size) if n > 1)
    if math.prod(size) == math.prod(x.shape) and is_dense and not offset:
        return b.reshape(x, size)
    raise Missing("aten.as_strided that is not a reshape")


@converts(aten.unfold.default)
def unfold(b: Builder, node: Any, x: Value, dim: int, size: int, step: int) -> Value:
    dim %= x.rank
    starts = range(0, x.shape[dim] - size + 1, step)
    taken = b.take(x, dim, [[start + k for k in range(size)] for start in starts])
    order = [each for each in range(taken.rank) if each != dim + 1] + [dim + 1]
    return b.transpose(taken, order)


@converts(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(b: Builder, node: Any, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    """Returns the diagonal: of a row-major matrix, every element at a distance of a row plus one."""
    first, second = first % x.rank, second % x.rank
    rest = [dim for dim in range(x.rank) if dim not in (first, second)]
    rows, columns, count = x.shape[first], x.shape[second], shape_of(node)[-1]
    flat = b.reshape(b.transpose(x, [*rest, first, second]), [x.shape[dim] for dim in rest] + [rows * columns])
    start = offset if offset >= 0 else -offset * columns
    return b.slice(flat, len(rest), start, start + (count - 1) * (columns + 1) + 1, columns + 1)


@converts(aten.diagonal_scatter.default)
def diagonal_scatter(b: Builder, node: Any, x: Value, source: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    """Returns a tensor whose diagonal has the elements of ``source``, by rows or, below the main one, by columns."""
    ends = [first % x.rank, second % x.rank]
    order = [dim for dim in range(x.rank) if dim not in ends] + ends
    matrices = b.transpose(x, order)
    rows, columns = matrices.shape[-2:]
    row = b.reshape(b.iota(rows), (rows, 1))
    is_on = b.compare("eq", b.iota(columns), b.binary("add", row, offset))
    size = rows if offset >= 0 else columns
    spread = b.pad(source, [0] * source.rank, [0] * (source.rank - 1) + [size - source.shape[-1]])
    spread = b.reshape(spread, (*source.shape[:-1], size, 1) if offset >= 0 else (*source.shape[:-1], 1, size))
    written = b.select(is_on, b.cast(spread, x.dtype), matrices)
    return b.transpose(written, [order.index(dim) for dim in range(x.rank)])
