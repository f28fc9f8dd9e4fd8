"""Makes writes to outputs that are views of saved values PyTorch's error, as in eager code.

PyTorch's compiled functions hide such a view behind ``aten._unsafe_view``, which has its own version counter: the
backward pass would silently read the overwritten value. Here the saved value gets the counter of the output.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Sequence

import torch

from ._seam.wrappers import ForwardEpilogue


def _watched(saved: Any, outputs: Mapping[int, torch.Tensor]) -> Any:
    """Returns the saved tensor as a view of the output in the same memory, if there is one of its element type."""
    output = outputs.get(saved.untyped_storage()._cdata) if type(saved) is torch.Tensor else None
    if output is None or output.dtype != saved.dtype:
        return saved
    return output.detach().as_strided(saved.size(), saved.stride(), saved.storage_offset())


class Epilogue(ForwardEpilogue):
    """The end of a forward pass. PyTorch gives each instance code of its own as ``finalize``."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, functools.partial(self._finish, value) if name == "finalize" else value)

    def _finish(self, finalize: Callable[..., tuple], context: Any, made: Sequence[Any]) -> tuple:
        returned = finalize(context, made)
        first = self.metadata.num_mutated_inp_runtime_indices
        views = [returned[first + each] for each in self.metadata.unsafe_view_out_indices]
        outputs = {each.untyped_storage()._cdata: each for each in views if type(each) is torch.Tensor}
        if outputs and context.to_save:
            context.save_for_backward(*(_watched(each, outputs) for each in context.to_save))
        return returned
