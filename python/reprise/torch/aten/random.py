"""Random draws: ours, of the distribution that PyTorch's have."""

from __future__ import annotations

from typing import Any

import torch

from ._builder import Builder, Missing, Value, floating
from ._registry import converts, dtype_of, shape_of

aten = torch.ops.aten
#: Without an operand, and with the operand before the seed.
NO_STATE = {"operandSegmentSizes": "array<i32: 0, 0, 0>"}


def dropout_of(b: Builder, x: Value, rate: float) -> Value:
    return b.unary("dropout", x, {"rate": floating(rate), "operandSegmentSizes": "array<i32: 1, 0, 0, 0>"})


@converts(aten.native_dropout.default)
def native_dropout(b: Builder, node: Any, x: Value, rate: float, is_training: Any) -> list[Value | None]:
    """The mask, which only PyTorch's backward reads, is left out."""
    return [x if is_training is False or rate == 0 else dropout_of(b, x, rate), None]


@converts(aten.dropout.default)
def dropout(b: Builder, node: Any, x: Value, rate: float, is_training: bool) -> Value:
    return x if not is_training or rate == 0 else dropout_of(b, x, rate)


def _bernoulli(b: Builder, node: Any, probability: float) -> Value:
    drawn = b.op("random_bernoulli", [], shape_of(node), torch.bool, {"probability": floating(probability), **NO_STATE})
    return b.cast(drawn, dtype_of(node))


@converts(aten.bernoulli.p)
def bernoulli(b: Builder, node: Any, x: Value, probability: float = 0.5, **keywords: Any) -> Value:
    return _bernoulli(b, node, probability)


@converts(aten.bernoulli.default)
def bernoulli_of(b: Builder, node: Any, x: Value, **keywords: Any) -> Value:
    uniform = b.op("random_uniform", [], x.shape, x.dtype, {"low": floating(0), "high": floating(1), **NO_STATE})
    return b.cast(b.compare("lt", uniform, x), dtype_of(node))


def _uniform(b: Builder, node: Any, low: float, high: float) -> Value:
    return b.op("random_uniform", [], shape_of(node), dtype_of(node),
                {"low": floating(low), "high": floating(high), **NO_STATE})


@converts(aten.rand.default, aten.rand_like.default)
def rand(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return _uniform(b, node, 0, 1)


@converts(aten.uniform.default)
def uniform(b: Builder, node: Any, x: Value, low: float = 0, high: float = 1, **keywords: Any) -> Value:
    return _uniform(b, node, low, high)


def _normal(b: Builder, node: Any, mean: float, deviation: float) -> Value:
    return b.op("random_normal", [], shape_of(node), dtype_of(node),
                {"mean": floating(mean), "std": floating(deviation), **NO_STATE})


@converts(aten.randn.default, aten.randn_like.default)
def randn(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return _normal(b, node, 0, 1)


@converts(aten.normal_functional.default)
def normal_like(b: Builder, node: Any, x: Value, mean: float = 0, std: float = 1, **keywords: Any) -> Value:
    return _normal(b, node, mean, std)


@converts(aten.normal.float_float)
def normal(b: Builder, node: Any, mean: float, std: float, *arguments: Any, **keywords: Any) -> Value:
    return _normal(b, node, mean, std)


@converts(aten.randint.default, aten.randint.low)
def randint(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    low, high = (0, arguments[0]) if node.target is aten.randint.default else arguments[:2]
    if high - low >= 1 << 32:
        raise Missing("aten.randint over more than 2^32 numbers")
    drawn = b.op("random_uniform_int", [], shape_of(node), torch.int64,
                 {"low": f"{low} : i64", "high": f"{high} : i64", **NO_STATE})
    return b.cast(drawn, dtype_of(node))
