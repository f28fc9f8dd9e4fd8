"""Expands single ops that PyTorch uses in evaluation to the ops that it uses in training."""

from __future__ import annotations

import torch
import torch.nn.functional as F

aten = torch.ops.aten
Tensor = torch.Tensor


def _heads(x: Tensor, count: int) -> Tensor:
    """[batch, positions, heads · columns] as [batch, heads, positions, columns]."""
    return x.unflatten(-1, (count, x.shape[-1] // count)).transpose(1, 2)


def _seen(mask: Tensor | None, kind: int | None) -> Tensor | None:
    """Returns the mask of keys; nonzero elements hide a key: of pairs [queries, keys], of keys [batch, keys], or of all
    four dimensions."""
    if mask is None:
        return None
    seen = mask == 0
    return seen[:, None, None] if kind == 1 else seen


def _project(tensors: tuple[Tensor, Tensor, Tensor], heads: int, weight: Tensor, bias: Tensor) -> list[Tensor]:
    weights, biases = weight.chunk(3), bias.chunk(3)
    return [_heads(F.linear(each, *own), heads) for each, own in zip(tensors, zip(weights, biases))]


def _attend(query: Tensor, key: Tensor, value: Tensor, seen: Tensor | None) -> Tensor:
    scale = query.shape[-1] ** -0.5
    return torch.ops.reprise.attention(query, key, value, seen, 0.0, False, scale).transpose(1, 2).flatten(2)


def native_multi_head_attention(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_head: int, qkv_weight: Tensor,
                                qkv_bias: Tensor, proj_weight: Tensor, proj_bias: Tensor, mask: Tensor | None = None,
                                need_weights: bool = True, average_attn_weights: bool = True,
                                mask_type: int | None = None) -> tuple[Tensor, Tensor | None]:
    q, k, v = _project((query, key, value), num_head, qkv_weight, qkv_bias)
    seen = _seen(mask, mask_type)
    if not need_weights:
        return F.linear(_attend(q, k, v, seen), proj_weight, proj_bias), None
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)
    weights = torch.softmax(scores if seen is None else scores.masked_fill(~seen, -torch.inf), -1)
    out = F.linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    return out, weights.mean(1) if average_attn_weights else weights


def transformer_encoder_layer(src: Tensor, embed_dim: int, num_heads: int, qkv_weight: Tensor, qkv_bias: Tensor, proj_weight: Tensor,
                              proj_bias: Tensor, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Tensor,
                              norm_bias_1: Tensor, norm_weight_2: Tensor, norm_bias_2: Tensor, ffn_weight_1: Tensor,
                              ffn_bias_1: Tensor, ffn_weight_2: Tensor, ffn_bias_2: Tensor, mask: Tensor | None = None,
                              mask_type: int | None = None) -> Tensor:
    def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.layer_norm(x, (embed_dim,), weight, bias, eps)

    def mix(x: Tensor) -> Tensor:
        q, k, v = _project((x, x, x), num_heads, qkv_weight, qkv_bias)
        return F.linear(_attend(q, k, v, _seen(mask, mask_type)), proj_weight, proj_bias)

    def feed(x: Tensor) -> Tensor:
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), ffn_weight_2, ffn_bias_2)

    if norm_first:
        src = src + mix(norm(src, norm_weight_1, norm_bias_1))
        return src + feed(norm(src, norm_weight_2, norm_bias_2))
    src = norm(src + mix(src), norm_weight_1, norm_bias_1)
    return norm(src + feed(src), norm_weight_2, norm_bias_2)


#: Functions by the ops that they replace.
FAST_PATHS = {aten._transformer_encoder_layer_fwd.default: transformer_encoder_layer,
              aten._native_multi_head_attention.default: native_multi_head_attention}
