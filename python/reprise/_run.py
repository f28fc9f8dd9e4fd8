"""Runs: steps on arrays of the caller."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Mapping

import numpy

from . import _core
from ._compile import Bundle, Program, load


class Result:
    """Result of a run."""

    def __init__(self, losses: list[float], arrays: dict[str, Any], state: dict[str, int], hash: str) -> None:
        #: Result ``loss`` of each step; empty if there is none.
        self.losses = losses
        #: The results of the last step by name, copies.
        self.arrays = arrays
        #: Seed, offset and number of the next step.
        self.state = state
        #: Hash of all results, as reprise-run prints it.
        self.hash = hash

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]


class Run:
    """A program and its memory, step by step.

    Arrays are whatever has ``__dlpack__`` or a buffer: NumPy's, PyTorch's, CuPy's. bf16 may come as uint16.
    """

    def __init__(self, program: Program | Bundle | str | bytes | os.PathLike[str], *, threads: int | None = None,
                 device: str = "cpu", memory: str = "own", check_indices: bool = False) -> None:
        """``device`` is "cpu", "cuda" or "cuda:NUMBER". With ``memory="caller"`` a run on a GPU works in memory and on a
        stream of the caller: ``set_memory``."""
        if not isinstance(program, (Program, Bundle)):
            program = load(program)
        options = [("device", device), ("memory", memory), ("check-indices", "true" if check_indices else "false")]
        if threads is not None:
            options.append(("threads", str(threads)))
        #: Arguments, results and bytes (reprise_bundle_description).
        self.description = json.loads(program.bundle.description())
        self._types = {argument["name"]: argument["dtype"] for argument in self.description["arguments"]}
        self._device = device
        self._run = _core.make_run(program.bundle, options)

    def bind(self, name: str, array: Any) -> bool:
        """Makes the array the memory of an argument: steps read it in place, and update parameters and state in place.

        Every part of a step reads the array's address again, so its memory may move. Freed memory is an error. Returns
        False if the array must be copied, in and out around each step: it does not lie at a multiple of 64 bytes
        (``reprise.Run.empty`` makes arrays that do), or is not contiguous.
        """
        return self._run.bind(name, array, self._types.get(name) == "bf16")

    def lend(self, name: str, array: Any) -> None:
        """Binds an array that the caller keeps in place until the step, or the part of it that reads the array, has
        ended."""
        self._run.lend(name, array, self._types.get(name) == "bf16")

    def give(self, name: str, array: Any) -> None:
        """Gives an argument a copy. An input with one more leading dimension holds one value per step.

        An input is the whole batch, also for replicas: micro-batch m of M has the samples from ``m * (B // M) + min(m, B % M)``
        on, for any number of replicas."""
        self._run.give(name, array, self._types.get(name) == "bf16")

    @property
    def memory_bytes(self) -> int:
        """Bytes that ``set_memory`` takes; 0 for a run with memory of its own."""
        return self._run.memory_bytes()

    def set_memory(self, address: int, bytes: int, stream: int) -> None:
        """Lends memory and a stream of the GPU (a CUstream) to the next step, by their addresses.

        Steps only enqueue their work then, and all arguments are bound. Memory and arrays are the step's until the
        stream has done that work. The offset of the next step is not known: set the seed before each step.
        """
        self._run.set_memory(address, bytes, stream)

    @staticmethod
    def empty(shape: tuple[int, ...], dtype: Any) -> Any:
        """Returns a NumPy array that steps can use in place."""
        dtype = numpy.dtype(dtype)
        count = int(numpy.prod(shape, dtype=numpy.int64))
        memory = numpy.empty(count * dtype.itemsize + 64, numpy.uint8)
        start = -memory.ctypes.data % 64
        return memory[start:start + count * dtype.itemsize].view(dtype).reshape(shape)

    def set_names(self, path: str | os.PathLike[str]) -> None:
        """Reads names of tensors in .safetensors files, a JSON object of arrays and tensors, for later calls."""
        self._run.set_names(os.fspath(path))

    def give_folder(self, path: str | os.PathLike[str]) -> None:
        """Goes on from the output of an earlier run, or takes arrays from a folder, a .safetensors file or its index."""
        self._run.give_folder(os.fspath(path))

    def save_folder(self, path: str | os.PathLike[str], *, shard_bytes: int = 0, behind: bool = False) -> None:
        """Writes the results of the last step: a folder of .npy files, or one file if ``path`` ends with .safetensors.

        With ``shard_bytes`` the folder has .safetensors files of at most that size, and an index. With ``behind`` the
        results are copied, and written while later steps run; the next step, save or ``finish_save`` after the last
        write gives the folder its place, and raises what went wrong.
        """
        self._run.save_folder(os.fspath(path), shard_bytes, behind)

    def finish_save(self) -> None:
        """Waits for a save behind the steps."""
        self._run.finish_save()

    def start(self, steps: int, *, seed: int | None = None) -> None:
        """Initializes parameters and state, and checks that all arguments have values for the next ``steps`` steps."""
        if seed is not None:
            self._run.set_state(seed, *self._run.state()[1:])
        self._run.start(steps)

    def step(self) -> None:
        self._run.step()

    def begin_step(self) -> None:
        """Runs the first part of a step that has a pause; afterwards the early results exist.

        Late inputs may be bound or given until ``end_step``, and all others bound again. The next step, or
        ``begin_step``, abandons a begun step.
        """
        self._run.begin_step()

    def end_step(self) -> None:
        """Goes on from the pause to the end of the step."""
        self._run.end_step()

    @property
    def has_loss(self) -> bool:
        return any(result["name"] == "loss" and not result["shape"] for result in self.description["results"])

    @property
    def loss(self) -> float:
        return self._run.loss()

    @property
    def hash(self) -> str:
        """The hash of all results of the last step."""
        return self._run.hash()

    @property
    def state(self) -> dict[str, int]:
        """Returns seed, offset and number of the next step."""
        return dict(zip(("seed", "offset", "step"), self._run.state()))

    def view(self, name: str) -> Any:
        """Returns a read-only view of a result, valid until the next step; on a GPU an object with ``__dlpack__``."""
        return self._run.view(name)

    def take(self, name: str) -> Any:
        """Takes a result of a run on the CPU, as an array with ``__dlpack__`` that owns its memory: the pages of a large
        result are moved, not copied. The run has the result again after the next step."""
        return self._run.take(name)

    def result(self, name: str) -> Any:
        """A copy of a result, of a run on the CPU."""
        return numpy.array(self.view(name))


def run(program: Program | Bundle | str | bytes | os.PathLike[str], inputs: Mapping[str, Any] | None = None, *,
        steps: int = 1, seed: int | None = None, threads: int | None = None, device: str = "cpu",
        progress: Callable[[int, float | None], None] | None = None) -> Result:
    """Runs steps: ``inputs`` are copied, all other arguments have their initial values.

    ``progress`` is called with each step's number and loss. Ctrl-C ends the run behind a step.
    """
    own = Run(program, threads=threads, device=device)
    for name, array in (inputs or {}).items():
        own.give(name, array)
    own.start(steps, seed=seed)
    losses = []
    for number in range(steps):
        own.step()
        if own.has_loss:
            losses.append(own.loss)
        if progress:
            progress(number, losses[-1] if losses else None)
    names = [result["name"] for result in own.description["results"]] if device == "cpu" else []
    return Result(losses, {name: own.result(name) for name in names}, own.state, own.hash)
