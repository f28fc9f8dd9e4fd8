"""Gauges the allocator during a step: by the memory events of PyTorch's profiler on a CPU, by its statistics on CUDA."""

from __future__ import annotations

import itertools
from typing import Any, Iterable

import torch
from torch.autograd import ProfilerConfig, ProfilerState
from torch.profiler import record_function

from ._seam import logs
from ._seam.core import ExperimentalConfig, disable_profiler, enable_profiler

MARK = "reprise: mark of a step"


class CpuGauge:
    """Reader of the CPU's allocator in the calling thread. It counts from its start."""

    def start(self) -> bool:
        """Returns whether the profiler could be started: a thread has one, which may be the user's."""
        try:
            enable_profiler(ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, ExperimentalConfig()))
        except RuntimeError:
            return False
        # PyTorch warns of the first block that is freed and was allocated before. Such blocks are expected here.
        self._level = logs.exchange_level(logs.ERROR)
        return True

    def mark(self) -> None:
        """Marks a moment."""
        with record_function(MARK):
            pass

    def stop(self) -> list[tuple[int, int]]:
        """Returns, for each mark and for the end, the bytes that are held, and the most since the mark before."""
        events = disable_profiler()
        logs.exchange_level(self._level)
        return list(_read(itertools.chain.from_iterable(events)))


def _read(events: Iterable[Any]) -> Iterable[tuple[int, int]]:
    live = peak = 0
    for each in events:
        kind = each.kind()
        if kind == "push" and each.name() == MARK:
            yield live, peak
            peak = live
        elif kind == "memory_alloc":
            live += each.cpu_memory_usage()
            peak = max(peak, live)
    yield live, peak


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
