"""backend="reprise_plan" on CUDA, as far as a machine without a GPU can test it: measurements of the workspace of
ops.

`utils/cuda-allocator/check.py` compares whole steps with PyTorch's allocator for CUDA.
"""
import contextlib
from unittest import mock

import checks
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from reprise.torch import _plan_backend
from reprise.torch import _plan_nodes as nodes
from reprise.torch import _plan_workspace as workspace

KEPT, SCRATCH, OPERAND = 32 << 20, 1000, 4096


class Allocator:
    """Fake of the figures of `torch.cuda.memory_stats`, of which an op of the test allocates some."""

    def __init__(self):
        self.live = self.peak = 0

    def take(self, size):
        self.live += size
        self.peak = max(self.peak, self.live)

    def reset(self, device=None):
        self.peak = self.live

    def stats(self, device=None):
        return {"requested_bytes.all.current": self.live, "requested_bytes.all.peak": self.peak}


allocator = Allocator()
calls = []


@torch.library.custom_op("test::keeps", mutates_args=())
def keeps(x: torch.Tensor) -> torch.Tensor:
    """Fake op of a library that keeps its first workspace, as cuBLAS does, and allocates scratch each time."""
    allocator.take(0 if calls else KEPT)
    calls.append(x)
    result = x.clone()
    allocator.take(result.untyped_storage().nbytes() + SCRATCH)
    allocator.take(-result.untyped_storage().nbytes() - SCRATCH)
    return result


keeps.register_fake(lambda x: torch.empty_like(x))
SEED, seeds = 77, []


@torch.library.custom_op("test::draws", mutates_args=())
def draws(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.clone(), torch.tensor(SEED)


@torch.library.custom_op("test::draws_backward", mutates_args=())
def draws_backward(x: torch.Tensor, philox_seed: torch.Tensor) -> torch.Tensor:
    seeds.append(int(philox_seed))
    return x.clone()


draws.register_fake(lambda x: (torch.empty_like(x), torch.empty((), dtype=torch.int64)))
draws_backward.register_fake(lambda x, philox_seed: torch.empty_like(x))
arguments = workspace._real_arguments


def allocated_arguments(node):
    """Allocates the made-up operands, too."""
    for each in arguments(node):
        allocator.take(OPERAND)
        yield each
        allocator.take(-OPERAND)


def try_workspace():
    graph = make_fx(lambda x: keeps(x) + 1, tracing_mode="fake")(torch.ones(16, 16)).graph
    op, = graph.find_nodes(op="call_function", target=torch.ops.test.keeps.default)
    with mock.patch.object(workspace, "_real_arguments", allocated_arguments), \
            mock.patch.object(torch.cuda, "memory_stats", allocator.stats), \
            mock.patch.object(torch.cuda, "reset_peak_memory_stats", allocator.reset):
        peaks = workspace._measure_cuda({"keeps": op})
    checks.check("neither operands nor what a library keeps are part of an op's workspace",
                 workspace._conclude(op, *peaks["keeps"]).workspace == SCRATCH, str(peaks))
    checks.check("an op is measured when its library is ready", len(calls) == 2)


def try_states():
    """Checks the device of attention's random state: PyTorch's fake results say GPU, but the backward reads it on the
    host."""
    graph = make_fx(lambda x: draws_backward(x, draws(x)[1]), tracing_mode="fake")(torch.ones(4)).graph
    op, = graph.find_nodes(op="call_function", target=torch.ops.test.draws_backward.default)
    checks.check("the state that a backward reads is what its forward made", workspace.run(op, "states") and seeds == [SEED], str(seeds))
    made_up = make_fx(draws_backward, tracing_mode="fake")(torch.ones(4), torch.ones((), dtype=torch.int64)).graph
    op, = made_up.find_nodes(op="call_function", target=torch.ops.test.draws_backward.default)
    checks.check("an op whose state nothing made is not run", not workspace.run(op, "states") and len(seeds) == 1)


def try_blocks():
    sizes = [nodes.block_bytes(size, torch.device("cuda", 1)) for size in (0, 1, 512, 513)]
    checks.check("the allocator for CUDA gives blocks of 512 bytes", sizes == [0, 512, 512, 1024], str(sizes))
    with torch._subclasses.FakeTensorMode():
        tensor = torch.empty(129, device="cuda")
    checks.check("a tensor on a GPU takes whole blocks", nodes.storage_bytes(tensor) == 1024)


def try_generators():
    """Checks that a replay draws from the generator of its own GPU, which need not be the current one."""
    with torch._subclasses.FakeTensorMode():
        x = torch.empty(8, device=torch.device("cuda", 1))
    current = []

    @contextlib.contextmanager
    def device(chosen):
        current.append(chosen)
        yield
        current.pop()

    def draw(*arguments, **named):
        return list(current)
    with mock.patch.object(torch.cuda, "device", device):
        found = [_plan_backend._on_own_device(draw)(*each, **named) for each, named in (
            ((torch.empty(16), "an op", x), {}), (("an op", [2]), {"device": torch.device("cuda", 1)}), ((torch.empty(16), "an op"), {}))]
    checks.check("the state of a random op is that of its own GPU's generator",
                 found == [[torch.device("cuda", 1)], [torch.device("cuda", 1)], []], str(found))


def main():
    try_generators()
    try_workspace()
    try_states()
    try_blocks()
    checks.finish()


if __name__ == "__main__":
    main()
