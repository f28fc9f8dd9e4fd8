"""Places of programs: the CPU, or a GPU, where memory and stream are PyTorch's (docs/explanation/PyTorchOnGpus.md)."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterable, Iterator

import torch

from .. import _run
from .._compile import Program
from .._errors import Error, UsageError
from ._seam.core import tree_leaves
from ._whole_errors import Unsupported, source_line
from ._whole_functional import Functional

CPU = torch.device("cpu")
#: Multiple of bytes at which a program's operands lie.
ALIGNMENT = 64


class Place:
    """Device of a program: its runs, and the tensors that they read and write. This class is the CPU, where each run has
    an arena of its own."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def __str__(self) -> str:
        return str(self.device)

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Returns the options of the compiler for this device."""
        if str(options.get("target") or "").startswith("cuda"):
            raise UsageError(f"target {str(options['target'])!r} is for GPUs, and the model's tensors are on the CPU: move the model and "
                             "its inputs by .cuda()")
        return options

    def make_run(self, program: Program) -> _run.Run:
        """Returns a new run of a program."""
        return _run.Run(program, threads=torch.get_num_threads())

    def entered(self) -> contextlib.AbstractContextManager[Any]:
        """Makes the device the current one."""
        return contextlib.nullcontext()

    def lend(self, run: _run.Run) -> "Loan | None":
        """Gives a run the memory of a step; None if a run has its own."""
        return None

    def placed(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a dense tensor where a run can read it."""
        return tensor


class _GpuRun(_run.Run):
    """Run on a GPU. The driver's current device is as before when the run is gone."""

    def __init__(self, program: Program, device: torch.device) -> None:
        self._entered = torch.cuda.device(device)
        super().__init__(program, device=str(device), memory="caller")

    def __del__(self) -> None:
        with self._entered:
            self._run = None


class Loan:
    """Memory of a step from PyTorch's allocator, and the stream that the step runs on."""

    def __init__(self, run: _run.Run, device: torch.device) -> None:
        self._stream = torch.cuda.current_stream(device)
        self._memory = torch.empty(run.memory_bytes, dtype=torch.uint8, device=device)
        self._give(run, self._stream)

    def _give(self, run: _run.Run, stream: Any) -> None:
        run.set_memory(self._memory.data_ptr(), self._memory.numel(), stream.cuda_stream)

    def follow(self, run: _run.Run) -> None:
        """Lets the second part of the step run on the current stream, behind the first part."""
        stream = torch.cuda.current_stream(self._memory.device)
        if stream != self._stream:
            stream.wait_stream(self._stream)
            self._memory.record_stream(stream)
        self._give(run, stream)


class Gpu(Place):
    """GPU of PyTorch. A step takes its arena from PyTorch's allocator and runs on PyTorch's current stream, which nobody
    waits for."""

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        target = options.get("target")
        if target is None:
            major, minor = torch.cuda.get_device_capability(self.device)
            return {**options, "target": f"cuda:sm_{major}{minor}"}
        if not str(target).startswith("cuda"):
            raise UsageError(f"target {str(target)!r} is no GPU, and the model's tensors are on {self.device}: leave the target out, or "
                             "give one such as cuda:sm_90")
        return options

    def make_run(self, program: Program) -> _run.Run:
        return _GpuRun(program, self.device)

    def entered(self) -> contextlib.AbstractContextManager[Any]:
        return torch.cuda.device(self.device)

    def lend(self, run: _run.Run) -> Loan:
        return Loan(run, self.device)

    def placed(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device != self.device:
            if tensor.ndim:
                raise Error(f"a tensor of shape {list(tensor.shape)} is on {tensor.device}, and its step is on {self.device}")
            # A number of the host, as eager code takes it. Its copy has left the host's memory when the call returns.
            tensor = tensor.to(self.device)
        return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()


@functools.lru_cache(maxsize=None)
def place_of(device: torch.device) -> Place:
    """Returns the place of a device."""
    return Gpu(device) if device.type == "cuda" else Place(device)


def _places(values: Iterable[Any]) -> Iterator[tuple[torch.device, Any]]:
    """Yields the devices of values of a graph, and the nodes. Numbers of the CPU may be anywhere."""
    for node in values:
        for each in tree_leaves(getattr(node, "meta", {}).get("val")):
            if isinstance(each, torch.Tensor) and each.device.type != "meta" and (each.ndim or each.device.type != "cpu"):
                yield each.device, node


def find_place(functional: Functional) -> Place:
    """Returns the device of a graph: that of its arguments and outputs, and else that of what it computes.

    Values between them are computed there, whatever device they name.
    """
    found: dict[torch.device, Any] = {}
    for device, node in _places([*functional.primals, *functional.outputs]):
        found.setdefault(device, node)
    if len(found) > 1:
        names = " and ".join(sorted(map(str, found)))
        raise Unsupported({f"tensors on {names} in one graph: move the arguments to one device before": list(map(source_line, found.values()))})
    for device, _ in () if found else _places(functional.module.graph.nodes):
        found.setdefault(device, None)
    devices = sorted(found, key=lambda device: (device.type != "cuda", device.index or 0))
    return place_of(devices[0] if devices else CPU)
