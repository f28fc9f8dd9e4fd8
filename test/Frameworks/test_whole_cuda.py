"""backend="reprise" on CUDA, as far as PyTorch for the CPU can test it: steps in lent memory on the emulated driver, and
devices of graphs.

`utils/gpu-check/whole.py --emulator` runs whole steps with PyTorch's CUDA build.
"""
import ctypes
import os
import subprocess
import sys
from unittest import mock

import checks
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from whole import compiled, error_of, run_parts

import reprise
from reprise import _core
from reprise.torch import _whole_place as places
from reprise.torch import _whole_step as steps
from reprise.torch import graphs

BUILD = os.environ["REPRISE_BUILD"]
CUDA = torch.device("cuda", 0)
CODES = {torch.float32: (2, 32), torch.int64: (0, 64), torch.bool: (6, 8)}


class Driver:
    """Memory and streams of the emulated driver."""

    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code:
            self._library.repriseEmulatorLastError.restype = ctypes.c_char_p
            raise RuntimeError(f"{name}: {code}: {self._library.repriseEmulatorLastError()}")

    def allocate(self, count):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(count, 1)))
        return address.value

    def upload(self, tensor):
        """Returns an array on the GPU with the content of a tensor."""
        size = tensor.numel() * tensor.element_size()
        address = self.allocate(size)
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(size))
        return address, _core.wrap(address, *CODES[tensor.dtype], list(tensor.shape), 0)

    def download(self, address, like):
        made = torch.empty_like(like)
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(made.data_ptr()), ctypes.c_uint64(address),
                  ctypes.c_size_t(made.numel() * made.element_size()))
        return made

    def make(self, name):
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), 1)
        return handle


def record_step(model, *inputs):
    """Returns the arguments, the results and the seed of a step on the CPU, and its text."""
    given, made, seeds = {}, {}, []
    lend, start = steps.Entry.lend, steps.start

    def recorded(self, run, names, tensors):
        for name, tensor in zip(names, tensors):
            is_result = any(name == each for each, _ in self.results)
            (made if is_result else given)[name] = tensor.detach() if is_result else tensor.detach().clone()
        return lend(self, run, names, tensors)

    def started(run, seed):
        seeds.append(seed)
        start(run, seed)

    with mock.patch.object(steps.Entry, "lend", recorded), mock.patch("reprise.torch._whole_pause.start", started):
        torch.manual_seed(3)
        compiled(model, budget="100%")(*inputs).backward()
    return given, made, seeds[0], graphs()[-1].texts[0]


def run_emulated(waits):
    """Runs a step with dropout in lent memory: its forward pass on one stream, its backward pass on another, in two
    places."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 4))
    given, made, seed, text = record_step(lambda x: model(x).square().mean(), torch.randn(5, 6))
    driver = Driver()
    for target in ("cuda:sm_80+sm_90", "cuda:sm_90"):
        program = reprise.compile(text, entry="step", name="torch", target=target, budget="70%")
        run = reprise.Run(program, device="cuda:0", memory="caller")
        checks.check("the memory has room for the arena", run.memory_bytes >= program.report.arena_bytes)
        memory, streams, event = driver.allocate(run.memory_bytes), [driver.make("cuStreamCreate") for _ in range(2)], driver.make("cuEventCreate")
        kept = {name: driver.upload(tensor) for name, tensor in {**given, **{name: each * 0 for name, each in made.items()}}.items()}
        run.set_memory(memory, run.memory_bytes, streams[0].value)
        for name in kept:
            if not name.startswith(("cotangent/", "gradient/")):
                run.lend(name, kept[name][1])
        steps.start(run, seed)
        run.begin_step()
        if waits:
            driver.call("cuEventRecord", event, streams[0])
            driver.call("cuStreamWaitEvent", streams[1], event, 0)
        run.set_memory(memory, run.memory_bytes, streams[1].value)
        for name in kept:
            if name.startswith(("cotangent/", "gradient/")):
                run.lend(name, kept[name][1])
        run.end_step()
        for stream in streams:
            driver.call("cuStreamSynchronize", stream)
        for name, tensor in made.items():
            checks.check(f"{name} has the bits of the CPU ({target})", torch.equal(driver.download(kept[name][0], tensor), tensor))
    checks.finish()


def try_emulated():
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "gpu-emulator"), "REPRISE_EMULATED_ORDER": "backwards"}
    for mode in ("waits", "forgets"):
        done = subprocess.run([sys.executable, __file__, mode], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if mode == "waits":
            checks.check("a step runs in lent memory and on two streams", done.returncode == 0 and "12 passed, 0 failed" in done.stdout, done.stdout)
        else:
            checks.check("its parts run on these streams: a missing wait is found", done.returncode and "wait" in done.stdout, done.stdout)


class Graph:
    """Functional graph of a function, for devices only."""

    def __init__(self, function, *inputs):
        self.module = make_fx(function, tracing_mode="fake")(*inputs)
        self.primals = self.module.graph.find_nodes(op="placeholder")
        made = self.module.graph.find_nodes(op="output")[0].args[0]
        self.outputs = list(made) if isinstance(made, (tuple, list)) else [made]


def fake(*shape, device=CUDA):
    with FakeTensorMode():
        return torch.empty(*shape, device=device)


def place_of_fakes(function, *devices):
    """Returns the place of a graph whose arguments, of two dimensions or of none, are on devices."""
    mode = FakeTensorMode()
    with mode:
        inputs = [torch.empty((2, 2) if has_elements else (), device=device) for device, has_elements in devices]
        return places.find_place(Graph(function, *inputs))


def try_devices():
    second = torch.device("cuda", 1)
    checks.check("a graph of the CPU", place_of_fakes(lambda x: x + 1, ("cpu", True)).device == places.CPU)
    found = place_of_fakes(lambda x, y: x * y, (second, True), ("cpu", False))
    checks.check("a graph of a GPU with a number of the CPU", isinstance(found, places.Gpu) and found.device == second)
    checks.check("a graph without arguments has the device of its values",
                 place_of_fakes(lambda: torch.ones(2, device=second)).device == second)
    checks.check("values in between may be elsewhere", place_of_fakes(lambda x: (x.cpu() + 1).to(second), (second, True)).device == second)
    for name, function, devices in (("arguments", lambda x, y: (x + 1, y + 1), ((CUDA, True), ("cpu", True))),
                                    ("results", lambda x: x.cpu(), ((CUDA, True),)),
                                    ("GPUs", lambda x, y: (x + 1, y + 1), ((CUDA, True), (second, True)))):
        told = error_of(place_of_fakes, function, *devices)
        checks.check(f"{name} on two devices are an error", "in one graph: move the arguments to one device" in told, told)


def try_targets():
    gpu = places.place_of(CUDA)
    with mock.patch.object(torch.cuda, "get_device_capability", lambda device: (12, 0)):
        checks.check("the target is that of the GPU", gpu.options({"budget": 1}) == {"budget": 1, "target": "cuda:sm_120"})
    checks.check("a given target stays", gpu.options({"target": "cuda:sm_80"}) == {"target": "cuda:sm_80"})
    told = error_of(gpu.options, {"target": "x86-64-v3"})
    checks.check("a target of a CPU is an error", "'x86-64-v3' is no GPU, and the model's tensors are on cuda:0" in told, told)
    model = torch.nn.Linear(2, 2)
    told = error_of(compiled(model, target="cuda:sm_90"), torch.ones(2, 2))
    checks.check("a target of a GPU is an error on the CPU", "move the model and its inputs by .cuda()" in told, told)
    told = error_of(gpu.placed, torch.ones(2))
    checks.check("a tensor of another device is an error", "a tensor of shape [2] is on cpu, and its step is on cuda:0" in told, told)


class Stream:
    """Fake stream that records waits."""

    def __init__(self, number):
        self.cuda_stream, self.waits = number, []

    def wait_stream(self, other):
        self.waits.append(other.cuda_stream)


class LentRun:
    """Fake run that records its memory."""

    memory_bytes = 640

    def __init__(self):
        self.given = []

    def set_memory(self, address, size, stream):
        self.given.append((address, size, stream))


def try_loans():
    run, streams, marked = LentRun(), [Stream(7), Stream(8)], []
    with mock.patch.object(torch.cuda, "current_stream", lambda device: streams[0]):
        loan = places.Loan(run, places.CPU)
        loan.follow(run)
    address = loan._memory.data_ptr()
    checks.check("a step takes PyTorch's memory and stream", run.given == [(address, 640, 7)] * 2 and not streams[0].waits)
    with mock.patch.object(torch.cuda, "current_stream", lambda device: streams[1]), \
            mock.patch.object(torch.Tensor, "record_stream", lambda self, stream: marked.append(stream.cuda_stream)):
        loan.follow(run)
    checks.check("another stream waits for the first one, and the memory is marked",
                 run.given[-1] == (address, 640, 8) and streams[1].waits == [7] and marked == [8])


def main():
    if sys.argv[1:]:
        run_emulated(sys.argv[1] == "waits")
    run_parts(try_devices, try_targets, try_loans, try_emulated)


if __name__ == "__main__":
    main()
