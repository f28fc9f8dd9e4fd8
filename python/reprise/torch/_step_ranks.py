"""Makes all ranks of a process group plan the same step."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import torch.distributed as distributed

Content = TypeVar("Content")


def agree(decide: Callable[[], Content]) -> Content:
    """Returns what rank 0 decides, on all ranks."""
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return decide()
    held: list[Any] = [decide() if distributed.get_rank() == 0 else None]
    distributed.broadcast_object_list(held, src=0)
    return held[0]
