"""Hooks by which PyTorch's tensor parallel layers change the placements of their inputs and outputs."""

from __future__ import annotations

import torch


def drop_placement_hooks(model: torch.nn.Module) -> None:
    """Removes the hooks of ``parallelize_module`` and ``distribute_module``, for a model of whole tensors."""
    for module in model.modules():
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            for key, hook in list(hooks.items()):
                if str(getattr(hook, "__module__", "")).startswith("torch.distributed.tensor"):
                    del hooks[key]
