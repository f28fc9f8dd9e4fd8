"""Convolutions, pooling and resampling of images."""

from __future__ import annotations

import itertools
import math
from typing import Any, Sequence

import torch

from . import volumes
from ._builder import Builder, Missing, Value
from ._registry import converts, shape_of
from ._windows import adaptive_average, average_windows, convolve, largest_in_windows, places, spread, transposed

aten = torch.ops.aten


@converts(aten.convolution.default)
def convolution(b: Builder, node: Any, x: Value, filter: Value, bias: Value | None, stride: Sequence[int],
                padding: Sequence[int], dilation: Sequence[int], is_transposed: bool, output_padding: Sequence[int],
                groups: int) -> Value:
    spatial = x.rank - 2
    stride, padding, dilation, extra = (spread(each, spatial) for each in (stride, padding, dilation, output_padding))
    if is_transposed:
        of = volumes.transposed_convolution if spatial == 3 else transposed
        y = of(b, x, filter, stride, padding, dilation, extra, groups)
    else:
        of = volumes.convolution if spatial == 3 else convolve
        y = of(b, x, filter, stride, padding, dilation, groups)
    return y if bias is None else b.binary("add", y, b.reshape(bias, (bias.shape[0],) + (1,) * spatial))


@converts(aten.max_pool2d_with_indices.default)
def max_pool(b: Builder, node: Any, x: Value, window: Sequence[int], stride: Sequence[int] = (), padding: Any = 0,
             dilation: Any = 1, ceil_mode: bool = False) -> list[Value]:
    if any(each != 1 for each in spread(dilation, 2)):
        raise Missing("aten.max_pool2d_with_indices with a dilation")
    window, low, shape = spread(window, 2), spread(padding, 2), shape_of(node, 0)
    image = b.reshape(x, (1,) * (4 - x.rank) + x.shape)
    found = largest_in_windows(b, image, (1,) * (4 - x.rank) + shape, window, spread(stride or window, 2), low)
    return [b.reshape(value, shape) for value in found]


@converts(aten.avg_pool2d.default)
def average_pool(b: Builder, node: Any, x: Value, window: Sequence[int], stride: Sequence[int] = (), padding: Any = 0,
                 ceil_mode: bool = False, counts_padding: bool = True, divisor: Any = None) -> Value:
    shape, lead = shape_of(node), (1,) * (4 - x.rank)
    window = spread(window, 2)
    y = average_windows(b, b.reshape(x, lead + x.shape), lead + shape, window, spread(stride or window, 2),
                        spread(padding, 2), counts_padding, divisor)
    return b.reshape(y, shape)


@converts(aten.im2col.default)
def windows(b: Builder, node: Any, x: Value, window: Sequence[int], dilation: Sequence[int], padding: Sequence[int],
            stride: Sequence[int]) -> Value:
    """Yields, for each position of the window, the slice of the image that it meets."""
    rows, columns = (places(x.shape[-2 + i] + 2 * padding[i], window[i], dilation[i], stride[i]) for i in range(2))
    images = b.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))
    images = b.pad(images, [0, *padding], [0, *padding])
    parts = []
    for i, j in itertools.product(*map(range, window)):
        part = b.slice(images, 1, i * dilation[0], i * dilation[0] + (rows - 1) * stride[0] + 1, stride[0])
        part = b.slice(part, 2, j * dilation[1], j * dilation[1] + (columns - 1) * stride[1] + 1, stride[1])
        parts.append(b.reshape(part, (part.shape[0], 1, rows * columns)))
    return b.reshape(b.concatenate(parts, 1), shape_of(node))


@converts(aten.col2im.default)
def image_of_windows(b: Builder, node: Any, x: Value, size: Sequence[int], window: Sequence[int],
                     dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]) -> Value:
    """Computes the adjoint of windows: adds the values at each position of the window to the image, in order."""
    whole = [size[i] + 2 * padding[i] for i in range(2)]
    rows, columns = (places(whole[i], window[i], dilation[i], stride[i]) for i in range(2))
    shape = shape_of(node)
    parts = b.reshape(x, (math.prod(shape[:-2]), math.prod(window), rows, columns))
    total = None
    for at, (i, j) in enumerate(itertools.product(*map(range, window))):
        part = b.reshape(b.slice(parts, 1, at, at + 1), (parts.shape[0], rows, columns))
        low = [0, i * dilation[0], j * dilation[1]]
        high = [0, *(whole[k] - low[k + 1] - (n - 1) * stride[k] - 1 for k, n in enumerate((rows, columns)))]
        part = b.pad(part, low, high, interior=[0, stride[0] - 1, stride[1] - 1])
        total = part if total is None else b.binary("add", total, part)
    for i in range(2):
        total = b.slice(total, 1 + i, padding[i], padding[i] + size[i])
    return b.reshape(total, shape)


@converts(aten._adaptive_avg_pool2d.default, aten.adaptive_avg_pool2d.default)
def adaptive_average_pool(b: Builder, node: Any, x: Value, size: Any) -> Value:
    return adaptive_average(b, x, shape_of(node))


@converts(aten.adaptive_max_pool2d.default)
def adaptive_max_pool(b: Builder, node: Any, x: Value, size: Any) -> list[Value | None]:
    """Pools rows, then columns, as windows may overlap. The positions, which only unpooling reads, are left out."""
    shape = shape_of(node, 0)
    for dim in (x.rank - 2, x.rank - 1):
        before, after = x.shape[dim], shape[dim]
        parts = [b.slice(x, dim, at * before // after, -(-(at + 1) * before // after)) for at in range(after)]
        x = b.concatenate([b.reduce("max", part, [dim], True) for part in parts], dim)
    return [x, None]


@converts(aten.upsample_nearest2d.default, aten.upsample_nearest2d.vec)
def upsample_nearest(b: Builder, node: Any, x: Value, size: Any, *scales: Any) -> Value:
    """Resizes; if the factors are whole, every position repeats."""
    shape = shape_of(node)
    if all(big % small == 0 for big, small in zip(shape[2:], x.shape[2:])):
        rows, columns = (big // small for big, small in zip(shape[2:], x.shape[2:]))
        n, c, height, width = x.shape
        parts = b.reshape(x, (n, c, height, 1, width, 1))
        return b.reshape(b.expand(parts, (n, c, height, rows, width, columns)), shape)
    factors = scales[0] if scales and isinstance(scales[0], (list, tuple)) else [*scales, None, None][:2]
    for dim, factor in zip((2, 3), factors or [None, None]):
        step = 1 / factor if factor else x.shape[dim] / shape[dim]
        x = b.take(x, dim, [min(int(at * step), x.shape[dim] - 1) for at in range(shape[dim])])
    return x


def _weights(before: int, after: int, align_corners: bool, scale: float | None) -> torch.Tensor:
    """[after, before]: how much of each position a resampled one has."""
    result = torch.zeros(after, before, dtype=torch.float64)
    for index in range(after):
        if align_corners:
            at = index * (before - 1) / max(after - 1, 1)
        else:
            at = max((index + 0.5) * (1 / scale if scale else before / after) - 0.5, 0.0)
        first = min(int(at), before - 1)
        second = min(first + 1, before - 1)
        result[index, first] += 1 - (at - first)
        result[index, second] += at - first
    return result


@converts(aten.upsample_bilinear2d.default, aten.upsample_bilinear2d.vec)
def upsample_bilinear(b: Builder, node: Any, x: Value, size: Any, align_corners: bool, *scales: Any) -> Value:
    """A contraction along rows, then along columns."""
    shape = shape_of(node)
    scales = [None, None] if node.target is aten.upsample_bilinear2d.vec else [*scales, None, None][:2]
    rows = b.tensor(_weights(x.shape[2], shape[2], align_corners, scales[0]).to(x.dtype))
    columns = b.tensor(_weights(x.shape[3], shape[3], align_corners, scales[1]).to(x.dtype))
    tall = b.dot(x, rows, ([2], [1]))
    return b.dot(tall, columns, ([2], [1]))
