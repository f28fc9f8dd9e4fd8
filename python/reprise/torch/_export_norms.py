"""Exports batch norms with cumulative averages (``momentum=None``), so that a graph can hold them.

PyTorch divides by the number of batches as a number of Python, which depends on a buffer.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Iterator

import torch
import torch.nn.functional as F

from ._seam.core import BatchNorm
from ._whole_untraced import traceable


def _is_cumulative(module: torch.nn.Module) -> bool:
    return (isinstance(module, BatchNorm) and type(module).forward is BatchNorm.forward and module.momentum is None
            and module.training and module.track_running_stats and module.num_batches_tracked is not None)


@traceable
def _forward(module: BatchNorm, x: torch.Tensor) -> torch.Tensor:
    module._check_input_dim(x)
    module.num_batches_tracked.add_(1)
    # A momentum of 1 gives the statistics of this batch.
    mean, variance = torch.zeros_like(module.running_mean), torch.zeros_like(module.running_var)
    y = F.batch_norm(x, mean, variance, module.weight, module.bias, True, 1.0, module.eps)
    share = 1.0 / module.num_batches_tracked.to(mean.dtype)
    with torch.no_grad():
        module.running_mean.copy_(module.running_mean * (1 - share) + mean * share)
        module.running_var.copy_(module.running_var * (1 - share) + variance * share)
    return y


@contextlib.contextmanager
def averages_by_tensors(model: torch.nn.Module) -> Iterator[None]:
    """Makes such norms read their shares of the average from the buffer, until the end of the context."""
    changed = [module for module in model.modules() if _is_cumulative(module) and "forward" not in vars(module)]
    for module in changed:
        module.forward = functools.partial(_forward, module)
    try:
        yield
    finally:
        for module in changed:
            del module.forward
