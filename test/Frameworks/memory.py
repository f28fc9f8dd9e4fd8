"""Requests to the CPU's allocator during a step, by the memory events of PyTorch's profiler.

The profiler runs without Kineto. It then keeps events in their order instead of by time. With Kineto, a change of the
machine's clock would drop events that seem to lie outside of the run.
"""
from itertools import chain

from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState, _disable_profiler_legacy, _enable_profiler_legacy


def measure_peak(step):
    """The highest sum of bytes that are allocated from the start of a step on."""
    _enable_profiler_legacy(ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, _ExperimentalConfig()))
    try:
        step()
    finally:
        records = _disable_profiler_legacy()
    live = peak = 0
    for event in chain.from_iterable(records):
        if event.kind() == "memory_alloc":
            live += event.cpu_memory_usage()
            peak = max(peak, live)
    return peak
