"""Losses."""

from __future__ import annotations

from typing import Any

import torch

from ._builder import Builder, Value
from ._registry import converts

aten = torch.ops.aten


def reduced(b: Builder, each: Value, reduction: int) -> Value:
    return each if reduction == 0 else b.reduce("mean" if reduction == 1 else "sum", each, None)


@converts(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def nll_loss(b: Builder, node: Any, scores: Value, target: Value, weight: Value | None, reduction: int,
             ignored: int) -> list[Value]:
    """Converts a loss; behind a log_softmax over the classes it is one cross_entropy of the dialect."""
    source = node.args[0]
    classes = 1 if scores.rank > 1 else 0
    is_softmax = source.target is aten._log_softmax.default and source.args[1] % scores.rank == classes
    rows, _ = b.to_last(b.values[source.args[0]] if is_softmax else scores, classes)
    valid = b.compare("ne", target, ignored)
    if is_softmax:
        each = b.op("cross_entropy", [b.cast(rows, scores.dtype), target], target.shape, scores.dtype)
    else:
        safe = b.reshape(b.select(valid, target, b.constant(0, target.dtype)), target.shape + (1,))
        each = b.unary("neg", b.reshape(b.op("take_along", [rows, safe], safe.shape, rows.dtype), target.shape))
    share = b.cast(valid, each.dtype)
    if weight is not None:
        share = b.binary("mul", share, b.gather(weight, target))
        each = b.binary("mul", each, b.gather(weight, target))
    each = b.select(valid, each, b.constant(0, each.dtype))
    count = b.reduce("sum", share, None)
    if reduction == 0:
        return [each, b.constant(0, each.dtype)]
    total = b.reduce("sum", each, None)
    return [b.binary("div", total, count) if reduction == 1 else total, count]


@converts(aten.mse_loss.default)
def mse_loss(b: Builder, node: Any, x: Value, y: Value, reduction: int = 1) -> Value:
    away = b.binary("sub", x, y)
    return reduced(b, b.binary("mul", away, away), reduction)


@converts(aten.smooth_l1_loss.default)
def smooth_l1_loss(b: Builder, node: Any, x: Value, y: Value, reduction: int = 1, beta: float = 1.0) -> Value:
    away = b.unary("abs", b.binary("sub", x, y))
    if beta == 0:
        return reduced(b, away, reduction)
    near = b.binary("div", b.binary("mul", b.binary("mul", away, away), 0.5), beta)
    return reduced(b, b.select(b.compare("lt", away, beta), near, b.binary("sub", away, 0.5 * beta)), reduction)


@converts(aten.huber_loss.default)
def huber_loss(b: Builder, node: Any, x: Value, y: Value, reduction: int = 1, delta: float = 1.0) -> Value:
    away = b.unary("abs", b.binary("sub", x, y))
    near = b.binary("mul", b.binary("mul", away, away), 0.5)
    far = b.binary("mul", b.binary("sub", away, 0.5 * delta), delta)
    return reduced(b, b.select(b.compare("lt", away, delta), near, far), reduction)
