"""Defines operators that represent, in PyTorch's graphs, ops that AOTAutograd would split or lose."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from ._seam.core import BelowAutograd

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
    """Broadcasts dimensions of size 1, and absent ones; heads of keys and values may be fewer than those of queries."""
    heads = _heads(q) if _heads(q) > 1 else max(_heads(k), _heads(v))
    lead = torch.broadcast_shapes(*(each.shape[:-3] for each in (q, k, v)))
    whole = (*lead, heads) if max(each.dim() for each in (q, k, v)) > 2 else ()
    return q.new_empty(*whole, q.shape[-2], v.shape[-1])


def _keep_attention(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:4])
    ctx.options = inputs[4:]


def _attention_gradients(context: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """Returns the gradients of PyTorch's ops: autograd is asked only for paths, since the dialect's derivative is
    compiled."""
    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):
        points = [each if each is None else each.view_as(each) for each in context.saved_tensors]
        wanted = [each for each in points if each is not None and each.requires_grad]
        made = iter(torch.autograd.grad(_attention(*points, *context.options), wanted, g, create_graph=True))
    return *(next(made) if each is not None and each.requires_grad else None for each in points), None, None, None


torch.library.register_autograd("reprise::attention", _attention_gradients, setup_context=_keep_attention, lib=_library)


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
    with BelowAutograd():
        return torch.ops.reprise.stop_gradient(x)
