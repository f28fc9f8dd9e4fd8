"""Compiled programs and their runs on PyTorch's memory."""

from __future__ import annotations

import hashlib
import weakref
from typing import Any, Callable, Sequence

import torch

from .. import _compile, _run
from .._errors import Cancelled, Error, UsageError
from ._whole_callees import as_pair, own_errors
from ._whole_errors import Unsupported
from ._whole_place import Place
from ._whole_text import Text
from .aten import Value
from .aten._values import WIDENED

#: Budget of a program that gets its smallest plan.
SMALLEST = "smallest"
#: Programs by text and options, as long as a graph has them.
_programs: "weakref.WeakValueDictionary[str, Entry]" = weakref.WeakValueDictionary()


def _check_memory(tensor: torch.Tensor) -> None:
    """Raises an error for a tensor whose storage was freed or shrunk, as FSDP does between the passes."""
    if tensor.numel() == 0:
        return
    last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
    needed, held = (last + 1) * tensor.element_size(), tensor.untyped_storage().nbytes()
    if held < needed:
        raise Error(f"a tensor of shape {list(tensor.shape)} that the compiled step reads has {held:,} bytes of storage, "
                    f"{needed:,} are needed: its storage was freed or shrunk and not filled again")


def _as_argument(tensor: torch.Tensor, place: Place) -> torch.Tensor:
    """Returns a tensor that a run can be bound to: dense, of a type of the dialect; bf16 by its bits."""
    tensor = as_pair(tensor.detach())
    _check_memory(tensor)
    if tensor.dtype in WIDENED:
        tensor = tensor.to(WIDENED[tensor.dtype])
    tensor = place.placed(tensor.contiguous())
    return tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor


def text_options(text: Text) -> dict[str, Any]:
    """Returns the options of the compiler that belong to a text."""
    return {"entry": text.entry, "threads": torch.get_num_threads(), "name": "torch"}


def _compile_text(text: Text, **options: Any) -> _compile.Program:
    """Raises ``Unsupported`` for a text that the compiler refuses whatever the options are, so that no error of a verifier
    reaches a user who asked for a fallback."""
    given = text_options(text)
    if options.get("budget") == SMALLEST:
        return _compile.compile_least(text.text, 1, {**given, **options})[0]
    try:
        return _compile.compile_wish(text.text, **given, **options)
    except (Cancelled, UsageError):
        raise
    except Error as error:
        if error.least_budget is not None:
            raise
        try:
            _compile.compile(text.text, **given, estimate=True)
        except Error as refusal:
            place = f"{refusal.file}:{refusal.line}" if refusal.file and refusal.line else "an unknown place"
            raise Unsupported({f"what the compiler refuses: {refusal.message}": [place]}) from None
        raise


class Entry:
    """Program of one entry function. Its results are new tensors, which its code has written."""

    def __init__(self, text: Text, place: Place, **options: Any) -> None:
        self.text, self.place, self.program = text, place, _compile_text(text, **options)
        self.arguments = [name for name, _ in text.arguments]
        self.results, self._taken = text.results, text.taken
        self.draws = text.draws
        #: All runs, each with an arena.
        self.runs: "weakref.WeakSet[_run.Run]" = weakref.WeakSet()
        #: Idle runs. The list's atomic operations are enough as a lock.
        self._runs: list[_run.Run] = []

    def __call__(self, tensors: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
        """Runs one step; ``tensors`` are as many as ``arguments``."""
        with self.place.entered():
            run = self.take_run()
            loan = self.place.lend(run)
            held = self.lend(run, self.arguments, tensors)
            results = self.lent(run, self.results)
            start(run, seed)
            with own_errors():
                run.step()
            del held, loan
            made = results()
        self.give_run(run)
        return made

    @property
    def taken(self) -> int:
        """Bytes of arena and workspace of one run."""
        return self.program.report.arena_bytes + self.program.report.workspace_bytes

    def take_run(self) -> _run.Run:
        """Memory for a step."""
        try:
            return self._runs.pop()
        except IndexError:
            run = self.place.make_run(self.program)
            self.runs.add(run)
            return run

    def give_run(self, run: _run.Run) -> None:
        """Returns the run, which holds no tensor, for the next step."""
        self._runs.append(run)

    @property
    def idle(self) -> int:
        """Returns the number of runs whose memory waits for a next step."""
        return len(self._runs)

    def drop_runs(self) -> None:
        """Frees the memory that waits for next steps."""
        self._runs.clear()

    def lend(self, run: _run.Run, names: Sequence[str], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Binds tensors. The caller holds the result until the part of the step that reads it has ended."""
        held = [_as_argument(tensor, self.place) for tensor in tensors]
        for name, tensor in zip(names, held):
            run.lend(name, tensor)
        return held

    def lent(self, run: _run.Run, results: Sequence[tuple[str, Value]]) -> Callable[[], list[torch.Tensor]]:
        """Returns a function that returns the results behind the part of the step that computes them: new tensors,
        which the step writes, or memory of the arena that it leaves to them."""
        names = [name for name, _ in results]
        if self._taken and names == [name for name, _ in self.results[-self._taken:]]:
            return lambda: _as_said([torch.from_dlpack(run.take(name)) for name in names], results)
        made = [torch.empty(value.shape, dtype=value.dtype, device=self.place.device) for _, value in results]
        self.lend(run, names, made)
        return lambda: _as_said(made, results)


def _as_said(tensors: Sequence[torch.Tensor], results: Sequence[tuple[str, Value]]) -> list[torch.Tensor]:
    """Returns complex tensors of pairs."""
    return [torch.view_as_complex(tensor) if value.is_pair else tensor for tensor, (_, value) in zip(tensors, results)]


def start(run: _run.Run, seed: int) -> None:
    run._run.set_state(seed, 0, 0)
    run.start(1)


def compile_entry(text: Text, place: Place, **options: Any) -> Entry:
    """Equal texts on one device with equal options are compiled once; options that are callables are equal to themselves."""
    key = hashlib.sha256(f"{text.text}\0{sorted((k, repr(v)) for k, v in options.items())}"
                         f"\0{torch.get_num_threads()}\0{place}".encode()).hexdigest()
    entry = _programs.get(key)
    if entry is None:
        entry = _programs[key] = Entry(text, place, **options)
    return entry
