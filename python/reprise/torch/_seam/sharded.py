"""Private names of FSDP2 and of tensor subclasses: what sharded modules hold beside their shards, and inner tensors."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Iterator

import torch

from .core import is_traceable_wrapper_subclass, tree_leaves

_STATES = "torch.distributed.fsdp._fully_shard._fsdp_state"


def plain(values: Iterable[Any]) -> Iterator[Any]:
    """Yields values with the inner tensors of subclasses in their places, in AOTAutograd's order."""
    for each in values:
        if isinstance(each, torch.Tensor) and is_traceable_wrapper_subclass(each):
            names, _ = each.__tensor_flatten__()
            yield from plain(getattr(each, name) for name in names)
        else:
            yield each


def _states() -> list[Any]:
    """Returns the states of all modules that FSDP2 shards in this process."""
    if _STATES not in sys.modules:
        return []
    from torch.distributed._composable_state import _module_state_mapping
    found = [each for value in list(_module_state_mapping.values()) for each in tree_leaves([value])]
    made = [each() if callable(each) else each for each in found]
    return list({id(each): each for each in made if isinstance(each, sys.modules[_STATES].FSDPState)}.values())


def _groups(state: Any) -> list[Any]:
    groups = getattr(state, "_fsdp_param_groups", None)
    return list(groups) if groups is not None else [each for each in [state._fsdp_param_group] if each is not None]


def _held_by_group(group: Any) -> Iterator[Any]:
    """Yields tensors of one group of parameters: gathered ones, and buffers."""
    yield getattr(group._all_gather_result, "all_gather_output", None)
    yield getattr(group, "_partial_reduce_output", None)
    for each in group.fsdp_params:
        yield from each.all_gather_outputs
        yield from getattr(each, "_unsharded_inner_tensors", ())
        yield getattr(each, "_sharded_post_forward_param_data", None)
        yield getattr(each, "unsharded_accumulated_grad", None)
        yield getattr(getattr(each, "sharded_param", None), "grad", None)


def held() -> list[torch.Tensor]:
    """Returns the tensors that FSDP2 holds in memory now: gathered parameters, buffers of collectives, and gradients of
    shards."""
    found: list[Any] = []
    for state in _states():
        context = state._comm_ctx
        gathered = getattr(getattr(context, "all_gather_state", None), "all_gather_result", None)
        found.append(getattr(gathered, "all_gather_output", None))
        states = getattr(context, "reduce_scatter_states", None) or [getattr(context, "reduce_scatter_state", None)]
        found += [getattr(each, "reduce_scatter_input", None) for each in states]
        for group in _groups(state):
            found += _held_by_group(group)
    return [each for each in plain(found) if isinstance(each, torch.Tensor) and each.layout is torch.strided]
