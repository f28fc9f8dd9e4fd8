"""PyTorch's autograd around programs: a graph is a function with derivatives of every order."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._whole_functional import Functional, hidden
from ._whole_graphs import CompiledGraph, Pending, draw_seed


class _Graph(torch.autograd.Function):
    """The forward pass of a graph. Its backward pass is what the forward pass has left pending."""

    @staticmethod
    def forward(ctx: Any, calling: "Calling", *inputs: torch.Tensor) -> tuple[Any, ...]:
        outputs, ctx.pending = calling.graph.forward(inputs, draw_seed(calling.graph.draws))
        returned = [hidden(calling.functional, number, output) for number, output in enumerate(calling.placed(outputs))]
        ctx.save_for_backward(*(inputs[number] for number in calling.graph.saved))
        ctx.mark_non_differentiable(*(each for number, each in enumerate(returned) if isinstance(each, torch.Tensor)
                                      and number not in calling.graph.paired))
        ctx._materialize_non_diff_grads = False
        ctx.calling = calling
        return tuple(returned)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        graph = ctx.calling.graph
        gradients = _Derivative.apply(ctx.pending, *ctx.saved_tensors, *(cotangents[number] for number in graph.paired))
        placed: list[Any] = [None] * len(graph.inputs)
        for number, gradient in zip(graph.level.wanted, gradients):
            placed[graph.saved[number]] = gradient
        return None, *placed


class _Derivative(torch.autograd.Function):
    """A backward pass, which is a function of arguments and cotangents: its own backward pass is one, too."""

    @staticmethod
    def forward(ctx: Any, pending: Pending, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.pending = pending
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        return tuple(pending.backward(inputs))

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        wanted = ctx.needs_input_grad[1:]
        pending = ctx.pending.following(wanted, tuple(each is not None for each in cotangents))
        gradients = _Derivative.apply(pending, *ctx.saved_tensors, *(each for each in cotangents if each is not None))
        made = iter(gradients)
        return None, *(next(made) if is_wanted else None for is_wanted in wanted)


class Calling:
    """The code of a functional graph: it takes its arguments and gives all its outputs."""

    def __init__(self, functional: Functional, graph: CompiledGraph, constants: Sequence[Any]) -> None:
        self.functional = functional
        self.graph = graph
        #: What stands at each output that is not computed: a tensor without elements, a number, or None.
        self._constants = constants

    def placed(self, outputs: Sequence[torch.Tensor]) -> list[Any]:
        """All outputs of the functional graph."""
        placed = list(self._constants)
        for number, output in zip(self.graph.computed, outputs):
            placed[number] = output
        return placed

    def __call__(self, arguments: list[Any]) -> list[Any]:
        graph = self.graph
        inputs = [arguments[number] for number in graph.inputs]
        if graph.level is None:
            outputs, _ = graph.forward(inputs, draw_seed(graph.draws))
            return [hidden(self.functional, number, output) for number, output in enumerate(self.placed(outputs))]
        return list(_Graph.apply(self, *map(self._prepared, range(len(inputs)), inputs)))

    def _prepared(self, at: int, tensor: torch.Tensor) -> torch.Tensor:
        """Without a gradient where none comes; as it was where the graph overwrites what its backward pass reads."""
        saved = self.graph.saved
        if at not in saved or saved.index(at) not in self.graph.level.wanted:
            tensor = tensor.detach()
        return tensor.clone() if at in saved and self.functional.writes(self.graph.inputs[at]) else tensor
