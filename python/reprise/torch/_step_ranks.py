"""Lets ranks that run the same step plan with one table. They meet in the store of the process group, where no rank
waits long for an answer that may never come."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
import weakref
from typing import Iterator, Sequence

from . import _plan_cache as cache
from ._seam import ranks
from ._step_joint import Row, merge

#: Seconds without a sign of another rank, behind which nobody waits for it.
PATIENCE = 10.0
#: Seconds between two signs, and between two looks at the signs of another rank.
PACE = 1.0
#: Added to the count of signs: by a sign, and at each end of a compilation. So an odd count means a compilation.
SIGN, EDGE = 2, 1


def key_of(*parts: object) -> str:
    """Returns the key of a step: equal on ranks that run the same one."""
    return cache.key(*parts)[:32]


def _name(number: int, rank: int | str) -> str:
    return f"reprise/step/{number}/{rank}"


def _signs(rank: int) -> str:
    return f"reprise/signs/{rank}"


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


@dataclasses.dataclass(eq=False)
class Known:
    """Facts that a process keeps about its group."""

    #: Number of each step among the recorded steps of this process, by its key.
    numbers: dict[str, int] = dataclasses.field(default_factory=dict)
    count: int = 0
    #: Ranks whose recorded steps were others, or which gave no sign. Nobody waits for them again.
    strangers: set[int] = dataclasses.field(default_factory=set)
    #: Time of the last sign.
    signed: float = 0.0


@dataclasses.dataclass(frozen=True)
class Meeting:
    """Place where the ranks of one process group exchange their tables."""

    store: ranks.Store
    known: Known

    def sign(self) -> None:
        """Tells the other ranks that this one goes on, at most once per `PACE`."""
        if time.monotonic() - self.known.signed >= PACE:
            self.store.add(_signs(self.store.rank), SIGN)
            self.known.signed = time.monotonic()

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """Tells the other ranks that this one compiles, which takes long and ends without them."""
        self.store.add(_signs(self.store.rank), EDGE)
        try:
            yield
        finally:
            self.store.add(_signs(self.store.rank), EDGE)

    def publish(self, key: str, rows: Sequence[Sequence[Row]]) -> None:
        """Gives the other ranks the table of a recorded step: the rows of each order."""
        self.known.numbers[key] = self.known.count
        self.known.count += 1
        self.store.set(_name(self.known.numbers[key], self.store.rank), _write(key, rows))

    def share(self, key: str, rows: list[list[Row]]) -> list[list[Row]]:
        """Returns the table of all ranks that run the same step: rank 0 merges their tables."""
        if key not in self.known.numbers:
            return rows
        store, number = self.store, self.known.numbers[key]
        if store.rank == 0:
            wait = Wait(self, range(1, store.size))
            tables = [self._ask(wait, rank, _name(number, rank), key) for rank in range(1, store.size)]
            rows = _merge([rows, *(each for each in tables if each)])
            store.set(_name(number, "merged"), _write(key, rows))
            return rows
        wait = Wait(self, [0])
        merged = self._ask(wait, 0, _name(number, 0), key) and self._ask(wait, 0, _name(number, "merged"), key)
        return _merge([rows, merged]) if merged else rows

    def _ask(self, wait: "Wait", rank: int, name: str, key: str) -> list[list[Row]] | None:
        found = None if rank in self.known.strangers else _read(wait.text(rank, name), key)
        if found is None:
            self.known.strangers.add(rank)
        return found


class Wait:
    """Wait for texts of other ranks, as long as these give signs. A rank that waits for a collective gives none, so that
    two ranks never wait for each other. The timeout of the process group ends every wait."""

    def __init__(self, meeting: Meeting, others: Sequence[int]) -> None:
        self.meeting, self.store = meeting, meeting.store
        self.end = time.monotonic() + self.store.timeout
        #: For each rank, the count of its signs, and the time when it was new.
        self.seen = {rank: (self._count(rank), time.monotonic()) for rank in others}

    def _count(self, rank: int) -> int:
        return self.store.add(_signs(rank), 0)

    def _is_silent(self, rank: int) -> bool:
        count, since = self.seen[rank]
        now = self._count(rank)
        if now != count or now % 2:
            self.seen[rank] = now, time.monotonic()
        return time.monotonic() - self.seen[rank][1] >= PATIENCE

    def text(self, rank: int, name: str) -> str | None:
        """Returns the text that a rank sets; None if the rank gives no sign."""
        while time.monotonic() < self.end:
            self.meeting.sign()
            found = self.store.wait(name, min(PACE, PATIENCE))
            if found is not None or self.store.is_lost or self._is_silent(rank):
                return found
        return None


#: Facts about each group, by its store.
_known: "weakref.WeakKeyDictionary[object, Known]" = weakref.WeakKeyDictionary()


def meeting() -> Meeting | None:
    """Returns the meeting of this process's ranks; None if the process is alone."""
    store = ranks.store()
    return None if store is None else Meeting(store, _known.setdefault(store.shared, Known()))


def compiling() -> contextlib.AbstractContextManager:
    """Tells the other ranks within this context that this one compiles."""
    found = meeting()
    return found.compiling() if found else contextlib.nullcontext()


def sign() -> None:
    """Tells the other ranks that this one goes on with a step."""
    if found := meeting():
        found.sign()


def publish(key: str, rows: Sequence[Sequence[Row]]) -> None:
    """Gives the other ranks the table of a recorded step."""
    if found := meeting():
        found.publish(key, rows)


def share(key: str, rows: list[list[Row]]) -> list[list[Row]]:
    """Returns the table of all ranks that run the same step."""
    found = meeting()
    return found.share(key, rows) if found else rows
