"""Gauges the allocator during a step: by the memory events of PyTorch's profiler on a CPU, by its statistics on CUDA.

The profiler sees the blocks of its own thread. On a CPU, a thread of the process group may free a buffer. So the count
of all threads is read at each mark, and what the profiler has missed is corrected there.
"""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import torch
from torch.autograd import ProfilerConfig, ProfilerState
from torch.profiler import record_function

from ._seam import allocator, logs
from ._seam.core import ExperimentalConfig, disable_profiler, enable_profiler

MARK = "reprise: mark of a step"


class CpuGauge:
    """Reader of the CPU's allocator. It counts from its start: between marks the blocks of the calling thread."""

    def start(self) -> bool:
        """Returns whether the profiler could be started: a thread has one, which may be the user's."""
        try:
            enable_profiler(ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, ExperimentalConfig()))
        except RuntimeError:
            return False
        # PyTorch warns of the first block that is freed and was allocated before. Such blocks are expected here.
        self._level = logs.exchange_level(logs.ERROR)
        self._count = allocator.count()
        if self._count:
            self._count.switch(True)
            self._before = self._count.bytes()
        #: Bytes that all threads hold at each mark.
        self._held: list[int] = []
        return True

    def mark(self) -> None:
        """Marks a moment."""
        with record_function(MARK):
            pass
        self._read()

    def _read(self) -> None:
        if self._count:
            self._held.append(self._count.bytes() - self._before)

    def stop(self) -> list[tuple[int, int]]:
        """Returns, for each mark and for the end, the bytes that are held, and the most since the mark before."""
        self._read()
        if self._count:
            self._count.switch(False)
        events = disable_profiler()
        logs.exchange_level(self._level)
        # Each thread has events of its own. A thread of the process group has some if it works for a marked one.
        own = next((each for each in events if any(map(_is_mark, each))), ())
        return list(_correct(_read_events(own), self._held))


def _is_mark(event: Any) -> bool:
    return event.kind() == "push" and event.name() == MARK


def _read_events(events: Iterable[Any]) -> Iterable[tuple[int, int]]:
    live = peak = 0
    for each in events:
        if _is_mark(each):
            yield live, peak
            peak = live
        elif each.kind() == "memory_alloc":
            live += each.cpu_memory_usage()
            peak = max(peak, live)
    yield live, peak


def _correct(found: Iterable[tuple[int, int]], held: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Yields the bytes of one thread with what other threads have allocated and freed. Nobody knows when they did so
    between two marks, so that the peak has the more of both marks."""
    if not held:
        yield from found
        return
    before = 0
    for (live, peak), now in zip(found, held, strict=True):
        missed = now - live
        yield now, peak + max(before, missed)
        before = missed


class CudaGauge:
    """Reader of the caching allocator of the current GPU. Only the bytes at marks are known: its peak is the user's to
    reset."""

    def start(self) -> bool:
        self.before, self.marks = torch.cuda.memory_allocated(), list[int]()
        return True

    def mark(self) -> None:
        self.marks.append(torch.cuda.memory_allocated() - self.before)

    def stop(self) -> list[tuple[int, int]]:
        self.mark()
        return [(now, max(now, before)) for before, now in zip([0, *self.marks], self.marks)]


Gauge = CpuGauge | CudaGauge
