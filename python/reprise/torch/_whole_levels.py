"""Makes the derivatives of a graph, of any order: each is a program, made on demand.

Level 1 takes the arguments of a graph and cotangents of its outputs, and returns gradients. Level n + 1 takes the
arguments of level n and cotangents of its results. All have the ops of the graph, so that a seed draws the same words
in each.
"""

from __future__ import annotations

import threading
from typing import Any, Sequence

import torch

from ._whole_place import Place
from ._whole_step import Entry, compile_entry
from ._whole_text import Scalar, next_scalar, write_step
from .aten import Value


class Level:
    """Derivative: it takes ``arguments`` and returns the gradients of ``wanted`` ones, by number."""

    def __init__(self, scalar: Scalar, wanted: Sequence[int], place: Place, options: dict[str, Any]) -> None:
        self.order = scalar.level + 1
        self.wanted = list(wanted)
        self.names = [name for name, _ in scalar.arguments]
        self.arguments = [value for _, value in scalar.arguments]
        self._scalar, self.place, self._options = scalar, place, options
        self._next: dict[Any, Level] = {}
        self._lock = threading.Lock()
        self.text = write_step(scalar, [(_gradient_of(scalar.arguments[number][0]), self.arguments[number])
                                        for number in self.wanted])
        self._entry: Entry | None = None

    def __call__(self, inputs: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
        with self._lock:
            if self._entry is None:
                self._entry = compile_entry(self.text, self.place, **self._options)
        return self._entry(inputs, seed)

    def entries(self) -> list[Entry]:
        """Returns the programs that exist of all derivatives."""
        return [*([self._entry] if self._entry else []), *(entry for each in self._next.values() for entry in each.entries())]

    def orders(self) -> list[int]:
        """The orders of all derivatives that have been made, one for each program."""
        return [self.order, *sorted(order for each in self._next.values() for order in each.orders())]

    def following(self, wanted: tuple[int, ...], given: tuple[bool, ...]) -> "Level":
        """Returns the derivative for some of ``arguments``, and for cotangents of some of the results, which follow
        them."""
        with self._lock:
            made = self._next.get((wanted, given))
            if made is None:
                made = self._next[wanted, given] = self._differentiate(wanted, given)
        return made

    def _differentiate(self, wanted: tuple[int, ...], given: tuple[bool, ...]) -> "Level":
        values = [self.arguments[number] for number in self.wanted]
        cotangents = [(f"cotangent/{self.order + 1}/{number}", value.like(f"%t{self.order + 1}_{number}"))
                      if is_given else None for number, (value, is_given) in enumerate(zip(values, given))]
        scalar = next_scalar(self._scalar, values, cotangents)
        return Level(scalar, wanted, self.place, self._options)


def _gradient_of(name: str) -> str:
    """Returns the name of a gradient: primal/3 has gradient/3; other names follow the prefix unchanged."""
    return "gradient/" + name.removeprefix("primal/")
