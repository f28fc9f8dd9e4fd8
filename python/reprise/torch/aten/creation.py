"""Converts ops that create tensors, and changes of type."""

from __future__ import annotations

from typing import Any

import torch

from ._builder import Builder, Value
from ._registry import converts, dtype_of, shape_of

aten = torch.ops.aten


@converts(aten._to_copy.default, torch.ops.prims.convert_element_type.default)
def to_copy(b: Builder, node: Any, x: Value, *dtype: Any, **keywords: Any) -> Value:
    return b.cast(x, dtype_of(node))


@converts(aten.clone.default, aten.alias.default, aten.lift_fresh_copy.default, aten.contiguous.default)
def same(b: Builder, node: Any, x: Value, **keywords: Any) -> Value:
    return x


@converts(aten.detach.default, torch.ops.reprise.stop_gradient.default)
def stop_gradient(b: Builder, node: Any, x: Value) -> Value:
    return b.freeze(x)


@converts(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return b.constant(1, dtype_of(node), shape_of(node))


@converts(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default, aten.empty_like.default,
          aten.new_empty.default, aten.empty.memory_format)
def zeros(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return b.constant(0, dtype_of(node), shape_of(node))


@converts(aten.full.default, aten.full_like.default)
def full(b: Builder, node: Any, shape: Any, value: Any, **keywords: Any) -> Value:
    return b.constant(value, dtype_of(node), shape_of(node))


@converts(aten.new_full.default)
def new_full(b: Builder, node: Any, x: Value, shape: Any, value: Any, **keywords: Any) -> Value:
    return b.constant(value, dtype_of(node), shape_of(node))


@converts(aten.scalar_tensor.default)
def scalar(b: Builder, node: Any, value: Any, **keywords: Any) -> Value:
    return b.constant(value, dtype_of(node))


@converts(aten.arange.default, aten.arange.start, aten.arange.start_step)
def arange(b: Builder, node: Any, *bounds: Any, **keywords: Any) -> Value:
    start, step = (0, 1) if len(bounds) == 1 else (bounds[0], bounds[2] if len(bounds) > 2 else 1)
    value = b.iota(shape_of(node)[0], dtype_of(node))
    value = value if step == 1 else b.binary("mul", value, step, value.dtype)
    return value if start == 0 else b.binary("add", value, start, value.dtype)


@converts(aten.fill.Tensor, aten.fill.Scalar)
def fill(b: Builder, node: Any, x: Value, value: Any) -> Value:
    return b.expand(b.value(value, x.dtype), x.shape)


@converts(aten.copy.default)
def copy(b: Builder, node: Any, x: Value, source: Value, *non_blocking: Any) -> Value:
    return b.expand(b.cast(source, x.dtype), x.shape)


def _triangle(b: Builder, x: Value, predicate: str, diagonal: int) -> Value:
    rows, columns = x.shape[-2:]
    row = b.reshape(b.iota(rows), (rows, 1))
    kept = b.compare(predicate, b.iota(columns), b.binary("add", row, diagonal))
    return b.select(kept, x, b.constant(0, x.dtype))


@converts(aten.tril.default)
def tril(b: Builder, node: Any, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, x, "le", diagonal)


@converts(aten.triu.default)
def triu(b: Builder, node: Any, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, x, "ge", diagonal)


@converts(aten._assert_async.msg)
def assertion(b: Builder, node: Any, *arguments: Any) -> None:
    """Ignores PyTorch's checks of values, such as the classes of one_hot."""


@converts(aten.eye.default, aten.eye.m)
def eye(b: Builder, node: Any, *sizes: Any, **keywords: Any) -> Value:
    rows, columns = shape_of(node)
    return b.cast(b.compare("eq", b.reshape(b.iota(rows), (rows, 1)), b.iota(columns)), dtype_of(node))
