"""Random draws: ours, of the distribution that PyTorch's have."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from ._builder import Builder, Missing, Value, compute_type, floating
from ._registry import converts, dtype_of, shape_of

aten = torch.ops.aten
#: Operand segments without an operand, and with the operand before the seed.
NO_STATE = {"operandSegmentSizes": "array<i32: 0, 0, 0>"}


def draws(*targets: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a converter of ops that draw from PyTorch's default generator."""

    def register(converter: Callable[..., Any]) -> Callable[..., Any]:
        def checked(b: Builder, node: Any, *arguments: Any, generator: Any = None, **keywords: Any) -> Any:
            if generator is not None:
                raise Missing(f"{node.target} with an explicit generator")
            return converter(b, node, *arguments, **keywords)

        converts(*targets)(checked)
        return converter

    return register


def dropout_of(b: Builder, x: Value, rate: float) -> Value:
    return b.unary("dropout", x, {"rate": floating(rate), "operandSegmentSizes": "array<i32: 1, 0, 0, 0>"})


@converts(aten.native_dropout.default)
def native_dropout(b: Builder, node: Any, x: Value, rate: float, is_training: Any) -> list[Value | None]:
    """Converts dropout without the mask, which only PyTorch's backward reads."""
    return [x if is_training is False or rate == 0 else dropout_of(b, x, rate), None]


@converts(aten.dropout.default)
def dropout(b: Builder, node: Any, x: Value, rate: float, is_training: bool) -> Value:
    return x if not is_training or rate == 0 else dropout_of(b, x, rate)


#===-- Uniform draws ---------------------------------------------------------------------------===#

def _uniform(b: Builder, shape: tuple[int, ...], dtype: torch.dtype, low: float = 0, high: float = 1) -> Value:
    return b.op("random_uniform", [], shape, dtype, {"low": floating(low), "high": floating(high), **NO_STATE})


def _integers(b: Builder, shape: tuple[int, ...], low: int, high: int) -> Value:
    if high - low >= 1 << 32:
        raise Missing("random integers of more than 2^32 numbers")
    return b.op("random_uniform_int", [], shape, torch.int64, {"low": f"{low} : i64", "high": f"{high} : i64", **NO_STATE})


@draws(aten.bernoulli.p)
def bernoulli(b: Builder, node: Any, x: Value, probability: float = 0.5) -> Value:
    drawn = b.op("random_bernoulli", [], shape_of(node), torch.bool, {"probability": floating(probability), **NO_STATE})
    return b.cast(drawn, dtype_of(node))


@draws(aten.bernoulli.default)
def bernoulli_of(b: Builder, node: Any, probability: Value) -> Value:
    """Uniform draws of 16 bits are too coarse to be compared with a probability."""
    wide = b.cast(probability, compute_type(probability.dtype))
    return b.cast(b.compare("lt", _uniform(b, wide.shape, wide.dtype), wide), dtype_of(node))


@draws(aten.bernoulli.Tensor)
def bernoulli_like(b: Builder, node: Any, x: Value, probability: Value) -> Value:
    return bernoulli_of(b, node, b.expand(probability, x.shape))


@draws(aten.rand.default, aten.rand.generator, aten.rand_like.default, aten.rand_like.generator)
def rand(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return _uniform(b, shape_of(node), dtype_of(node))


@draws(aten.uniform.default)
def uniform(b: Builder, node: Any, x: Value, low: float = 0, high: float = 1) -> Value:
    return _uniform(b, shape_of(node), dtype_of(node), low, high)


@draws(aten.randint.default, aten.randint.generator)
def randint(b: Builder, node: Any, high: int, *size: Any, **keywords: Any) -> Value:
    return b.cast(_integers(b, shape_of(node), 0, high), dtype_of(node))


@draws(aten.randint.low, aten.randint.low_generator)
def randint_from(b: Builder, node: Any, low: int, high: int, *size: Any, **keywords: Any) -> Value:
    return b.cast(_integers(b, shape_of(node), low, high), dtype_of(node))


@draws(aten.randint_like.default, aten.randint_like.generator, aten.random.to)
def randint_like(b: Builder, node: Any, x: Value, high: int, **keywords: Any) -> Value:
    return randint(b, node, high)


@draws(aten.randint_like.low_dtype, aten.randint_like.low_generator_dtype, getattr(aten.random, "from"))
def randint_like_from(b: Builder, node: Any, x: Value, low: int, high: int, **keywords: Any) -> Value:
    return randint_from(b, node, low, high)


@draws(aten.rrelu_with_noise_functional.default)
def random_leaky_relu(b: Builder, node: Any, x: Value, noise: Value, lower: float = 0.125, upper: float = 1 / 3,
                      is_training: bool = False) -> list[Value]:
    """The slopes are the second result."""
    slope = b.constant((lower + upper) / 2, x.dtype, x.shape)
    if is_training:
        slope = b.cast(_uniform(b, x.shape, compute_type(x.dtype), lower, upper), x.dtype)
    is_below = b.compare("le", x, 0)
    slopes = b.select(is_below, slope, b.constant(1, x.dtype))
    return [b.binary("mul", x, slopes), slopes if is_training else noise]


#===-- Draws of other distributions ------------------------------------------------------------===#

def _positive(b: Builder, shape: tuple[int, ...], dtype: torch.dtype) -> Value:
    """Uniform in (0, 1], in the compute type."""
    return b.binary("sub", 1, _uniform(b, shape, compute_type(dtype)))


def _exponential(b: Builder, shape: tuple[int, ...], dtype: torch.dtype) -> Value:
    """Draws above 0, as PyTorch's are, in the compute type."""
    wide = compute_type(dtype)
    waits = b.unary("neg", b.unary("log", _positive(b, shape, dtype)))
    return b.binary("maximum", waits, torch.finfo(wide).eps / 2, wide)


@draws(aten.exponential.default)
def exponential(b: Builder, node: Any, x: Value, rate: float = 1) -> Value:
    return b.cast(b.binary("div", _exponential(b, shape_of(node), dtype_of(node)), rate), dtype_of(node))


@draws(aten.geometric.default)
def geometric(b: Builder, node: Any, x: Value, probability: float) -> Value:
    """Draws the number of trials up to the first success."""
    wide = compute_type(dtype_of(node)) if dtype_of(node).is_floating_point else torch.float64
    if probability == 1:
        return b.constant(1, dtype_of(node), shape_of(node))
    waits = b.binary("div", _exponential(b, shape_of(node), wide), -math.log1p(-probability))
    trials = b.unary("neg", b.floor(b.unary("neg", waits)))
    return b.cast(b.binary("maximum", trials, 1, wide), dtype_of(node))


@draws(aten.cauchy.default)
def cauchy(b: Builder, node: Any, x: Value, median: float = 0, sigma: float = 1) -> Value:
    wide = compute_type(dtype_of(node))
    angle = b.binary("mul", b.binary("sub", _positive(b, shape_of(node), wide), 0.5), math.pi)
    ratio = b.binary("div", b.unary("sin", angle), b.unary("cos", angle))
    return b.cast(b.binary("add", b.binary("mul", ratio, sigma), median), dtype_of(node))


def _normal(b: Builder, node: Any, mean: float, deviation: float) -> Value:
    return b.op("random_normal", [], shape_of(node), dtype_of(node),
                {"mean": floating(mean), "std": floating(deviation), **NO_STATE})


@draws(aten.randn.default, aten.randn.generator, aten.randn_like.default, aten.randn_like.generator)
def randn(b: Builder, node: Any, *arguments: Any, **keywords: Any) -> Value:
    return _normal(b, node, 0, 1)


@draws(aten.normal_functional.default)
def normal_like(b: Builder, node: Any, x: Value, mean: float = 0, std: float = 1) -> Value:
    return _normal(b, node, mean, std)


@draws(aten.normal.float_float)
def normal(b: Builder, node: Any, mean: float, std: float, *arguments: Any, **keywords: Any) -> Value:
    return _normal(b, node, mean, std)


@draws(aten.normal.Tensor_Tensor, aten.normal.Tensor_float, aten.normal.float_Tensor)
def normal_of(b: Builder, node: Any, mean: Any, std: Any = 1) -> Value:
    """PyTorch's has no gradient."""
    mean, std = (b.freeze(each) if isinstance(each, Value) else each for each in (mean, std))
    away = b.binary("mul", _normal(b, node, 0, 1), std)
    return b.cast(b.binary("add", away, mean), dtype_of(node))


@draws(aten.log_normal.default)
def log_normal(b: Builder, node: Any, x: Value, mean: float = 1, std: float = 2) -> Value:
    return b.unary("exp", _normal(b, node, mean, std))


#===-- Choices ---------------------------------------------------------------------------------===#

@draws(aten.randperm.default, aten.randperm.generator)
def permutation(b: Builder, node: Any, count: int, **keywords: Any) -> Value:
    """The order of numbers of 62 bits, so that hardly any two are equal."""
    shape = shape_of(node)
    high = b.binary("mul", _integers(b, shape, 0, 1 << 31), 1 << 31)
    key = b.binary("add", high, _integers(b, shape, 0, 1 << 31))
    return b.cast(b.emit("top_k", [key], [(shape, torch.int64)] * 2)[1], dtype_of(node))


@draws(aten.multinomial.default)
def multinomial(b: Builder, node: Any, weights: Value, count: int, replaces: bool = False) -> Value:
    """Draws indices by weights: of exponential draws with these rates the smallest has index i with probability
    weights[i] / Σ weights.

    The order of all draws is a choice without replacement.
    """
    weights = b.cast(b.freeze(weights), compute_type(weights.dtype))
    shape, kinds = shape_of(node), weights.shape[-1]
    if replaces:
        weights = b.expand(b.reshape(weights, (*weights.shape[:-1], 1, kinds)), (*shape, kinds))
    waits = b.unary("log", _exponential(b, weights.shape, weights.dtype))
    haste = b.binary("sub", b.unary("log", weights), waits)
    if replaces:
        return b.op("argmax", [haste], shape, torch.int64, {"dim": f"{haste.rank - 1} : i64"})
    return b.emit("top_k", [haste], [(shape, haste.dtype), (shape, torch.int64)])[1]
