"""Lets ranks that run the same step plan with one table. They meet in the store of the process group, where no rank
waits long for an answer that may never come."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Sequence

from . import _plan_cache as cache
from ._seam import ranks
from ._step_joint import Row, merge

#: Seconds that a rank waits for the tables of others.
PATIENCE = 10.0
#: Number of each step among the recorded steps of this process, by its key.
_numbers: dict[str, int] = {}
_count = 0
#: Ranks whose recorded steps were others, or which were late. Nobody waits for them again.
_strangers: set[int] = set()


def key_of(*parts: object) -> str:
    """Returns the key of a step: equal on ranks that run the same one."""
    return cache.key(*parts)[:32]


def _name(number: int, rank: int | str) -> str:
    return f"reprise/step/{number}/{rank}"


def _write(key: str, rows: Sequence[Sequence[Row]]) -> str:
    return json.dumps([key, [[dataclasses.astuple(row) for row in each] for each in rows]])


def _read(text: str | None, key: str) -> list[list[Row]] | None:
    """Returns the table of a step; None for another step."""
    found, rows = json.loads(text) if text else (None, [])
    if found != key:
        return None
    return [[Row(kind, graph, level, tuple(map(tuple, waiting))) for kind, graph, level, waiting in each] for each in rows]


def _merge(tables: Sequence[Sequence[Sequence[Row]]]) -> list[list[Row]]:
    """Returns the highest rows of several tables, order by order."""
    return [merge([row for each in orders for row in each]) for orders in zip(*tables)]


def publish(key: str, rows: Sequence[Sequence[Row]]) -> None:
    """Gives the other ranks the table of a recorded step: the rows of each order."""
    global _count
    store = ranks.store()
    if store:
        _numbers[key] = _count
        _count += 1
        store.set(_name(_numbers[key], store.rank), _write(key, rows))


def share(key: str, rows: list[list[Row]]) -> list[list[Row]]:
    """Returns the table of all ranks that run the same step: rank 0 merges their tables."""
    store = ranks.store()
    if store is None or key not in _numbers:
        return rows
    deadline, number = time.monotonic() + PATIENCE, _numbers[key]

    def ask(rank: int, name: int | str, until: float) -> list[list[Row]] | None:
        found = None if rank in _strangers else _read(store.wait(_name(number, name), until), key)
        if found is None:
            _strangers.add(rank)
        return found

    if store.rank == 0:
        tables = [ask(rank, rank, deadline) for rank in range(1, store.size)]
        rows = _merge([rows, *(each for each in tables if each)])
        store.set(_name(number, "merged"), _write(key, rows))
        return rows
    merged = ask(0, 0, deadline) and ask(0, "merged", deadline + PATIENCE)
    return _merge([rows, merged]) if merged else rows
