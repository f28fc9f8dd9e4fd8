"""Expresses elementary functions that the dialect lacks by those that it has."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch

from .._seam.versions import SHARES_TIES
from ._builder import Builder, Value, compute_type
from ._registry import converts, dtype_of
from .bounds import share

aten = torch.ops.aten


def _function(overload: Any) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """A function of floats, computed in the type that 16 bits are computed in."""
    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        @converts(overload)
        def convert(b: Builder, node: Any, *operands: Any) -> Value:
            dtype = dtype_of(node)
            return b.cast(function(b, *(b.cast(each, compute_type(dtype)) for each in operands)), dtype)

        return function
    return register


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    total: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        total = b.binary("add", b.binary("mul", x, total), coefficient)
    return total


@_function(aten.exp2.default)
def exp2(b: Builder, x: Value) -> Value:
    return b.binary("pow", 2.0, x)


def _logarithm(overload: Any, base: float) -> None:
    @_function(overload)
    def logarithm(b: Builder, x: Value) -> Value:
        return b.binary("mul", b.unary("log", x), 1 / math.log(base))


_logarithm(aten.log2.default, 2)
_logarithm(aten.log10.default, 10)


@_function(aten.erfc.default)
def erfc(b: Builder, x: Value) -> Value:
    return b.binary("sub", 1.0, b.unary("erf", x))


@_function(aten.hypot.default)
def hypot(b: Builder, x: Value, y: Value) -> Value:
    return b.root(b.binary("add", b.binary("mul", x, x), b.binary("mul", y, y)))


@_function(aten.sinc.default)
def sinc(b: Builder, x: Value) -> Value:
    """Returns sinc: 1 at 0, with a derivative of 0 there."""
    is_zero = b.compare("eq", x, 0.0)
    angle = b.binary("mul", b.select(is_zero, b.constant(1, x.dtype), x), math.pi)
    return b.select(is_zero, b.constant(1, x.dtype), b.binary("div", b.unary("sin", angle), angle))


@_function(aten.tan.default)
def tan(b: Builder, x: Value) -> Value:
    return b.binary("div", b.unary("sin", x), b.unary("cos", x))


def _near_zero(b: Builder, x: Value, bound: float, near: Sequence[float], far: Callable[[Value], Value]) -> Value:
    """Returns a function that is 0 at 0: near 0 by a series without a constant term. The operand that is not chosen has
    a finite derivative."""
    is_near = b.compare("lt", b.unary("abs", x), bound)
    zero = b.constant(0, x.dtype)
    small, large = b.select(is_near, x, zero), b.select(is_near, zero, x)
    return b.select(is_near, b.binary("mul", small, _polynomial(b, small, near)), far(large))


@_function(aten.log1p.default)
def log1p(b: Builder, x: Value) -> Value:
    terms = 16 if x.dtype is torch.float64 else 8
    series = [(1 if k % 2 else -1) / k for k in range(terms, 0, -1)]
    return _near_zero(b, x, 0.1, series, lambda far: b.unary("log", b.binary("add", far, 1.0)))


@_function(aten.expm1.default)
def expm1(b: Builder, x: Value) -> Value:
    terms = 14 if x.dtype is torch.float64 else 8
    series = [1 / math.factorial(k) for k in range(terms, 0, -1)]
    return _near_zero(b, x, 0.3, series, lambda far: b.binary("sub", b.unary("exp", far), 1.0))


@converts(aten.elu.default)
def elu(b: Builder, node: Any, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    below = expm1(b, b.binary("mul", b.binary("minimum", x, 0.0), input_scale))
    return b.select(b.compare("gt", x, 0.0), b.binary("mul", x, scale), b.binary("mul", below, alpha * scale))


@_function(aten.sinh.default)
def sinh(b: Builder, x: Value) -> Value:
    """Returns a function of e = exp(|x|) - 1: small ones do not cancel."""
    sign = sign_or_one(b, x)
    e = expm1(b, b.binary("mul", x, sign))
    return b.binary("mul", b.binary("add", e, b.binary("div", e, b.binary("add", e, 1.0))), b.binary("mul", sign, 0.5))


@_function(aten.cosh.default)
def cosh(b: Builder, x: Value) -> Value:
    return b.binary("mul", b.binary("add", b.unary("exp", x), b.unary("exp", b.unary("neg", x))), 0.5)


def sign_or_one(b: Builder, x: Value) -> Value:
    """-1 or 1, with no derivative."""
    return b.select(b.compare("lt", x, 0.0), b.constant(-1, x.dtype), b.constant(1, x.dtype))


@_function(aten.asinh.default)
def asinh(b: Builder, x: Value) -> Value:
    size = b.binary("mul", x, sign_or_one(b, x))
    square = b.binary("mul", size, size)
    above = b.binary("add", b.unary("sqrt", b.binary("add", square, 1.0)), 1.0)
    return b.binary("mul", log1p(b, b.binary("add", size, b.binary("div", square, above))), sign_or_one(b, x))


@_function(aten.acosh.default)
def acosh(b: Builder, x: Value) -> Value:
    below = b.binary("mul", b.binary("sub", x, 1.0), b.binary("add", x, 1.0))
    return b.unary("log", b.binary("add", x, b.unary("sqrt", below)))


@_function(aten.atanh.default)
def atanh(b: Builder, x: Value) -> Value:
    quotient = b.binary("div", b.binary("mul", x, 2.0), b.binary("sub", 1.0, x))
    return b.binary("mul", log1p(b, quotient), 0.5)


def _near_arc(b: Builder, x: Value) -> Value:
    """The arctangent of a number up to tan(π/8) in f32, up to 0.66 in f64: S. Moshier, Cephes (1989), atanf and atan."""
    z = b.binary("mul", x, x)
    if x.dtype is torch.float32:
        series = _polynomial(b, z, [8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1])
    else:
        series = b.binary("div", _polynomial(b, z, [
            -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
            -1.228866684490136173410e2, -6.485021904942025371773e1]), _polynomial(b, z, [
                1, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                4.853903996359136964868e2, 1.945506571482613964425e2]))
    return b.binary("add", b.binary("mul", b.binary("mul", series, z), x), x)


def _arc(b: Builder, y: Value, x: Value) -> Value:
    """Returns the angle of (x, y), which is 0 with derivatives of 0 at the origin. One quotient serves all octants, so
    that none that is not chosen has a derivative."""
    sign_y, sign_x = sign_or_one(b, y), sign_or_one(b, x)
    tall, wide = b.binary("mul", y, sign_y), b.binary("mul", x, sign_x)
    is_steep = b.compare("gt", tall, wide)
    low, high = b.select(is_steep, wide, tall), b.select(is_steep, tall, wide)
    is_origin = b.compare("eq", high, 0.0)
    low, high = b.select(is_origin, b.constant(0, x.dtype), low), b.select(is_origin, b.constant(1, x.dtype), high)
    is_far = b.compare("gt", low, b.binary("mul", high, math.sqrt(2) - 1))
    quotient = b.binary("div", b.select(is_far, b.binary("sub", low, high), low),
                        b.select(is_far, b.binary("add", low, high), high))
    offset = b.select(is_far, b.constant(math.pi / 4, x.dtype), b.constant(0, x.dtype))
    angle = b.binary("add", _near_arc(b, quotient), offset)
    angle = b.select(is_steep, b.binary("sub", math.pi / 2, angle), angle)
    angle = b.select(b.compare("lt", sign_x, 0.0), b.binary("sub", math.pi, angle), angle)
    return b.binary("mul", angle, sign_y)


_function(aten.atan2.default)(_arc)


@_function(aten.atan.default)
def atan(b: Builder, x: Value) -> Value:
    return _arc(b, x, b.constant(1, x.dtype, x.shape))


def _chord(b: Builder, x: Value) -> Value:
    return b.unary("sqrt", b.binary("mul", b.binary("sub", 1.0, x), b.binary("add", x, 1.0)))


@_function(aten.asin.default)
def asin(b: Builder, x: Value) -> Value:
    return _arc(b, x, _chord(b, x))


@_function(aten.acos.default)
def acos(b: Builder, x: Value) -> Value:
    return _arc(b, _chord(b, x), x)


def _is_odd(b: Builder, whole: Value) -> Value:
    pairs = b.floor(b.binary("mul", whole, 0.5))
    return b.compare("ne", b.binary("mul", pairs, 2.0), whole)


@_function(aten.round.default)
def round_to_even(b: Builder, x: Value) -> Value:
    low = b.floor(x)
    part = b.binary("sub", b.stop(x), low)
    is_tie = b.binary("and", b.compare("eq", part, 0.5), _is_odd(b, low))
    is_up = b.binary("or", b.compare("gt", part, 0.5), is_tie)
    return b.binary("add", low, b.cast(is_up, x.dtype))


@_function(aten.trunc.default)
def truncate(b: Builder, x: Value) -> Value:
    up = b.unary("neg", b.floor(b.unary("neg", x)))
    return b.select(b.compare("lt", x, 0.0), up, b.floor(x))


@_function(aten.frac.default)
def fraction(b: Builder, x: Value) -> Value:
    return b.binary("sub", x, truncate(b, x))


@converts(aten.fmod.Tensor, aten.fmod.Scalar)
def fmod(b: Builder, node: Any, x: Any, y: Any) -> Value:
    """Returns the remainder of a quotient that is rounded towards zero."""
    dtype = dtype_of(node)
    if not dtype.is_floating_point:
        return b.binary("rem", x, y, dtype)
    wide = compute_type(dtype)
    x, y = b.value(x, wide), b.value(y, wide)
    return b.cast(b.binary("sub", x, b.binary("mul", truncate(b, b.binary("div", x, y)), y)), dtype)


def _number(b: Builder, predicate: str, x: Value, y: Value) -> Value:
    """Returns the number that the predicate chooses, or the one that is no NaN. Before PyTorch 2.14 the first of equal
    numbers gets the cotangent."""
    chosen = b.select(b.binary("or", b.compare(predicate, x, y), b.compare("ne", y, y)), x, y)
    return share(b, x, y, chosen) if SHARES_TIES else chosen


@_function(aten.fmax.default)
def fmax(b: Builder, x: Value, y: Value) -> Value:
    """Returns the larger number; a NaN loses."""
    return _number(b, "ge", x, y)


@_function(aten.fmin.default)
def fmin(b: Builder, x: Value, y: Value) -> Value:
    return _number(b, "le", x, y)
