"""Scaled dot-product attention, kept whole."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._builder import Builder, Missing, Value, compute_type, floating
from ._registry import converts, shape_of

aten = torch.ops.aten


def attend(b: Builder, query: Value, key: Value, value: Value, mask: Value | None, rate: float, is_causal: bool,
           scale: float, shape: tuple[int, ...]) -> Value:
    """Leading dimensions other than the heads become one; a float mask is a bias, one of i1 a mask."""

    def four(x: Value) -> Value:
        return b.reshape(x, (math.prod(x.shape[:-3]), *((1,) * (3 - x.rank)), *x.shape[-3:]))

    if mask is not None and query.rank > 4:
        raise Missing("attention over five dimensions with a mask")
    query, key, value = four(query), four(key), four(value)
    operands, segments = [query, key, value], [1, 1, 1, 0, 0, 0, 0, 0]
    if mask is not None:
        mask = b.reshape(mask, (1,) * (4 - mask.rank) + mask.shape)
        mask = mask if mask.dtype is torch.bool else b.cast(mask, compute_type(query.dtype))
        mask = mask if mask.shape[-1] == key.shape[2] else b.expand(mask, mask.shape[:-1] + (key.shape[2],))
        segments[4 if mask.dtype is torch.bool else 3] = 1
        operands.append(mask)
    attributes = {"operandSegmentSizes": f"array<i32: {', '.join(map(str, segments))}>", "scale": floating(scale)}
    if rate:
        attributes["rate"] = floating(rate)
    if is_causal:
        attributes["causal"] = "unit"
    rows = query.shape[:3]
    out = b.emit("attention", operands, [(rows + value.shape[-1:], query.dtype), (rows, compute_type(query.dtype))],
                 attributes, draws=bool(rate))[0]
    return b.reshape(out, shape)


@converts(torch.ops.reprise.attention.default)
def attention(b: Builder, node: Any, query: Value, key: Value, value: Value, mask: Value | None, rate: float,
              is_causal: bool, scale: float) -> Value:
    return attend(b, query, key, value, mask, rate, is_causal, scale, shape_of(node))


@converts(aten._scaled_dot_product_flash_attention_for_cpu.default)
def flash_attention(b: Builder, node: Any, query: Value, key: Value, value: Value, rate: float = 0.0,
                    is_causal: bool = False, attn_mask: Value | None = None,
                    scale: float | None = None) -> list[Value | None]:
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return [attend(b, query, key, value, attn_mask, rate, is_causal, scale, shape_of(node, 0)), None]


@converts(aten.scaled_dot_product_attention.default)
def scaled_attention(b: Builder, node: Any, query: Value, key: Value, value: Value, mask: Value | None = None,
                     rate: float = 0.0, is_causal: bool = False, scale: float | None = None,
                     enable_gqa: bool = False) -> Value:
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return attend(b, query, key, value, mask, rate, is_causal, scale, shape_of(node))
