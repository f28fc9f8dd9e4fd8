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
from reprise.torch import _plan_hosts as hosts
from reprise.torch import _plan_nodes as nodes
from reprise.torch import _plan_prefetch as prefetch
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


class Stream:
    """Fake stream that writes what it is told to a log."""

    def __init__(self, name):
        self.name = name

    def wait_stream(self, other):
        log.append(f"{self.name} waits for {other.name}")

    def wait_event(self, event):
        log.append(f"{self.name} waits for {event.name}")

    def record_event(self):
        log.append(f"{self.name} records")
        return Event(f"{self.name}'s event")


class Event:
    """Fake event, which has not happened until ``is_done`` says so."""

    is_done = False

    def __init__(self, name):
        self.name = name

    def query(self):
        return self.is_done


log = []


def try_copies():
    """Checks the streams of copies between a GPU and its host."""
    device, current = torch.device("cuda", 0), Stream("PyTorch")
    names = iter(("back", "forth"))
    empty_strided = torch.empty_strided
    with mock.patch.object(torch.cuda, "Stream", lambda device: Stream(next(names))), \
            mock.patch.object(torch.cuda, "current_stream", lambda device: current), \
            mock.patch.object(torch.cuda, "stream", lambda stream: contextlib.nullcontext()), \
            mock.patch.object(torch, "empty_strided", lambda size, stride, dtype, device: empty_strided(size, stride, dtype=dtype)):
        host = torch.arange(6.0).view(2, 3)
        first, second = (hosts._from_host(host, device) for _ in range(2))
        checks.check("a copy begins behind PyTorch's work and the way to the host, and PyTorch does not wait",
                     log == ["back waits for PyTorch", "back waits for forth", "back records"] * 2 and torch.equal(first, host), str(log))
        log.clear()
        made = [hosts._arrive(second), hosts._arrive(first), hosts._arrive(first)]
        checks.check("a reader waits for its copy once", log == ["PyTorch waits for back's event"] * 2 and made[0] is second, str(log))
        hosts._from_host(host, device)
        Event.is_done = True
        hosts._from_host(host, device)
        checks.check("copies that nobody waits for are dropped when they have ended", len(hosts._ends) == 1)
    hosts._ends.clear()
    hosts._streams.clear()


class Moving:
    """Fake problem: forward ops 0 and 2, value 1 of which waits on the host, and backward ops 3 to 6, of one second each."""

    border = 3

    def __init__(self, seconds):
        self.operations = [mock.Mock(offloads=0 if place == 1 else None, cost=2 * seconds if place == 1 else 1) for place in range(7)]

    def sizes(self, operation):
        return [10]

    def seconds(self, operation):
        return operation.cost


def try_prefetch():
    """Checks where a copy back begins."""
    executions = [{"operation": place, "replay": 0, "sources": [place - 1] if place else []} for place in range(6)]
    executions += [{"operation": 1, "replay": 1, "sources": []}, {"operation": 6, "replay": 0, "sources": [5, 6]}]

    def begin(seconds, live):
        with mock.patch.object(prefetch, "list_live", lambda problem, executions: list(live)):
            made = prefetch.begin_early(Moving(seconds), executions)
        place = next(place for place, each in enumerate(made) if each["replay"])
        after = made.index(next(each for each in made if each["operation"] == 5))
        checks.check("readers find their operands", made[-1]["sources"] == [after, place] and made[after]["sources"] == [after - 1 - (place == after - 1)],
                     str(made))
        return place

    low = [50] * 8
    low[0] = 100
    checks.check("a copy begins as many seconds before its reader as it takes", [begin(each, low) for each in (0, 0.5, 2, 9)] == [6, 5, 4, 3])
    high = list(low)
    high[4] = 95
    checks.check("a copy does not begin where it would raise the peak", begin(9, high) == 5)


def main():
    try_copies()
    try_prefetch()
    try_generators()
    try_workspace()
    try_states()
    try_blocks()
    checks.finish()


if __name__ == "__main__":
    main()
