"""Limits and choices of the larger value, with PyTorch's derivatives at the limits and where values are equal."""

from __future__ import annotations

import math
from typing import Any

import torch

from .._seam.versions import SHARES_TIES
from ._builder import Builder, Value
from ._registry import converts, dtype_of

aten = torch.ops.aten


def _between(b: Builder, x: Value, low: float, high: float, below: Any, inside: Value, above: Any) -> Value:
    """Returns ``inside`` between the limits, and ``above`` and ``below`` at the limits and beyond."""
    upper = b.select(b.compare("ge", x, high), b.value(above, x.dtype), inside)
    return b.select(b.compare("le", x, low), b.value(below, x.dtype), upper)


@converts(aten.hardtanh.default)
def hard_tanh(b: Builder, node: Any, x: Value, low: float = -1.0, high: float = 1.0) -> Value:
    if not x.dtype.is_floating_point:
        return _limit(b, x, low, high)
    return _between(b, x, low, high, low, x, high)


@converts(aten.hardsigmoid.default)
def hard_sigmoid(b: Builder, node: Any, x: Value) -> Value:
    return _between(b, x, -3.0, 3.0, 0.0, b.binary("div", b.binary("add", x, 3.0), 6.0), 1.0)


@converts(aten.hardswish.default)
def hard_swish(b: Builder, node: Any, x: Value) -> Value:
    return _between(b, x, -3.0, 3.0, 0.0, b.binary("div", b.binary("mul", x, b.binary("add", x, 3.0)), 6.0), x)


def share(b: Builder, x: Value, y: Value, chosen: Value) -> Value:
    """Returns the chosen one of two values. Equal values share the cotangent."""
    if not chosen.active:
        return chosen
    mean = b.binary("add", b.binary("mul", x, 0.5), b.binary("mul", y, 0.5))
    return b.select(b.compare("eq", x, y), mean, chosen)


def _chosen(name: str) -> None:
    @converts(getattr(aten, name).default)
    def convert(b: Builder, node: Any, x: Value, y: Value) -> Value:
        dtype = dtype_of(node)
        x, y = b.cast(x, dtype), b.cast(y, dtype)
        return share(b, x, y, b.binary(name, x, y))


for _name in ("minimum", "maximum"):
    _chosen(_name)


def _limit_once(b: Builder, name: str, x: Value, limit: Any) -> Value:
    """Returns a value up to one limit. Since PyTorch 2.14 a number gets all of the cotangent at the limit, and a tensor
    half of it; before, it gets none."""
    if limit is None:
        return x
    if not SHARES_TIES or not x.dtype.is_floating_point:
        return b.binary(name, x, limit, x.dtype)
    if isinstance(limit, (int, float)):
        return b.select(b.compare("le" if name == "maximum" else "ge", x, limit), b.value(limit, x.dtype), x)
    limit = b.cast(limit, x.dtype)
    return share(b, x, limit, b.binary(name, x, limit))


def _limit(b: Builder, x: Value, low: Any, high: Any) -> Value:
    return _limit_once(b, "minimum", _limit_once(b, "maximum", x, low), high)


@converts(aten.clamp.default, aten.clamp.Tensor)
def clamp(b: Builder, node: Any, x: Value, low: Any = None, high: Any = None) -> Value:
    if x.dtype.is_floating_point and all(isinstance(each, (int, float, type(None))) for each in (low, high)):
        ends = -math.inf if low is None else low, math.inf if high is None else high
        if ends[0] <= ends[1] and not (SHARES_TIES and x.active):
            return b.clamp(x, *ends)
    return _limit(b, b.cast(x, dtype_of(node)), low, high)


@converts(aten.clamp_min.default)
def clamp_min(b: Builder, node: Any, x: Value, low: Any) -> Value:
    return clamp(b, node, x, low)


@converts(aten.clamp_max.default)
def clamp_max(b: Builder, node: Any, x: Value, high: Any) -> Value:
    return clamp(b, node, x, None, high)
