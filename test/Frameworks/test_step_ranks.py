"""Ranks meet in the store of a process group: they wait for a rank that goes on, and for no other one."""
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import checks
import torch.distributed as dist

from reprise.torch import _step_ranks as ranks
from reprise.torch._seam.ranks import Store
from reprise.torch._step_joint import Row

#: Seconds that stand for `PATIENCE` and `PACE`; and those of a rank that is late.
PATIENCE, PACE, LATE = 0.5, 0.05, 1.5


def rows_of(level):
    return [[Row("program", None, level, ((0, 1),))]]


def share_all(acts, store=None):
    """Runs one thread for each rank; returns the bytes of the table that each one plans with."""
    store = store or dist.HashStore()

    def run(rank):
        meeting = ranks.Meeting(Store(store, rank, len(acts)), ranks.Known())
        key = acts[rank](meeting)
        meeting.publish(key, rows_of(100 + rank))
        return meeting.share(key, rows_of(100 + rank))[0][0].level
    with mock.patch.multiple(ranks, PATIENCE=PATIENCE, PACE=PACE), ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, range(len(acts))))


def early(meeting):
    """Records the step at once."""
    return "step"


def other(meeting):
    """Records another step."""
    return "another"


def silent(meeting):
    """Waits for something else, such as a collective, and then records the step."""
    time.sleep(LATE)
    return "step"


def busy(meeting):
    """Records the step later, and signs meanwhile."""
    end = time.monotonic() + LATE
    while time.monotonic() < end:
        meeting.sign()
        time.sleep(PACE / 2)
    return "step"


def compiling(meeting):
    """Records the step later, because it compiles."""
    with meeting.compiling():
        time.sleep(LATE)
    return "step"


def failing(meeting):
    """Fails to compile, and is silent then."""
    with contextlib.suppress(ValueError), meeting.compiling():
        raise ValueError
    return silent(meeting)


class Lost:
    """Store whose process has ended."""

    def __init__(self):
        self.timeout, self.calls = dist.HashStore().timeout, 0

    def wait(self, *ignored):
        self.calls += 1
        raise dist.DistNetworkError("lost")

    set = add = wait


def try_meetings():
    """Checks which ranks plan with one table."""
    for acts, expected in [((early, early), [101, 101]), ((early, busy), [101, 101]), ((busy, early), [101, 101]),
                           ((early, compiling), [101, 101]), ((compiling, early), [101, 101]), ((early, silent), [100, 101]),
                           ((early, failing), [100, 101]), ((early, other), [100, 101]), ((other, early), [100, 101]),
                           ((early, early, compiling), [102, 102, 102]), ((early, silent, busy), [102, 102, 102])]:
        found = share_all(acts)
        checks.check(f"{', '.join(each.__name__ for each in acts)}: tables", found == expected, f"{found}, expected {expected}")


def try_ends():
    """Checks that no wait lasts forever."""
    store = Lost()
    checks.check("a lost store", share_all((early, early), store) == [100, 101] and store.calls < 20, f"{store.calls} calls")
    store = dist.HashStore()
    store.set_timeout(dist.HashStore().timeout * 0.002)
    meeting = ranks.Meeting(Store(store, 1, 2), ranks.Known())
    with mock.patch.multiple(ranks, PATIENCE=PATIENCE, PACE=PACE), meeting.compiling():
        first = ranks.Meeting(Store(store, 0, 2), ranks.Known())
        first.publish("step", rows_of(100))
        checks.check("the timeout of the group ends a wait", first.share("step", rows_of(100)) == rows_of(100))


def main():
    try_meetings()
    try_ends()
    checks.finish()


if __name__ == "__main__":
    main()
