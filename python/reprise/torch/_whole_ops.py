"""Operators that stand in PyTorch's graphs for what AOTAutograd would take apart or lose."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

_library = torch.library.Library("reprise", "FRAGMENT")
_library.define("attention(Tensor q, Tensor k, Tensor v, Tensor? mask, float rate, bool causal, float scale) -> Tensor",
                tags=(torch.Tag.pt2_compliant_tag,))
_library.define("stop_gradient(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


def _heads(x: torch.Tensor) -> int:
    return x.shape[-3] if x.dim() > 2 else 1


@torch.library.impl(_library, "attention", "CompositeExplicitAutograd")
def _attention(q: Any, k: Any, v: Any, mask: Any, rate: float, causal: bool, scale: float) -> torch.Tensor:
    is_grouped = any(1 < _heads(each) < _heads(q) for each in (k, v))
    return F.scaled_dot_product_attention(q, k, v, mask, rate, causal, scale=scale, enable_gqa=is_grouped)


@torch.library.register_fake("reprise::attention", lib=_library)
def _attention_shape(q: Any, k: Any, v: Any, mask: Any, rate: float, causal: bool, scale: float) -> torch.Tensor:
    """Dimensions of size 1 repeat, as those that are absent do; heads of keys and values may be fewer than those of queries."""
    heads = _heads(q) if _heads(q) > 1 else max(_heads(k), _heads(v))
    lead = torch.broadcast_shapes(*(each.shape[:-3] for each in (q, k, v)))
    whole = (*lead, heads) if max(each.dim() for each in (q, k, v)) > 2 else ()
    return q.new_empty(*whole, q.shape[-2], v.shape[-1])


def _no_gradient(context: Any, g: torch.Tensor) -> None:
    """Autograd only learns that there is one: the dialect's derivative is compiled."""
    raise NotImplementedError("the derivative of reprise::attention is that of the dialect")


torch.library.register_autograd("reprise::attention", _no_gradient, lib=_library)


@torch.library.impl(_library, "stop_gradient", "CompositeExplicitAutograd")
def _stop_gradient(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.register_fake("reprise::stop_gradient", lib=_library)
def _stop_gradient_shape(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_vmap("reprise::stop_gradient", lib=_library)
def _stop_gradients(info: Any, dims: Any, x: torch.Tensor) -> tuple[torch.Tensor, Any]:
    return torch.ops.reprise.stop_gradient(x), dims[0]


@torch.library.impl(_library, "stop_gradient", "Autograd")
def _without_gradient(x: torch.Tensor) -> torch.Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.reprise.stop_gradient(x)
