"""Applies filters and windows to rows and images."""

from __future__ import annotations

import math
from typing import Sequence

import torch

from ._builder import Builder, Value, integers


def spread(numbers: Sequence[int] | int, count: int) -> list[int]:
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers if len(numbers) == count else numbers * count


def places(size: int, window: int, dilation: int, stride: int) -> int:
    """Returns how often a window fits."""
    return (size - dilation * (window - 1) - 1) // stride + 1


def convolve(b: Builder, x: Value, filter: Value, stride: Sequence[int], padding: Sequence[int],
             dilation: Sequence[int], groups: int) -> Value:
    """Convolves rows or images."""
    shape = [x.shape[0], filter.shape[0]]
    shape += [places(x.shape[2 + i] + 2 * padding[i], filter.shape[2 + i], dilation[i], stride[i])
              for i in range(x.rank - 2)]
    return _convolution(b, "convolution", [x, filter], shape, stride, padding, padding, dilation, groups)


def transposed(b: Builder, x: Value, filter: Value, stride: Sequence[int], padding: Sequence[int],
               dilation: Sequence[int], extra: Sequence[int], groups: int) -> Value:
    """Appends the adjoint for rows or images. ``extra`` rows at the end beyond the padding meet nothing."""
    spatial = range(x.rank - 2)
    high = [max(0, padding[i] - extra[i]) for i in spatial]
    shape = [x.shape[0], filter.shape[1] * groups]
    shape += [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (filter.shape[2 + i] - 1) + 1 - padding[i] - high[i]
              for i in spatial]
    y = _convolution(b, "convolution_transpose", [x, filter], shape, stride, padding, high, dilation, groups)
    return b.pad(y, [0] * y.rank, [0, 0, *(max(0, extra[i] - padding[i]) for i in spatial)])


def _convolution(b: Builder, name: str, operands: Sequence[Value], shape: Sequence[int], stride: Sequence[int],
                 low: Sequence[int], high: Sequence[int], dilation: Sequence[int], groups: int) -> Value:
    attributes = {"strides": integers(stride), "low": integers(low), "high": integers(high),
                  "dilation": integers(dilation)}
    if groups != 1:
        attributes["groups"] = f"{groups} : i64"
    return b.op(name, operands, shape, operands[0].dtype, attributes)


def _fill(b: Builder, x: Value, shape: Sequence[int], window: Sequence[int], stride: Sequence[int],
          low: Sequence[int]) -> tuple[Value, list[int]]:
    """Returns the image without the rows and columns that no window reaches, and the padding behind it that windows
    reach."""
    high = []
    for i in range(2):
        beyond = (shape[2 + i] - 1) * stride[i] + window[i] - x.shape[2 + i] - low[i]
        x = b.slice(x, 2 + i, 0, x.shape[2 + i] + min(0, beyond))
        high.append(max(0, beyond))
    return x, high


def largest_in_windows(b: Builder, x: Value, shape: Sequence[int], window: Sequence[int], stride: Sequence[int],
                       low: Sequence[int]) -> list[Value]:
    """Pools maxima of images: values, and their positions."""
    x, high = _fill(b, x, shape, window, stride, low)
    return b.emit("max_pool", [x], [(shape, x.dtype), (shape, torch.int64)], {
        "window": integers(window), "strides": integers(stride), "low": integers(low), "high": integers(high)})


def average_windows(b: Builder, x: Value, shape: Sequence[int], window: Sequence[int], stride: Sequence[int],
                    low: Sequence[int], counts_padding: bool, divisor: int | None) -> Value:
    """Pools means of images."""
    low = list(low)
    if counts_padding or divisor is not None:
        x, low = b.pad(x, [0, 0, *low], [0, 0, *low]), [0, 0]
    x, high = _fill(b, x, shape, window, stride, low)
    if divisor is not None:
        x, high = b.pad(x, [0] * 4, [0, 0, *high]), [0, 0]
    y = b.op("average_pool", [x], shape, x.dtype, {
        "window": integers(window), "strides": integers(stride), "low": integers(low), "high": integers(high)})
    return y if divisor is None else b.binary("mul", y, math.prod(window) / divisor)


def adaptive_average(b: Builder, x: Value, shape: Sequence[int]) -> Value:
    """Pools means of as many windows of an image as a shape has room for."""
    none = integers([])
    return b.op("average_pool", [x], shape, x.dtype, {
        "adaptive": "unit", "window": none, "strides": none, "low": none, "high": none})
