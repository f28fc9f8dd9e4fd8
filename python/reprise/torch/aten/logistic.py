"""Converts functions of the logistic curve, with their derivatives at 0 and accurate tails."""

from __future__ import annotations

from typing import Any

from ._builder import Builder, Value, compute_type
from ._registry import converts
from .functions import aten, log1p, sign_or_one
from .losses import reduced


def _softplus_of_minus_size(b: Builder, x: Value) -> Value:
    """Returns log(1 + exp(-|x|)); at 0 the derivative of |x| is 1."""
    return log1p(b, b.unary("exp", b.unary("neg", b.binary("mul", x, sign_or_one(b, x)))))


def _negative_part(b: Builder, x: Value) -> Value:
    """Returns the minimum of x and 0, whose derivative at 0 is 0."""
    return b.select(b.compare("lt", x, 0.0), x, b.constant(0, x.dtype))


def _log_sigmoid(b: Builder, x: Value) -> Value:
    wide = b.cast(x, compute_type(x.dtype))
    return b.cast(b.binary("sub", _negative_part(b, wide), _softplus_of_minus_size(b, wide)), x.dtype)


@converts(aten.log_sigmoid_forward.default)
def log_sigmoid(b: Builder, node: Any, x: Value) -> list[Value | None]:
    return [_log_sigmoid(b, x), None]


@converts(aten.softplus.default)
def softplus(b: Builder, node: Any, x: Value, beta: float = 1, threshold: float = 20) -> Value:
    wide = b.cast(x, compute_type(x.dtype))
    scaled = wide if beta == 1 else b.binary("mul", wide, beta)
    curved = log1p(b, b.unary("exp", b.binary("minimum", scaled, float(threshold))))
    return b.cast(b.select(b.compare("gt", scaled, threshold), wide, curved if beta == 1 else b.binary("div", curved, beta)), x.dtype)


@converts(aten.binary_cross_entropy_with_logits.default)
def bce_with_logits(b: Builder, node: Any, x: Value, target: Value, weight: Value | None = None,
                    positive: Value | None = None, reduction: int = 1) -> Value:
    """(1 - target) x - share · log(sigmoid(x)), where the share is 1, or larger where the target is 1."""
    each = b.unary("neg", _log_sigmoid(b, x))
    if positive is not None:
        each = b.binary("mul", each, b.binary("add", b.binary("mul", b.binary("sub", positive, 1.0), target), 1.0))
    each = b.binary("add", b.binary("mul", b.binary("sub", 1.0, target), x), each)
    return reduced(b, each if weight is None else b.binary("mul", each, weight), reduction)


@converts(aten.binary_cross_entropy.default)
def bce(b: Builder, node: Any, x: Value, target: Value, weight: Value | None = None, reduction: int = 1) -> Value:
    """Logarithms are at least -100. At 0 and 1 PyTorch's derivative is (x - target) / 1e-12."""
    def log(p: Value) -> Value:
        return b.binary("maximum", b.unary("log", p), -100.0)

    def at(end: float, loss: Value) -> Value:
        slope = b.binary("mul", b.binary("sub", end, target), 1e12)
        return b.binary("add", b.binary("mul", loss, 100.0), b.binary("mul", b.binary("sub", x, end), slope))
    no = b.binary("sub", 1.0, target)
    is_zero, is_one = b.compare("eq", x, 0.0), b.compare("eq", x, 1.0)
    inner = b.select(b.binary("or", is_zero, is_one), b.constant(0.5, x.dtype), x)
    each = b.unary("neg", b.binary("add", b.binary("mul", target, log(inner)), b.binary("mul", no, log(b.binary("sub", 1.0, inner)))))
    each = b.select(is_zero, at(0.0, target), b.select(is_one, at(1.0, no), each))
    return reduced(b, each if weight is None else b.binary("mul", each, weight), reduction)
