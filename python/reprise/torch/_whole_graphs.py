"""Functional graphs of AOTAutograd, imported and compiled."""

from __future__ import annotations

import itertools
import math
import weakref
from typing import Any, Mapping, NamedTuple, Sequence

import torch
import torch.fx as fx

from ._whole_bounds import limit_regions
from ._whole_budget import Member, StepBudget
from ._whole_functional import Functional
from ._whole_import import Importer
from ._whole_levels import Level
from ._whole_paths import FirstPaths, Paths
from ._whole_pause import Paused, PausingStep
from ._whole_place import CPU, find_place
from ._whole_step import SMALLEST, Entry, compile_entry
from ._whole_text import Text, first_scalar, write_forward, write_pausing
from .aten import Builder, Value

#: Graphs by number, as long as code that calls them exists.
_graphs: "weakref.WeakValueDictionary[int, CompiledGraph]" = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Pending:
    """The backward pass of a pass that has run: a derivative, its paths, the seed of that pass, and the step that waits."""

    def __init__(self, level: Level, paths: Paths, seed: int, paused: Paused | None = None) -> None:
        self.level = level
        self.paths = paths
        #: For each gradient, whether it exists and is not None.
        self.reached = [True] * len(level.wanted)
        self._seed = seed
        self._paused = paused

    def end(self, tensors: Mapping[str, torch.Tensor]) -> list[torch.Tensor] | None:
        """Returns the gradients of the waiting step, by the tensors that it reads behind its pause; None if none
        waits."""
        return self._paused.end(tensors) if self._paused else None

    def backward(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the gradients. ``inputs`` are those of the level: all that it reads, and then the cotangents.

        At the second call the saved values are gone: the forward pass runs again, in a separate program.
        """
        gradients = self.end(dict(zip(self.level.names, inputs)))
        return self.level(inputs, self._seed) if gradients is None else gradients

    def restricted(self, given: tuple[bool, ...]) -> "Pending":
        """Returns the same backward pass, if only some outputs have cotangents."""
        if all(given):
            return self
        made = Pending(self.level, self.paths.restricted(given), self._seed, self._paused)
        made.reached = made.paths.reached
        return made

    def following(self, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> "Pending | None":
        """Returns the backward pass of ``backward``, for some of its inputs, and for cotangents of some of its
        gradients, if there is one."""
        paths = self.paths.following(wanted, given)
        return Pending(self.level.following(tuple(paths.wanted), given), paths, self._seed) if paths.wanted else None


class Reading(NamedTuple):
    """A step, and by their numbers in ``inputs`` the tensors that its backward pass reads, and others that derivatives read."""

    step: PausingStep
    read: list[int]
    unread: list[int]


class CompiledGraph:
    """A graph of Dynamo's: a step that pauses between its passes, or a forward pass where no gradient is wanted."""

    def __init__(self, forward: Entry | None, member: Member | None, level: Level | None, paths: Paths | None,
                 texts: list[str]) -> None:
        self._forward = forward
        self._member = member
        self._reading: Reading | None = None
        self._paths = paths
        #: The first derivative.
        self.level = level
        #: The modules of the dialect that were compiled.
        self.texts = texts
        whole = self.step or forward
        #: Arguments of the functional graph that the program takes, by number.
        self.inputs = _numbered(whole.arguments, "primal/") if whole else []
        #: Arguments that the first derivative reads, by their numbers in ``inputs``.
        self.saved = [self.inputs.index(number) for number in _numbered(level.names, "primal/")] if level else []
        #: Outputs of the functional graph that are computed, and those of which the step takes cotangents.
        self.computed = _numbered(whole.results if whole else [], "output/")
        self.paired = _numbered(whole.arguments if whole else [], "cotangent/")
        self.draws = bool(whole and whole.draws)
        self.device = whole.place.device if whole else CPU
        self.number = next(_numbers)
        _graphs[self.number] = self

    @property
    def step(self) -> Entry | None:
        """The program of both passes."""
        return self._member.step.entry if self._member else None

    @property
    def orders(self) -> list[int]:
        """Returns the orders of the existing derivatives."""
        return self.level.orders() if self.level else []

    @property
    def report(self) -> Any:
        """Returns the report of the step, or of the forward pass if there is no step."""
        return (self.step or self._forward).program.report

    def reading(self, inputs: Sequence[torch.Tensor]) -> Reading:
        """Returns the step of the plan that holds now. Called before each forward pass."""
        self._member.begin(inputs)
        step = self._member.step
        if self._reading is None or self._reading.step is not step:
            behind = set(step.read_behind)
            is_read = [name in behind for name in self.level.names[:len(self.saved)]]
            is_read = is_read if any(is_read) else [True] * len(is_read)
            self._reading = Reading(step, [number for number, flag in zip(self.saved, is_read) if flag],
                                    [number for number, flag in zip(self.saved, is_read) if not flag])
        return self._reading

    def begin(self, step: PausingStep, inputs: Sequence[torch.Tensor], seed: int) -> tuple[list[torch.Tensor], Pending]:
        """The outputs that are computed, and the backward pass."""
        outputs, paused = step.begin(inputs, seed)
        return outputs, Pending(self.level, self._paths, seed, paused)

    def keep(self, pending: Pending, keeps: bool) -> None:
        """Notes whether a backward pass may run again."""
        self._member.keep(pending, keeps)

    def forward(self, inputs: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
        """Returns the computed outputs, if there is no backward pass."""
        return self._forward(inputs, seed) if self._forward else []


def _numbered(names: Sequence[Any], prefix: str) -> list[int]:
    """Returns the numbers behind a prefix, of names or of tuples that begin with them."""
    texts = [name if isinstance(name, str) else name[0] for name in names]
    return [int(text.removeprefix(prefix)) for text in texts if text.startswith(prefix)]


def graphs() -> list[CompiledGraph]:
    """Returns the compiled graphs whose code exists, in order: their forward pass, their step, their texts."""
    return [_graphs[number] for number in sorted(_graphs.keys())]


def draw_seed(draws: bool) -> int:
    """Returns a Philox seed from PyTorch's generator, which torch.manual_seed sets; 0 if nothing is drawn."""
    return int(torch.randint(0, 1 << 62, ())) if draws else 0


class Imported:
    """Functional graph in the dialect: its arguments and results, and those with gradients."""

    def __init__(self, functional: Functional, may_call: bool = True) -> None:
        self.functional = functional
        infos = functional.metadata.input_info
        active = {node for node, info in zip(functional.primals, infos) if info.requires_grad and functional.is_training}
        self.builder: Builder = Importer(functional.module, functional.primals, active, may_call).run(
            node for node in functional.module.graph.nodes if node.op not in ("placeholder", "output"))
        #: Outputs that a gradient may pass, by number.
        self.paired = [number for number, (node, is_paired) in enumerate(zip(functional.outputs, functional.mask))
                       if is_paired and isinstance(self.value(node), Value) and self.value(node).active]
        reached = self.builder.active_behind(self.value(functional.outputs[number]) for number in self.paired)
        #: Arguments that have gradients.
        self.wanted = [node for node in functional.primals if self.value(node) in reached]

    def value(self, node: Any) -> Any:
        """Returns the value of a node of the graph."""
        return self.builder.values[node] if isinstance(node, fx.Node) else None

    def arguments(self) -> list[tuple[str, Value]]:
        named = [(f"primal/{number}", self.value(node)) for number, node in enumerate(self.functional.primals)]
        return [(name, value) for name, value in named if isinstance(value, Value)]

    def results(self) -> list[tuple[str, Value]]:
        """The outputs that are computed."""
        return [(f"output/{number}", self.value(node)) for number, node in enumerate(self.functional.outputs)
                if isinstance(self.value(node), Value) and number not in self.functional.aliases]

    def constants(self) -> list[Any]:
        """Returns the values of the outputs that are not computed."""
        made = []
        for number, node in enumerate(self.functional.outputs):
            value = self.value(node) if isinstance(node, fx.Node) else node
            made.append(self.functional.aliases.get(number, None if isinstance(value, Value) else value))
        return made

    def pairs(self) -> list[tuple[Value, str, Value]]:
        """Outputs, and names and values of their cotangents."""
        outputs = [(number, self.value(self.functional.outputs[number])) for number in self.paired]
        return [(value, f"cotangent/{number}", value.like(f"%t{number}", True))
                for number, value in outputs]


def compile_graph(imported: Imported, options: dict[str, Any], share: StepBudget) -> CompiledGraph:
    """Makes the program of a graph, within the budget that the graphs of the same model leave."""
    results, arguments, place = imported.results(), imported.arguments(), find_place(imported.functional)
    options = place.options(options)
    if not imported.wanted:
        text = write_forward(imported.builder, arguments, results)
        return CompiledGraph(compile_entry(text, place, **options) if results else None, None, None, None, [text.text])
    pairs, wanted = imported.pairs(), [imported.value(node) for node in imported.wanted]
    gradients = [(f"gradient/{number}", value) for number, value in enumerate(wanted)]
    budget = options.get("budget")
    # A program's budget does not count gradients, so they lie outside of the arena that it bounds. An arena on a GPU is one
    # tensor of PyTorch, which cannot give away parts.
    takes = budget is None and place.device == CPU
    limit_regions(imported.builder, [*(value for _, value in results), *(value for value, _, _ in pairs)],
                  lambda: write_pausing(imported.builder, arguments, results, pairs, gradients, takes), options)
    scalar = first_scalar(imported.builder, arguments, pairs, wanted)
    given = [value for _, value in scalar.arguments]
    # Derivatives that are compiled on demand are not planned with the step, whose bytes they would take.
    later = {**options, "budget": SMALLEST} if budget is not None and not str(budget).endswith("%") else options
    level = Level(scalar, [given.index(value) for value in wanted], place, later)
    paths = FirstPaths(imported.functional, _numbered(level.names, "primal/"), imported.paired, level.wanted)
    gradients = [(name, value) for (name, _), value in zip(level.text.results, wanted)]
    text = write_pausing(imported.builder, arguments, results, pairs, gradients, takes)

    def make(budget: Any) -> PausingStep:
        return PausingStep(text, len(results), place, **(options if budget is None else {**options, "budget": budget}))

    member = share.fit(make, budget, any(math.prod(value.shape) == 1 for value, _, _ in pairs))
    member.join(budget, text, level, options)
    return CompiledGraph(None, member, level, paths, [text.text])
