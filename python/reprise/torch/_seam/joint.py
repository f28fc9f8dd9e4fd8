"""Private names of AOTAutograd's partitioners: the joint graph and the two graphs that are made of it."""

import contextlib
import types
from typing import Any, Iterator

from torch._functorch import config
from torch._functorch._aot_autograd.descriptors import (InputMutationAOTOutput, SavedForBackwardsAOTOutput,
                                                        SavedForBackwardsNoVcCheckAOTOutput)
from torch._functorch._aot_autograd.graph_compile import collect_bw_donated_buffer_idxs as find_given
from torch._functorch.aot_autograd import aot_module_simplified
from torch._functorch.partitioners import _extract_fwd_bwd_outputs as extract_outputs
from torch._functorch.partitioners import _extract_graph_with_inputs_outputs as extract_graph
from torch._functorch.partitioners import _is_backward_state as is_backward_state
from torch._functorch.partitioners import _is_bwd_seed_offset as is_backward_seed
from torch._functorch.partitioners import _is_fwd_seed_offset as is_forward_seed
from torch._functorch.partitioners import _is_primal as is_primal
from torch._functorch.partitioners import _is_tangent as is_tangent
from torch._functorch.partitioners import (classify_nodes, cleanup_recompute_tags, default_partition, force_save_bw_mutation_src,
                                           force_save_collectives, force_save_effectful_ops, has_recomputable_ops, raise_getitems,
                                           thread_graphsafe_rng_from_hops)
from torch._guards import TracingContext


@contextlib.contextmanager
def giving(forward: Any, backward: Any, num_fwd_outputs: int) -> Iterator[None]:
    """Tells Inductor within this context which saved values the backward pass may overwrite. AOTAutograd tells that only
    behind the partition."""
    context, told = TracingContext.try_get(), None
    if context is not None and config.donated_buffer:
        saved = slice(num_fwd_outputs, None)
        told = find_given(forward, backward, types.SimpleNamespace(
            num_forward=num_fwd_outputs, tensors_saved_for_backwards_slice=saved, num_symints_saved_for_bw=0))
    before = context and context.fw_metadata
    try:
        if context is not None:
            context.fw_metadata = types.SimpleNamespace(bw_donated_idxs=told)
        yield
    finally:
        if context is not None:
            context.fw_metadata = before


__all__ = ["InputMutationAOTOutput", "SavedForBackwardsAOTOutput", "SavedForBackwardsNoVcCheckAOTOutput", "aot_module_simplified",
           "classify_nodes", "cleanup_recompute_tags", "config", "default_partition", "extract_graph", "extract_outputs",
           "force_save_bw_mutation_src", "force_save_collectives", "force_save_effectful_ops", "giving", "has_recomputable_ops",
           "is_backward_seed", "is_backward_state", "is_forward_seed", "is_primal", "is_tangent", "raise_getitems",
           "thread_graphsafe_rng_from_hops"]
