"""Operators that stand in PyTorch's graphs for what AOTAutograd would take apart or lose, and for compiled steps."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

_library = torch.library.Library("reprise", "FRAGMENT")
_library.define("attention(Tensor q, Tensor k, Tensor v, Tensor? mask, float rate, bool causal, float scale) -> Tensor",
                tags=(torch.Tag.pt2_compliant_tag,))
_library.define("attention_backward(Tensor g, Tensor q, Tensor k, Tensor v, Tensor? mask)"
                " -> (Tensor, Tensor, Tensor, Tensor)")
_library.define("stop_gradient(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


@torch.library.impl(_library, "attention", "CompositeExplicitAutograd")
def _attention(q: Any, k: Any, v: Any, mask: Any, rate: float, causal: bool, scale: float) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask, rate, causal, scale=scale, enable_gqa=q.shape[-3] != k.shape[-3])


@torch.library.register_fake("reprise::attention", lib=_library)
def _attention_shape(q: Any, k: Any, v: Any, mask: Any, rate: float, causal: bool, scale: float) -> torch.Tensor:
    return q.new_empty(*q.shape[:-1], v.shape[-1])


@torch.library.register_fake("reprise::attention_backward", lib=_library)
def _attention_backward_shape(g: Any, q: Any, k: Any, v: Any, mask: Any) -> tuple[torch.Tensor, ...]:
    has_gradient = mask is not None and mask.is_floating_point()
    return (torch.empty_like(q), torch.empty_like(k), torch.empty_like(v),
            torch.empty_like(mask) if has_gradient else q.new_empty(()))


def _attention_gradient(context: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """Only its shapes count: the backward half of the joint graph is not used."""
    dq, dk, dv, dmask = torch.ops.reprise.attention_backward(g, *context.saved_tensors)
    return dq, dk, dv, dmask if context.needs_input_grad[3] else None, None, None, None


torch.library.register_autograd(
    "reprise::attention", _attention_gradient, lib=_library,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:4]))


@torch.library.impl(_library, "stop_gradient", "CompositeExplicitAutograd")
def _stop_gradient(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.register_fake("reprise::stop_gradient", lib=_library)
def _stop_gradient_shape(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


torch.library.register_autograd("reprise::stop_gradient", lambda context, g: None, lib=_library)
