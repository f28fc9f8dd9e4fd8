"""What the CPU's allocator is asked for during a step, by the profiler's memory events."""
from torch.profiler import ProfilerActivity, profile


def measure_peak(step):
    """The highest sum of bytes that are allocated from the start of a step on."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler:
        step()
    events = profiler.profiler.kineto_results.events()
    live = peak = 0
    for _, size in sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"):
        live += size
        peak = max(peak, live)
    return peak
