"""Runs steps that stop between their passes, and keeps their state for cotangents."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Mapping, Sequence

import torch

from .. import _run
from ._whole_callees import own_errors
from ._whole_place import Loan, Place
from ._whole_step import Entry, compile_entry, start
from ._whole_text import Text


class PausingStep:
    """Program with the outputs of a graph before its pause, and the gradients behind it."""

    def __init__(self, text: Text, outputs: int, place: Place, **options: Any) -> None:
        self.entry: Entry = compile_entry(text, place, **options)
        self._outputs, self._gradients = self.entry.results[:outputs], self.entry.results[outputs:]
        self.inputs = [name for name in self.entry.arguments if not name.startswith("cotangent/")]
        behind = {each["name"] for each in self.entry.program.description["arguments"] if each["used_behind_pause"]}
        #: Arguments that the backward pass reads, inputs and cotangents.
        self.read_behind = [name for name in self.entry.arguments if name in behind or name not in self.inputs]
        self._waiting: "weakref.WeakSet[Paused]" = weakref.WeakSet()
        #: Highest number of steps that have waited at once.
        self.most = 0
        #: Function that is called when a step is dropped.
        self.notify: Callable[[], None] = lambda: None

    def begin(self, tensors: Sequence[torch.Tensor], seed: int) -> tuple[list[torch.Tensor], "Paused"]:
        """Returns the outputs for ``inputs``, and the state that waits for cotangents. Holds no tensor."""
        with self.entry.place.entered():
            run = self.entry.take_run()
            loan = self.entry.place.lend(run)
            held = self.entry.lend(run, self.inputs, tensors)
            outputs = self.entry.lent(run, self._outputs)
            start(run, seed)
            with own_errors():
                run.begin_step()
            del held
        paused = Paused(self, run, loan)
        self._waiting.add(paused)
        self.most = max(self.most, self.waiting)
        return outputs(), paused

    @property
    def waiting(self) -> int:
        """Returns the number of steps that wait for their cotangents."""
        return sum(each.is_waiting() for each in list(self._waiting))

    def give_up(self) -> None:
        """Frees the memory of all runs: saved values for backward passes are gone."""
        for paused in list(self._waiting):
            paused.drop()
        self.entry.drop_runs()

    def end(self, run: _run.Run, loan: Loan | None, tensors: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        """Returns the gradients. ``tensors`` has those of ``read_behind``, which may lie elsewhere than before the
        pause."""
        with self.entry.place.entered():
            if loan:
                loan.follow(run)
            held = self.entry.lend(run, self.read_behind, [tensors[name] for name in self.read_behind])
            gradients = self.entry.lent(run, self._gradients)
            with own_errors():
                run.end_step()
            del held
            return gradients()


class Paused:
    """Step at its pause, in its own run: the saved values lie in that run's arena, or in memory that it was lent."""

    def __init__(self, step: PausingStep, run: _run.Run, loan: Loan | None) -> None:
        self._step = step
        #: Empty when the step went on.
        self._runs = [(run, loan)]

    def end(self, tensors: Mapping[str, torch.Tensor]) -> list[torch.Tensor] | None:
        """Returns the gradients; None if the step has continued before, so that its saved values are gone."""
        try:
            run, loan = self._runs.pop()
        except IndexError:
            return None
        gradients = self._step.end(run, loan, tensors)
        self._step.entry.give_run(run)
        return gradients

    def is_waiting(self) -> bool:
        return bool(self._runs)

    def drop(self) -> None:
        """Abandons the saved values."""
        self._runs.clear()

    def __del__(self) -> None:
        """The memory is free again where a graph is dropped before its backward pass."""
        runs, self._runs = self._runs, []
        for run, _ in runs:
            self._step.entry.give_run(run)
        self._step.notify()
