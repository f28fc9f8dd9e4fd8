"""Private names of FSDP2 and of tensor subclasses: what sharded modules hold beside their shards, and inner tensors."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Iterator

import torch

from .core import is_traceable_wrapper_subclass, tree_leaves
from .patches import SHARDED

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
    states = list({id(each): each for each in made if isinstance(each, sys.modules[_STATES].FSDPState)}.values())
    for each in SHARDED if states else ():
        each.check()
    return states


def _read(owner: Any, *names: str) -> Any:
    """Returns the first of some attributes that is there; None if FSDP2 sets it later. Raises an Error about a class that
    has none of them."""
    for name in names:
        if hasattr(owner, name):
            return getattr(owner, name)
    if any(name in getattr(type(owner), "__annotations__", ()) for name in names):
        return None
    raise SHARDED[0].refuse(f"has a {type(owner).__name__} without {' or '.join(names)}")


def _groups(state: Any) -> list[Any]:
    groups = _read(state, "_fsdp_param_groups", "_fsdp_param_group")
    return [each for each in (groups if isinstance(groups, list) else [groups]) if each is not None]


def _held_by_group(group: Any) -> Iterator[Any]:
    """Yields tensors of one group of parameters: gathered ones, and buffers."""
    if gathered := _read(group, "_all_gather_result"):
        yield _read(gathered, "all_gather_output")
    yield _read(group, "_partial_reduce_output")
    if reduced := _read(group, "_all_reduce_state"):
        yield _read(reduced, "all_reduce_input")
    for each in _read(group, "fsdp_params"):
        yield from _read(each, "all_gather_outputs") or ()
        yield from _read(each, "_unsharded_inner_tensors") or ()
        yield _read(each, "_sharded_post_forward_param_data")
        yield _read(each, "unsharded_accumulated_grad")
        yield _read(each, "sharded_param").grad


def _held_by_context(context: Any) -> Iterator[Any]:
    """Yields buffers that groups share; none before FSDP2's first forward pass, which sets their places."""
    if not vars(context):
        return
    if gathered := _read(context, "all_gather_state"):
        yield _read(gathered.all_gather_result, "all_gather_output")
    states = _read(context, "reduce_scatter_states", "reduce_scatter_state")
    for each in states if isinstance(states, list) else [states]:
        yield each and _read(each, "reduce_scatter_input")


def held() -> list[torch.Tensor]:
    """Returns the tensors that FSDP2 holds in memory now: gathered parameters, buffers of collectives, and gradients of
    shards."""
    found: list[Any] = []
    for state in _states():
        found += _held_by_context(_read(state, "_comm_ctx"))
        for group in _groups(state):
            found += _held_by_group(group)
    return [each for each in plain(found) if isinstance(each, torch.Tensor) and each.layout is torch.strided]
