"""Private names of process groups: the store through which ranks meet."""

from __future__ import annotations

import datetime
import time
from typing import Any

import torch.distributed as distributed


class Store:
    """Key-value store of the default process group."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def set(self, name: str, text: str) -> None:
        self._store.set(name, text)

    def wait(self, name: str, deadline: float) -> str | None:
        """Returns a text, or None if nobody sets it before the deadline."""
        try:
            self._store.wait([name], datetime.timedelta(seconds=max(0.01, deadline - time.monotonic())))
            return self._store.get(name).decode()
        except RuntimeError:
            return None


def store() -> Store | None:
    """Returns the store, or None if this process is alone or its group has none."""
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return None
    try:
        from torch.distributed.distributed_c10d import _get_default_store as get_default_store
        found = get_default_store()
    except (ImportError, LookupError, ValueError):
        return None
    return Store(found) if found is not None else None
