"""Compiled programs and their runs on PyTorch's memory."""

from __future__ import annotations

import hashlib
import threading
import weakref
from typing import Any, Sequence

import torch

from .. import _compile, _run
from ._whole_text import Text
from .aten._builder import WIDENED

#: By text and options, as long as a graph has them.
_programs: "weakref.WeakValueDictionary[str, Entry]" = weakref.WeakValueDictionary()


def _as_argument(tensor: torch.Tensor) -> torch.Tensor:
    """What a run can be bound to: dense, of a type of the dialect; bf16 by its bits."""
    tensor = tensor.detach()
    if tensor.dtype in WIDENED:
        tensor = tensor.to(WIDENED[tensor.dtype])
    tensor = tensor.contiguous()
    return tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor


class Entry:
    """A program of one entry function. Its results are new tensors, which its code has written."""

    def __init__(self, text: Text, **options: Any) -> None:
        self.program = _compile.compile(text.text, entry=text.entry, threads=torch.get_num_threads(), name="torch", **options)
        self.arguments = [name for name, _ in text.arguments]
        self.results = [(name, value.shape, value.dtype) for name, value in text.results]
        self.draws = text.draws
        self._runs: list[_run.Run] = []
        self._lock = threading.Lock()

    def __call__(self, tensors: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
        """One step; ``tensors`` are as many as ``arguments``."""
        with self._lock:
            run = self._runs.pop() if self._runs else _run.Run(self.program, threads=torch.get_num_threads())
        held = [_as_argument(tensor) for tensor in tensors]
        results = [torch.empty(shape, dtype=dtype) for _, shape, dtype in self.results]
        for name, tensor in zip(self.arguments, held):
            run.bind(name, tensor)
        for (name, _, _), tensor in zip(self.results, results):
            run.bind(name, _as_argument(tensor))
        run._run.set_state(seed, 0, 0)
        run.start(1)
        run.step()
        with self._lock:
            self._runs.append(run)
        return results


def compile_entry(text: Text, **options: Any) -> Entry:
    """Equal texts with equal options are compiled once; options that are callables are equal to themselves."""
    key = hashlib.sha256(f"{text.text}\0{sorted((k, repr(v)) for k, v in options.items())}"
                         f"\0{torch.get_num_threads()}".encode()).hexdigest()
    entry = _programs.get(key)
    if entry is None:
        entry = _programs[key] = Entry(text, **options)
    return entry
