"""Lets ranks that run the same step plan with one table, by the store of the process group, in which no rank waits for
an answer that may never come."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Sequence

from . import _plan_cache as cache
from ._seam import ranks
from ._step_joint import Row, merge

#: Seconds that a rank waits for tables of others.
PATIENCE = 10.0
PREFIX = "reprise/step"
#: Number of shared tables by the key of their step: a program may train an equal model again.
_rounds: dict[str, int] = {}


def _name(*parts: object) -> str:
    return "/".join(map(str, (PREFIX, *parts)))


def announce(graph: str) -> None:
    """Tells the other ranks that this rank has a graph."""
    store = ranks.store()
    if store:
        store.set(_name("graph", graph, store.rank), "1")
        store.set(_name("some", store.rank), "1")


def publish(key: str, rows: Sequence[Sequence[Row]]) -> None:
    """Gives the other ranks the table of a step: the rows of each order."""
    store = ranks.store()
    if store:
        store.set(_name(key, _rounds.get(key, 0), store.rank), json.dumps([[dataclasses.astuple(row) for row in each] for each in rows]))


def _may_run(store: ranks.Store, rank: int, graphs: Sequence[str]) -> bool:
    """Returns whether a rank may run a step of these graphs: it has one of them, or has not compiled any graph yet."""
    return not store.has([_name("some", rank)]) or any(store.has([_name("graph", each, rank)]) for each in graphs)


def _read(text: str) -> list[list[Row]]:
    return [[Row(kind, graph, level, tuple(map(tuple, waiting))) for kind, graph, level, waiting in each] for each in json.loads(text)]


def _merge(tables: Sequence[Sequence[Sequence[Row]]]) -> list[list[Row]]:
    """Returns the highest rows of several tables, order by order."""
    return [merge([row for each in orders for row in each]) for orders in zip(*tables)]


def share(key: str, graphs: Sequence[str], rows: list[list[Row]]) -> list[list[Row]]:
    """Returns the table of all ranks that run the same step with the same graphs: rank 0 merges their tables."""
    store = ranks.store()
    if store is None:
        return rows
    publish(key, rows)
    place = (key, _rounds.get(key, 0))
    _rounds[key] = place[1] + 1
    deadline = time.monotonic() + PATIENCE
    merged = _name(*place, "merged")
    if store.rank == 0:
        others = [rank for rank in range(1, store.size) if _may_run(store, rank, graphs)]
        texts = [store.wait(_name(*place, rank), deadline) for rank in others]
        rows = _merge([rows, *(_read(each) for each in texts if each)])
        store.set(merged, json.dumps([[dataclasses.astuple(row) for row in each] for each in rows]))
        return rows
    if not _may_run(store, 0, graphs):
        return rows
    text = store.wait(merged, deadline + PATIENCE)
    return _merge([rows, _read(text)]) if text else rows


def key_of(*parts: object) -> str:
    """Returns the key of a step: equal on ranks that run the same one."""
    return cache.key(*parts)[:32]
