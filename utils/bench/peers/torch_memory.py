"""Prints the bytes that PyTorch keeps and needs, as one JSON line: torch_memory.py MODEL [THREADS].

{saved_eager, saved_compiled}: bytes kept for the backward pass, in distinct storages, without parameters, buffers and
inputs; compiled through the partitioner that torch.compile uses, at its default budget. {peak, peak_checkpointed}:
highest activations and temporaries of a forward and a backward pass by MemTracker, eager; the second with
torch.utils.checkpoint around each layer. {seconds, seconds_checkpointed}: of the two passes, medians.
"""

import json
import sys
import time

import torch
from models import make
from torch.distributed._tools.mem_tracker import MemTracker

REPEATS = 7


def saved_bytes(model, loss, inputs):
    storage = lambda tensor: tensor.untyped_storage().data_ptr()
    known = {storage(tensor) for tensor in (*model.parameters(), *model.buffers(), *inputs)}
    seen = {}

    def pack(tensor):
        if storage(tensor) not in known:
            seen[storage(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        value = loss(*inputs)
    value.backward()
    return sum(seen.values())


class PeakTracker(MemTracker):
    """Follows only activations and temporaries: MemTracker's own peak is that of the total, which gradients dominate
    late in the step."""

    highest = 0

    def __torch_dispatch__(self, *arguments, **named):
        result = super().__torch_dispatch__(*arguments, **named)
        kinds = self.get_tracker_snapshot("current").get(torch.device("cpu"), {})
        self.highest = max(self.highest, sum(count for kind, count in kinds.items() if getattr(kind, "name", "") in ("ACT", "TEMP")))
        return result


def peak_bytes(model, inputs):
    model.zero_grad(set_to_none=True)
    tracker = PeakTracker()
    tracker.track_external(model, *inputs)
    with tracker:
        model(*inputs).backward()
    return tracker.highest


def seconds(model, inputs):
    times = []
    for _ in range(REPEATS):
        model.zero_grad(set_to_none=True)
        start = time.perf_counter()
        model(*inputs).backward()
        times.append(time.perf_counter() - start)
    return sorted(times)[REPEATS // 2]


def main():
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    found = {}
    for suffix in ("", "_checkpointed"):
        model, inputs, _ = make(sys.argv[1])
        model.checkpoint = bool(suffix)
        found["seconds" + suffix] = seconds(model, inputs)
        found["peak" + suffix] = peak_bytes(model, inputs)
    model, inputs, _ = make(sys.argv[1])
    found["saved_eager"] = saved_bytes(model, model, inputs)
    compiled = torch.compile(model, backend="aot_eager_decomp_partition")
    found["saved_compiled"] = saved_bytes(model, compiled, inputs)
    print(json.dumps(found | {"version": torch.__version__}))


main()
