"""Scaled dot-product attention, kept whole."""

from __future__ import annotations

import math
from typing import Any, Sequence

import torch

from ._builder import Builder, Missing, Value, compute_type, floating
from ._registry import converts, shape_of

aten = torch.ops.aten
#: Columns of a query, and of a value, that kernels of attention take.
_MOST_COLUMNS = 4096


def _heads(x: Value) -> int:
    return x.shape[-3] if x.rank > 2 else 1


def _repeat_heads(b: Builder, x: Value, heads: int) -> Value:
    """Repeats each head for the query heads that read it."""
    own = _heads(x)
    if own == heads:
        return x
    if heads % own:
        raise Missing(f"attention of {heads} query heads that read {own} heads")
    lead, rest = x.shape[:-3], x.shape[-2:]
    x = b.reshape(x, (*lead, own, 1, *rest))
    return b.reshape(b.expand(x, (*lead, own, heads // own, *rest)), (*lead, heads, *rest))


class _Operands:
    """Query, key, value, bias and mask with four dimensions: dimensions before the heads are merged, and size 1 is
    broadcast."""

    def __init__(self, b: Builder, query: Value, key: Value, value: Value, mask: Value | None) -> None:
        self._b = b
        if max(query.shape[-1], value.shape[-1]) > _MOST_COLUMNS:
            raise Missing(f"attention over heads of more than {_MOST_COLUMNS} columns")
        self._lead = torch.broadcast_shapes(*(each.shape[:-3] for each in (query, key, value)))
        heads = _heads(query) if _heads(query) > 1 else max(_heads(key), _heads(value))
        self.query = self._four(query, (heads, *query.shape[-2:]))
        if _heads(key) != _heads(value):
            key, value = _repeat_heads(b, key, heads), _repeat_heads(b, value, heads)
        self.key, self.value = (self._four(each, (_heads(each), *each.shape[-2:])) for each in (key, value))
        self.bias = self.mask = None
        if mask is not None and mask.dtype is torch.bool:
            self.mask = self._repeated(mask)
        elif mask is not None:
            self.bias = self._repeated(b.cast(mask, compute_type(query.dtype)))
            self.mask = self._sees_any()

    def _four(self, x: Value, own: Sequence[int]) -> Value:
        x = self._b.expand(x, (*self._lead, *own))
        return self._b.reshape(x, (math.prod(self._lead), *own))

    def _sees_any(self) -> Value:
        """Masks queries whose bias is -inf everywhere: PyTorch returns 0 there, where probabilities would be NaN."""
        b = self._b
        is_finite = b.compare("ne", b.reduce("max", self.bias, [-1], True), -math.inf)
        return b.expand(is_finite, self.bias.shape)

    def _repeated(self, mask: Value) -> Value:
        """Adds a mask; an entry applies to all batches, heads or queries if the size is 1."""
        b = self._b
        mask = b.reshape(mask, (1,) * (4 - mask.rank) + mask.shape)
        mask = b.expand(mask, (*mask.shape[:-1], self.key.shape[2]))
        if math.prod(mask.shape[:-3]) == 1:
            return b.reshape(mask, mask.shape[-4:])
        return self._four(mask, mask.shape[-3:])


def _seen_from_the_first(b: Builder, queries: int, keys: int) -> Value:
    """PyTorch's causal mask: query i sees the keys up to i. The dialect's ends with the last key."""
    return b.compare("ge", b.reshape(b.iota(queries), (queries, 1)), b.iota(keys))


def _call(b: Builder, name: str, query: Value, key: Value, value: Value, mask: Value | None, rate: float, is_causal: bool,
          scale: float, behind: Sequence[Value] = ()) -> list[Value]:
    """Calls attention or its backward; ``behind``: out, lse and dout of the backward op."""
    if is_causal and query.shape[-2] != key.shape[-2]:
        seen = _seen_from_the_first(b, query.shape[-2], key.shape[-2])
        mask, is_causal = seen if mask is None else b.select(seen, mask, b.constant(-math.inf, mask.dtype)), False
    given = _Operands(b, query, key, value, mask)
    operands, segments = [given.query, given.key, given.value, *behind], [1] * (3 + len(behind)) + [0] * (6 if behind else 5)
    for place, each in ((-5, given.bias), (-4, given.mask)):
        if each is not None:
            segments[place] = 1
            operands.append(each)
    attributes = {"operandSegmentSizes": f"array<i32: {', '.join(map(str, segments))}>", "scale": floating(scale)}
    if rate:
        attributes["rate"] = floating(rate)
    if is_causal:
        attributes["causal"] = "unit"
    q, k, v = given.query, given.key, given.value
    rows = (q.shape[:3], compute_type(q.dtype))
    results = [(each.shape, each.dtype) for each in (q, k, v)] if behind else [((*q.shape[:3], v.shape[-1]), q.dtype), rows]
    return b.emit(name, operands, results, attributes, draws=bool(rate))


def attend(b: Builder, query: Value, key: Value, value: Value, mask: Value | None, rate: float, is_causal: bool,
           scale: float | None, shape: tuple[int, ...]) -> list[Value]:
    """Returns the result and the logarithms of sums; a float mask is a bias, a mask of i1 a mask."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    out, lse = _call(b, "attention", query, key, value, mask, rate, is_causal, scale)
    return [b.reshape(out, shape), b.reshape(lse, shape[:-1])]


@converts(torch.ops.reprise.attention.default)
def attention(b: Builder, node: Any, query: Value, key: Value, value: Value, mask: Value | None, rate: float,
              is_causal: bool, scale: float) -> Value:
    return attend(b, query, key, value, mask, rate, is_causal, scale, shape_of(node))[0]


@converts(aten._scaled_dot_product_flash_attention_for_cpu.default)
def flash_attention(b: Builder, node: Any, query: Value, key: Value, value: Value, rate: float = 0.0,
                    is_causal: bool = False, *, attn_mask: Value | None = None, scale: float | None = None) -> list[Value]:
    return attend(b, query, key, value, attn_mask, rate, is_causal, scale, shape_of(node, 0))


@converts(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def flash_attention_backward(b: Builder, node: Any, gradient: Value, query: Value, key: Value, value: Value, out: Value,
                             lse: Value, rate: float, is_causal: bool, *, attn_mask: Value | None = None,
                             scale: float | None = None) -> list[Value]:
    """Gradients that the program itself asks for, as by torch.func.grad."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    behind = [out, b.cast(lse, compute_type(query.dtype)), b.cast(gradient, query.dtype)]
    return _call(b, "attention_backward", query, key, value, attn_mask, rate, is_causal, scale, behind)


@converts(aten.scaled_dot_product_attention.default)
def scaled_attention(b: Builder, node: Any, query: Value, key: Value, value: Value, mask: Value | None = None,
                     rate: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
                     enable_gqa: bool = False) -> Value:
    return attend(b, query, key, value, mask, rate, is_causal, scale, shape_of(node))[0]
