"""Layer, group, batch and RMS norms, and softmax."""

from __future__ import annotations

import math
from typing import Any, Sequence

import torch

from ._builder import Builder, Value, compute_type, floating
from ._registry import converts, dtype_of

aten = torch.ops.aten


def _affine(b: Builder, weight: Value | None, bias: Value | None, size: int, dtype: torch.dtype) -> tuple[Value, Value]:
    """Returns weight and bias of a type, 1 and 0 by default."""
    weight = b.constant(1, dtype, (size,)) if weight is None else b.cast(b.reshape(weight, (size,)), dtype)
    bias = b.constant(0, dtype, (size,)) if bias is None else b.cast(b.reshape(bias, (size,)), dtype)
    return weight, bias


@converts(aten.native_layer_norm.default)
def layer_norm(b: Builder, node: Any, x: Value, shape: Sequence[int], weight: Value | None, bias: Value | None,
               epsilon: float) -> list[Value]:
    """Normalizes in the compute type, in which PyTorch's statistics are."""
    lead, size = x.shape[:x.rank - len(shape)], math.prod(shape)
    wide = compute_type(x.dtype)
    rows = b.reshape(b.cast(x, wide), lead + (size,))
    weight, bias = _affine(b, weight, bias, size, wide)
    y, mean, rstd = b.emit("layer_norm", [rows, weight, bias], [(rows.shape, wide), (lead, wide), (lead, wide)],
                           {"epsilon": floating(epsilon)})
    statistics = lead + (1,) * len(shape)
    return [b.cast(b.reshape(y, x.shape), dtype_of(node, 0)), b.reshape(mean, statistics), b.reshape(rstd, statistics)]


@converts(aten._fused_rms_norm.default)
def rms_norm(b: Builder, node: Any, x: Value, shape: Sequence[int], weight: Value | None,
             epsilon: float | None) -> list[Value]:
    lead, size = x.shape[:x.rank - len(shape)], math.prod(shape)
    wide = compute_type(x.dtype)
    epsilon = torch.finfo(wide).eps if epsilon is None else epsilon
    weight = _affine(b, weight, None, size, wide)[0]
    rows = b.reshape(b.cast(x, wide), lead + (size,))
    y, rstd = b.emit("rms_norm", [rows, weight], [(rows.shape, wide), (lead, wide)], {"epsilon": floating(epsilon)})
    return [b.cast(b.reshape(y, x.shape), dtype_of(node, 0)), b.reshape(rstd, lead + (1,) * len(shape))]


@converts(aten.native_group_norm.default)
def group_norm(b: Builder, node: Any, x: Value, weight: Value | None, bias: Value | None, samples: int, channels: int,
               positions: int, groups: int, epsilon: float) -> list[Value]:
    wide = compute_type(x.dtype)
    weight, bias = _affine(b, weight, bias, channels, wide)
    y, mean, rstd = b.emit("group_norm", [b.cast(x, wide), weight, bias],
                           [(x.shape, wide), ((samples, groups), wide), ((samples, groups), wide)],
                           {"groups": f"{groups} : i64", "epsilon": floating(epsilon)})
    return [b.cast(y, dtype_of(node, 0)), mean, rstd]


def _normalize_batch(b: Builder, x: Value, weight: Value | None, bias: Value | None,
                     epsilon: float) -> tuple[Value, Value, Value]:
    """The result in the compute type, the mean and the variance of the batch."""
    wide, channels = compute_type(x.dtype), x.shape[1]
    weight, bias = _affine(b, weight, bias, channels, wide)
    return tuple(b.emit("batch_norm", [b.cast(x, wide), weight, bias],
                        [(x.shape, wide), ((channels,), wide), ((channels,), wide)], {"epsilon": floating(epsilon)}))


@converts(aten._native_batch_norm_legit_functional.default)
def batch_norm(b: Builder, node: Any, x: Value, weight: Value | None, bias: Value | None, running_mean: Value,
               running_variance: Value, is_training: bool, momentum: float, epsilon: float) -> list[Value | None]:
    """Returns a batch norm and the next running statistics: unbiased, and no part of any gradient.

    With a momentum of 1 micro-batches pass no statistics on: they are those of the whole batch.
    """
    if not is_training:
        y = inference_norm(b, x, weight, bias, running_mean, running_variance, epsilon)
        return [y, None, None, running_mean, running_variance]
    y, mean, variance = _normalize_batch(b, x, weight, bias, epsilon)
    count = math.prod(x.shape) // x.shape[1]
    added = mean, variance
    if count > 1:
        attributes = {"count": f"{count} : i64", **({"deferred": "unit"} if momentum == 1 else {})}
        added = b.emit("batch_statistics", [mean, variance], [(mean.shape, mean.dtype)] * 2, attributes)

    def mix(old: Value, new: Value) -> Value:
        new = b.cast(new, old.dtype)
        if momentum == 1:
            return new
        return b.binary("add", b.binary("mul", old, 1 - momentum), b.binary("mul", new, momentum))

    rstd = b.unary("rsqrt", b.binary("add", variance, epsilon))
    return [b.cast(y, dtype_of(node, 0)), mean, rstd, mix(running_mean, added[0]), mix(running_variance, added[1])]


@converts(aten._native_batch_norm_legit.no_stats)
def batch_norm_without_statistics(b: Builder, node: Any, x: Value, weight: Value | None, bias: Value | None,
                                  is_training: bool, momentum: float, epsilon: float) -> list[Value]:
    y, mean, variance = _normalize_batch(b, x, weight, bias, epsilon)
    rstd = b.unary("rsqrt", b.binary("add", variance, epsilon))
    return [b.cast(y, dtype_of(node, 0)), mean, rstd]


def inference_norm(b: Builder, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value,
                   epsilon: float) -> Value:
    wide, channels = compute_type(x.dtype), x.shape[1]
    weight, bias = _affine(b, weight, bias, channels, wide)
    operands = [b.cast(each, wide) for each in (x, weight, bias, mean, variance)]
    return b.cast(b.op("batch_norm_inference", operands, x.shape, wide, {"epsilon": floating(epsilon)}), x.dtype)


@converts(aten._native_batch_norm_legit_no_training.default)
def batch_norm_inference(b: Builder, node: Any, x: Value, weight: Value | None, bias: Value | None, mean: Value,
                         variance: Value, momentum: float, epsilon: float) -> list[Value | None]:
    return [inference_norm(b, x, weight, bias, mean, variance, epsilon), None, None]


@converts(aten.native_batch_norm.default)
def native_batch_norm(b: Builder, node: Any, x: Value, weight: Value | None, bias: Value | None, mean: Value,
                      variance: Value, is_training: bool, momentum: float, epsilon: float) -> list[Any]:
    if is_training:
        return batch_norm_without_statistics(b, node, x, weight, bias, True, momentum, epsilon)
    return [inference_norm(b, x, weight, bias, mean, variance, epsilon), None, None]


def _softmax(b: Builder, node: Any, x: Value, dim: int, name: str) -> Value:
    if not x.rank:
        return b.binary("sub", x, x) if name == "log_softmax" else b.constant(1, x.dtype)
    rows, back = b.to_last(b.cast(x, dtype_of(node)), dim)
    return b.transpose(b.unary(name, rows), back)


@converts(aten._softmax.default, aten._safe_softmax.default, aten.softmax.int)
def softmax(b: Builder, node: Any, x: Value, dim: int, *arguments: Any, **keywords: Any) -> Value:
    return _softmax(b, node, x, dim, "softmax")


@converts(aten._log_softmax.default, aten.log_softmax.int)
def log_softmax(b: Builder, node: Any, x: Value, dim: int, *arguments: Any, **keywords: Any) -> Value:
    return _softmax(b, node, x, dim, "log_softmax")


