"""Makes writes to outputs that are views of saved values PyTorch's error, as in eager code.

PyTorch's compiled functions hide such a view behind ``aten._unsafe_view``, which has its own version counter: the
backward pass would silently read the overwritten value. Here the saved value gets the counter of the output.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import torch


def _watched(saved: Any, outputs: Mapping[int, torch.Tensor]) -> Any:
    """Returns the saved tensor as a view of the output in the same memory, if there is one of its element type."""
    output = outputs.get(saved.untyped_storage()._cdata) if type(saved) is torch.Tensor else None
    if output is None or output.dtype != saved.dtype:
        return saved
    return output.detach().as_strided(saved.size(), saved.stride(), saved.storage_offset())


def share_versions(context: Any, views: Sequence[Any]) -> None:
    """Gives saved values the version counters of the results that are views of them."""
    outputs = {each.untyped_storage()._cdata: each for each in views if type(each) is torch.Tensor}
    if outputs and context.to_save:
        context.save_for_backward(*(_watched(each, outputs) for each in context.to_save))
