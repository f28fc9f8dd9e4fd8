"""Converts convolutions and pooling of volumes to images whose depth is a part of the channels."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._builder import Builder, Missing, Value
from ._registry import converts, shape_of
from ._windows import adaptive_average, average_windows, convolve, largest_in_windows, places, spread, transposed

aten = torch.ops.aten


def _slices(b: Builder, x: Value) -> Value:
    """[n, c, d, h, w] as [n · d, c, h, w]."""
    n, c, d, h, w = x.shape
    return b.reshape(b.transpose(x, [0, 2, 1, 3, 4]), (n * d, c, h, w))


def _stacked(b: Builder, x: Value, depth: int) -> Value:
    """Converts an image back to a volume."""
    n, c, h, w = x.shape
    return b.transpose(b.reshape(x, (n // depth, depth, c, h, w)), [0, 2, 1, 3, 4])


def convolution(b: Builder, x: Value, filter: Value, stride: Sequence[int], padding: Sequence[int],
                dilation: Sequence[int], groups: int) -> Value:
    """Convolves a volume: the filter's depth positions become channels of an image."""
    out, own, window = filter.shape[:3]
    x = b.pad(x, [0, 0, padding[0], 0, 0], [0, 0, padding[0], 0, 0])
    count = places(x.shape[2], window, dilation[0], stride[0])
    n, c, _, h, w = x.shape
    taps = []
    for tap in range(window):
        at = tap * dilation[0]
        part = b.slice(x, 2, at, at + (count - 1) * stride[0] + 1, stride[0])
        taps.append(b.reshape(_slices(b, part), (n * count, c, 1, h, w)))
    images = b.reshape(b.concatenate(taps, 2), (n * count, c * window, h, w))
    flat = b.reshape(filter, (out, own * window, *filter.shape[3:]))
    return _stacked(b, convolve(b, images, flat, stride[1:], padding[1:], dilation[1:], groups), count)


def transposed_convolution(b: Builder, x: Value, filter: Value, stride: Sequence[int], padding: Sequence[int],
                           dilation: Sequence[int], extra: Sequence[int], groups: int) -> Value:
    """Computes the adjoint: the filter's results along the depth are channels of an image, which are added at their
    places."""
    c, own, window = filter.shape[:3]
    depth, out = x.shape[2], own * groups
    flat = b.reshape(filter, (c, own * window, *filter.shape[3:]))
    images = transposed(b, _slices(b, x), flat, stride[1:], padding[1:], dilation[1:], extra[1:], groups)
    h, w = images.shape[2:]
    parts = b.reshape(images, (x.shape[0], depth, out, window, h, w))
    whole = (depth - 1) * stride[0] + (window - 1) * dilation[0] + 1
    total = None
    for tap in range(window):
        part = b.reshape(b.slice(parts, 3, tap, tap + 1), (x.shape[0], depth, out, h, w))
        low = tap * dilation[0]
        high = whole - low - (depth - 1) * stride[0] - 1
        part = b.pad(part, [0, low, 0, 0, 0], [0, high, 0, 0, 0], interior=[0, stride[0] - 1, 0, 0, 0])
        total = part if total is None else b.binary("add", total, part)
    total = b.pad(total, [0] * 5, [0, max(0, extra[0] - padding[0]), 0, 0, 0])
    end = whole - padding[0] + extra[0]
    return b.transpose(b.slice(total, 1, padding[0], end), [0, 2, 1, 3, 4])


def _pool(b: Builder, x: Value, shape: Sequence[int], pool: Any) -> Value:
    """Pools a volume: ``pool(x, shape, dims)`` pools images; rows and columns come first, then the depth, which lies in
    rows of its own."""
    x = b.reshape(x, (1,) * (5 - x.rank) + x.shape)
    n, c, d = x.shape[:3]
    deep, high, wide = shape[-3:]
    flat = pool(b.reshape(x, (n, c * d, *x.shape[3:])), (n, c * d, high, wide), [1, 2])
    whole = pool(b.reshape(flat, (n, c, d, high * wide)), (n, c, deep, high * wide), [0])
    return b.reshape(whole, shape)


def _along(numbers: Sequence[int], dims: Sequence[int], rest: int) -> list[int]:
    return [numbers[dim] for dim in dims] + [rest] * (2 - len(dims))


@converts(aten.max_pool3d_with_indices.default)
def max_pool(b: Builder, node: Any, x: Value, window: Sequence[int], stride: Sequence[int] = (), padding: Any = 0,
             dilation: Any = 1, ceil_mode: bool = False) -> list[Value | None]:
    """Pools without the positions, which only unpooling reads."""
    if any(each != 1 for each in spread(dilation, 3)):
        raise Missing("aten.max_pool3d_with_indices with a dilation")
    window, low = spread(window, 3), spread(padding, 3)
    stride = spread(stride or window, 3)

    def pool(image: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        return largest_in_windows(b, image, shape, _along(window, dims, 1), _along(stride, dims, 1),
                                  _along(low, dims, 0))[0]

    return [_pool(b, x, shape_of(node, 0), pool), None]


@converts(aten.avg_pool3d.default)
def average_pool(b: Builder, node: Any, x: Value, window: Sequence[int], stride: Sequence[int] = (), padding: Any = 0,
                 ceil_mode: bool = False, counts_padding: bool = True, divisor: Any = None) -> Value:
    if divisor is not None:
        raise Missing("aten.avg_pool3d with divisor_override")
    window, low = spread(window, 3), spread(padding, 3)
    stride = spread(stride or window, 3)

    def pool(image: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        return average_windows(b, image, shape, _along(window, dims, 1), _along(stride, dims, 1),
                               _along(low, dims, 0), counts_padding, None)

    return _pool(b, x, shape_of(node), pool)


@converts(aten._adaptive_avg_pool3d.default)
def adaptive_average_pool(b: Builder, node: Any, x: Value, size: Any) -> Value:
    return _pool(b, x, shape_of(node), lambda image, shape, dims: adaptive_average(b, image, shape))
