"""Steps that stop between their passes, and what waits there for cotangents."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .. import _run
from ._whole_step import Entry, bind, compile_entry, start
from ._whole_text import Text


class PausingStep:
    """A program with the outputs of a graph before its pause, and the gradients behind it."""

    def __init__(self, text: Text, outputs: int, **options: Any) -> None:
        self.entry: Entry = compile_entry(text, **options)
        #: How many of the results are outputs; they come first.
        self._outputs = outputs
        self.inputs = [name for name in self.entry.arguments if not name.startswith("cotangent/")]
        self.cotangents = self.entry.arguments[len(self.inputs):]

    def begin(self, tensors: Sequence[torch.Tensor], seed: int) -> tuple[list[torch.Tensor], "Paused"]:
        """The outputs for ``inputs``, and what waits for cotangents."""
        run = self.entry.take_run()
        held = bind(run, self.inputs, tensors)
        results = self.entry.bind_results(run)
        start(run, seed)
        run.begin_step()
        return results[:self._outputs], Paused(self, run, held, results[self._outputs:])


class Paused:
    """A step at its pause, in a run of its own: what its plan has saved lies in that run's arena."""

    def __init__(self, step: PausingStep, run: _run.Run, held: list[torch.Tensor], gradients: list[torch.Tensor]) -> None:
        self._step = step
        self._held = held
        self._gradients = gradients
        #: Empty when the step went on.
        self._runs = [run]

    def end(self, cotangents: Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
        """The gradients; None where the step has gone on before, so that what it had saved is gone."""
        try:
            run = self._runs.pop()
        except IndexError:
            return None
        held = bind(run, self._step.cotangents, cotangents)
        run.end_step()
        gradients, self._gradients, self._held = self._gradients, [], []
        self._step.entry.give_run(run)
        del held
        return gradients

    def __del__(self) -> None:
        """The memory is free again where a graph is dropped before its backward pass."""
        for run in self._runs:
            self._step.entry.give_run(run)
