"""Adds up the memory that is live while the lines of Inductor's code run."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._plan_nodes import block_bytes
from ._plan_workspace import Measured
from ._seam.core import tree_leaves
from ._seam.inductor import V, ir, wrapper as code


def count_bytes(node: ir.Buffer) -> int:
    """Returns the bytes that a buffer of Inductor's code allocates."""
    size = V.graph.sizevars.optimization_hint(V.graph.get_allocation_storage_size(node), fallback=0)
    return block_bytes(int(size * node.get_dtype().itemsize), node.get_device())


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """Facts of the plan about the two graphs that their code does not have."""

    #: Bytes of the forward pass's outputs, which exist during the whole backward pass.
    held: int
    #: Bytes by name of arguments that the backward pass drops at their last use: saved values, and gradients of
    #: outputs.
    given: dict[str, int]
    #: Allocations of library ops, by name.
    measured: dict[str, Measured]


class Tally:
    """The bytes that are live while the lines of one graph's code run."""

    def __init__(self, around: Surroundings, is_backward: bool) -> None:
        self.around = around
        self.sizes = dict(around.given) if is_backward else {}
        self.holds: dict[str, list[str]] = {name: [name] for name in self.sizes}
        self.holders = dict.fromkeys(self.sizes, 1)
        self.live = self.peak = sum(self.sizes.values()) + (around.held if is_backward else 0)

    def _make(self, name: str, node: ir.Buffer, returned: int = 0) -> str:
        self.sizes[name] = max(count_bytes(node), returned)
        self.live += self.sizes[name]
        self.holders[name] = 0
        return name

    def _hold(self, name: str, storages: list[str]) -> None:
        self.holds[name] = self.holds.get(name, []) + storages
        for each in storages:
            self.holders[each] += 1

    def _drop(self, name: str) -> None:
        for each in self.holds.pop(name, ()):
            self.holders[each] -= 1
            if not self.holders[each]:
                self.live -= self.sizes[each]

    def _run(self, node: ir.ExternKernel) -> None:
        self.peak = max(self.peak, self.live + max((each.workspace for each in self._measured(node)), default=0))

    def _measured(self, node: ir.ExternKernel) -> list[Measured]:
        return [self.around.measured[each.name] for each in node.get_origins() if each.name in self.around.measured]

    def _call(self, node: ir.ExternKernelAlloc) -> None:
        """Adds a library op that allocates its results, which a tuple holds if there are several."""
        name, layout = node.get_name(), node.get_output_spec()
        if isinstance(layout, ir.MultiOutputLayout):
            parts = [each for each in tree_leaves(getattr(node, "outputs", ())) if isinstance(each, ir.MultiOutput)]
            owned = [each for each in parts if not each.get_inputs_that_alias_output()]
            self._hold(name, [self._make(each.get_name(), each, self._returned(node, each.indices)) for each in owned])
        elif isinstance(layout, ir.Layout) and not isinstance(layout, ir.MutationLayoutSHOULDREMOVE):
            self._hold(name, [self._make(name, node, self._returned(node, []))])
        self._run(node)

    def _returned(self, node: ir.ExternKernel, place: list[tuple[type, Any]]) -> int:
        """Returns the bytes of the storage of a result that eager code returns, which may be larger than the result."""
        measured = self._measured(node)
        if len(measured) != 1 or len(place) > 1 or place and not isinstance(place[0][1], int):
            return 0
        return measured[0].returned[place[0][1] if place else 0]

    def step(self, line: Any) -> None:
        """Counts one line. Kernels and other lines neither allocate nor free."""
        if isinstance(line, code.AllocateLine):
            name = line.node.get_name()
            self._hold(name, [self._make(name, line.node)])
        elif isinstance(line, (code.ReuseLine, code.ReinterpretLine)):
            old = line.node.get_name()
            self._hold(line.reused_as.get_name(), self.holds.get(old, []))
            if getattr(line, "delete_old", False):
                self._drop(old)
        elif isinstance(line, code.FreeLine) or isinstance(line, code.FreeIfNotReusedLine) and not line.is_reused:
            self._drop(line.node.get_name())
        elif isinstance(line, code.ExternKernelAllocLine):
            self._call(line.node)
        elif isinstance(line, code.ExternKernelOutLine):
            self._run(line.node)
        elif isinstance(line, code.MultiOutputLine) and line.result_name in self.sizes:
            self._hold(line.result_name, [line.result_name])
        self.peak = max(self.peak, self.live)
