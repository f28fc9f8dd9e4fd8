"""Arithmetic, comparisons and functions of single elements."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._builder import Builder, Missing, Value
from ._registry import converts, dtype_of

aten = torch.ops.aten


def _arithmetic(name: str) -> None:
    overloads = getattr(aten, name)

    @converts(overloads.Tensor, overloads.Scalar)
    def convert(b: Builder, node: Any, x: Any, y: Any, alpha: Any = 1) -> Value:
        dtype = dtype_of(node)
        return b.binary(name, x, y if alpha == 1 else b.binary("mul", b.value(y, dtype), alpha, dtype), dtype)


for _name in ("add", "sub"):
    _arithmetic(_name)


@converts(aten.mul.Tensor, aten.mul.Scalar)
def multiply(b: Builder, node: Any, x: Any, y: Any) -> Value:
    dtype = dtype_of(node)
    return b.binary("and", x, y, dtype) if dtype is torch.bool else b.binary("mul", x, y, dtype)


@converts(aten.rsub.Scalar, aten.rsub.Tensor)
def subtract_from(b: Builder, node: Any, x: Any, y: Any, alpha: Any = 1) -> Value:
    dtype = dtype_of(node)
    return b.binary("sub", y, x if alpha == 1 else b.binary("mul", x, alpha, dtype), dtype)


@converts(aten.div.Tensor, aten.div.Scalar)
def divide(b: Builder, node: Any, x: Any, y: Any) -> Value:
    return b.binary("div", x, y, dtype_of(node))


def floor_quotient(b: Builder, x: Any, y: Any, dtype: torch.dtype) -> Value:
    """Rounded down; the dialect's division of integers truncates."""
    if dtype.is_floating_point:
        return b.floor(b.binary("div", x, y, dtype))
    x, y = b.value(x, dtype), b.value(y, dtype)
    quotient, rest = b.binary("div", x, y), b.binary("rem", x, y)
    is_inexact = b.compare("ne", rest, 0)
    have_other_signs = b.binary("xor", b.compare("lt", rest, 0), b.compare("lt", y, 0))
    return b.binary("sub", quotient, b.cast(b.binary("and", is_inexact, have_other_signs), dtype))


@converts(aten.floor_divide.default, aten.floor_divide.Scalar)
def floor_divide(b: Builder, node: Any, x: Any, y: Any) -> Value:
    return floor_quotient(b, x, y, dtype_of(node))


@converts(aten.div.Tensor_mode, aten.div.Scalar_mode)
def divide_rounding(b: Builder, node: Any, x: Any, y: Any, rounding_mode: str | None = None) -> Value:
    dtype = dtype_of(node)
    if rounding_mode == "floor":
        return floor_quotient(b, x, y, dtype)
    if rounding_mode is None or not dtype.is_floating_point:
        return b.binary("div", x, y, dtype)
    quotient = b.binary("div", x, y, dtype)
    negative = b.unary("neg", b.floor(b.unary("neg", quotient)))
    return b.select(b.compare("lt", quotient, 0.0), negative, b.floor(quotient))


@converts(aten.remainder.Scalar, aten.remainder.Tensor)
def remainder(b: Builder, node: Any, x: Any, y: Any) -> Value:
    dtype = dtype_of(node)
    x, y = b.value(x, dtype), b.value(y, dtype)
    return b.binary("sub", x, b.binary("mul", floor_quotient(b, x, y, dtype), y))


def _function(name: str) -> None:
    @converts(getattr(aten, name).default)
    def convert(b: Builder, node: Any, x: Value) -> Value:
        return b.unary(name, b.cast(x, dtype_of(node)))


for _name in ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid", "silu", "sin", "cos", "relu", "abs"):
    _function(_name)


@converts(aten.floor.default)
def floor(b: Builder, node: Any, x: Value) -> Value:
    return b.floor(x) if x.dtype.is_floating_point else x


@converts(aten.ceil.default)
def ceil(b: Builder, node: Any, x: Value) -> Value:
    return b.unary("neg", b.floor(b.unary("neg", x))) if x.dtype.is_floating_point else x


@converts(aten.reciprocal.default)
def reciprocal(b: Builder, node: Any, x: Value) -> Value:
    return b.binary("div", 1.0, b.cast(x, dtype_of(node)))


@converts(aten.square.default)
def square(b: Builder, node: Any, x: Value) -> Value:
    return b.binary("mul", x, x)


@converts(aten.sign.default, aten.sgn.default)
def sign(b: Builder, node: Any, x: Value) -> Value:
    return b.binary("sub", b.cast(b.compare("gt", x, 0), x.dtype), b.cast(b.compare("lt", x, 0), x.dtype))


@converts(aten.gelu.default)
def gelu(b: Builder, node: Any, x: Value, approximate: str = "none") -> Value:
    return b.unary("gelu", x, {"form": f"#reprise<gelu_form {'erf' if approximate == 'none' else 'tanh'}>"})


@converts(aten.leaky_relu.default)
def leaky_relu(b: Builder, node: Any, x: Value, slope: float = 0.01) -> Value:
    return b.select(b.compare("gt", x, 0.0), x, b.binary("mul", x, slope))


@converts(aten._prelu_kernel.default)
def prelu(b: Builder, node: Any, x: Value, slopes: Value) -> Value:
    return b.select(b.compare("gt", x, 0.0), x, b.binary("mul", x, slopes))


@converts(aten.pow.Tensor_Scalar)
def power(b: Builder, node: Any, x: Value, exponent: float) -> Value:
    dtype = dtype_of(node)
    x = b.cast(x, dtype)
    if exponent in (1, 2, 3):
        square = x if exponent == 1 else b.binary("mul", x, x)
        return b.binary("mul", square, x) if exponent == 3 else square
    if not dtype.is_floating_point:
        raise Missing(f"aten.pow of integers to the power of {exponent}")
    special = {0.5: "sqrt", -0.5: "rsqrt"}.get(exponent)
    return b.unary(special, x) if special else b.binary("pow", x, float(exponent), dtype)


@converts(aten.pow.Tensor_Tensor, aten.pow.Scalar)
def power_of(b: Builder, node: Any, x: Any, exponent: Any) -> Value:
    if not dtype_of(node).is_floating_point:
        raise Missing("aten.pow of integers to the power of a tensor")
    return b.binary("pow", x, exponent, dtype_of(node))


def _comparison(name: str) -> None:
    overloads = getattr(aten, name)

    @converts(overloads.Tensor, overloads.Scalar)
    def convert(b: Builder, node: Any, x: Any, y: Any) -> Value:
        return b.compare(name, x, y)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


@converts(aten.isnan.default)
def isnan(b: Builder, node: Any, x: Value) -> Value:
    return b.compare("ne", x, x) if x.dtype.is_floating_point else b.constant(False, torch.bool, x.shape)


@converts(aten.isinf.default)
def isinf(b: Builder, node: Any, x: Value) -> Value:
    return b.compare("eq", b.unary("abs", x), math.inf)


def _logic(name: str) -> None:
    overloads = [getattr(getattr(aten, f"logical_{name}"), "default"), getattr(aten, f"bitwise_{name}").Tensor]

    @converts(*overloads)
    def convert(b: Builder, node: Any, x: Value, y: Value) -> Value:
        if dtype_of(node) is not torch.bool:
            raise Missing(f"{node.target} of integers")
        return b.binary(name, x, y, torch.bool)


for _name in ("and", "or", "xor"):
    _logic(_name)


@converts(aten.bitwise_not.default, aten.logical_not.default)
def logical_not(b: Builder, node: Any, x: Value) -> Value:
    if dtype_of(node) is not torch.bool:
        raise Missing(f"{node.target} of integers")
    return b.unary("not", b.cast(x, torch.bool))


@converts(aten.where.self, aten.where.ScalarSelf, aten.where.ScalarOther, aten.where.Scalar)
def where(b: Builder, node: Any, condition: Value, x: Any, y: Any) -> Value:
    dtype = dtype_of(node)
    return b.select(condition, b.value(x, dtype), b.value(y, dtype))


@converts(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def masked_fill(b: Builder, node: Any, x: Value, mask: Value, value: Any) -> Value:
    return b.select(mask, b.value(value, x.dtype), x)


@converts(aten.lerp.Scalar, aten.lerp.Tensor)
def lerp(b: Builder, node: Any, x: Value, y: Value, weight: Any) -> Value:
    return b.binary("add", x, b.binary("mul", b.binary("sub", y, x), weight, x.dtype))


@converts(aten.addcmul.default)
def addcmul(b: Builder, node: Any, x: Value, y: Value, z: Value, value: float = 1) -> Value:
    product = b.binary("mul", y, z)
    return b.binary("add", x, product if value == 1 else b.binary("mul", product, value))


def multiply_add(b: Builder, node: Any, x: Value, y: Value, z: Value) -> Value:
    """Dynamo's form of addcmul with a factor."""
    return b.binary("add", b.binary("mul", x, y), z)


@converts(aten.addcdiv.default)
def addcdiv(b: Builder, node: Any, x: Value, y: Value, z: Value, value: float = 1) -> Value:
    quotient = b.binary("div", y, z)
    return b.binary("add", x, quotient if value == 1 else b.binary("mul", quotient, value))


