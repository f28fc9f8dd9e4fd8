"""Private names of process groups: the store through which ranks meet."""

from __future__ import annotations

import datetime
from typing import Any, Callable

import torch.distributed as distributed


class Store:
    """Key-value store of the default process group. If the process that keeps the store has ended, names are not set."""

    def __init__(self, shared: Any, rank: int, size: int) -> None:
        self.shared, self.rank, self.size, self.is_lost = shared, rank, size, False
        #: Seconds within which the ranks of the group have to meet.
        self.timeout = shared.timeout.total_seconds()

    def _call(self, function: Callable, *arguments: Any) -> Any:
        """Returns the result of a function of the store; None if it fails."""
        try:
            return function(*arguments)
        except distributed.DistNetworkError:
            self.is_lost = True
        except RuntimeError:
            pass
        return None

    def set(self, name: str, text: str) -> None:
        self._call(self.shared.set, name, text)

    def add(self, name: str, number: int) -> int:
        """Adds to a number, which begins as 0; returns the sum."""
        return self._call(self.shared.add, name, number) or 0

    def wait(self, name: str, seconds: float) -> str | None:
        """Returns a text, or None if nobody sets it within some seconds."""
        return self._call(self._get, name, datetime.timedelta(seconds=seconds))

    def _get(self, name: str, span: datetime.timedelta) -> str:
        self.shared.wait([name], span)
        return self.shared.get(name).decode()


def store() -> Store | None:
    """Returns the store, or None if this process is alone or its group has none."""
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return None
    try:
        from torch.distributed.distributed_c10d import _get_default_store as get_default_store
        found = get_default_store()
    except (ImportError, LookupError, ValueError):
        return None
    return None if found is None else Store(found, distributed.get_rank(), distributed.get_world_size())
