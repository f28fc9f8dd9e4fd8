"""PyTorch's autograd around programs: a graph is a function with derivatives of every order."""

from __future__ import annotations

from typing import Any, Sequence

import torch
import torch.fx as fx

from ._seam.core import keeps_graph
from ._whole_functional import Functional, hidden
from ._whole_graphs import CompiledGraph, Pending, Reading, draw_seed
from ._whole_untraced import Untraced
from .aten import Value
from .aten._values import WIDENED


class _Kept(Untraced):
    """Node that no gradient passes. It saves tensors that few backward passes need."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*tensors)
        return torch.empty_like(anchor)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        raise AssertionError("internal error: the gradient of a value without a gradient was requested")


class _Graph(Untraced):
    """Forward pass of a graph. Its backward pass is the pending state that the forward pass leaves.

    Only the operands of the backward pass are saved here, so that other tensors may be overwritten between the passes,
    as in eager.
    """

    @staticmethod
    def forward(ctx: Any, calling: "Calling", reading: Reading, kept: list[torch.Tensor], *inputs: torch.Tensor) -> tuple[Any, ...]:
        outputs, ctx.pending = calling.graph.begin(reading.step, inputs, draw_seed(calling.graph.draws))
        returned = [hidden(calling.functional, number, output) for number, output in enumerate(calling.placed(outputs))]
        ctx.kept, ctx.reading = kept, reading
        ctx.save_for_backward(*(inputs[number] for number in reading.read))
        ctx.mark_non_differentiable(*(each for number, each in enumerate(returned) if isinstance(each, torch.Tensor)
                                      and number not in calling.graph.paired))
        ctx.set_materialize_grads(False)
        ctx.calling = calling
        return tuple(returned)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        graph = ctx.calling.graph
        read, count = dict(zip(ctx.reading.read, ctx.saved_tensors)), len(graph.saved)
        pending = ctx.pending.restricted(tuple(cotangents[number] is not None for number in graph.paired))
        given = [_given(cotangents[number], value, graph.device) for number, value in zip(graph.paired, graph.level.arguments[count:])]
        names = [graph.level.names[graph.saved.index(number)] for number in read] + graph.level.names[count:]
        gradients = None if torch.is_grad_enabled() else pending.end(dict(zip(names, [*read.values(), *given])))
        if gradients is None:
            read |= zip(ctx.reading.unread, ctx.kept[0].grad_fn.saved_tensors if ctx.kept else ())
            gradients = _derive(pending, [*(read[number] for number in graph.saved), *given])
        graph.keep(ctx.pending, keeps_graph())
        if not keeps_graph():
            ctx.kept = []
        placed: list[Any] = [None] * len(graph.inputs)
        for number, gradient, is_reached in zip(graph.level.wanted, gradients, pending.reached):
            placed[graph.saved[number]] = gradient if is_reached else None
        return None, None, None, *placed


class _Derivative(Untraced):
    """Backward pass as a function of arguments and cotangents: its own backward pass is one, too."""

    @staticmethod
    def forward(ctx: Any, pending: Pending, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.pending = pending
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        gradients = tuple(pending.backward(inputs))
        has_gradients = pending.paths.differentiable(ctx.needs_input_grad[1:])
        ctx.mark_non_differentiable(*(each for each, has in zip(gradients, has_gradients) if not has))
        return gradients

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        wanted = ctx.needs_input_grad[1:]
        given = [each for each in cotangents if each is not None]
        inputs, made = [*ctx.saved_tensors, *given], {}
        pending = ctx.pending.following(wanted, tuple(each is not None for each in cotangents))
        if pending:
            made = dict(zip(pending.level.wanted, _derive(pending, inputs)))
        return None, *(made.get(number) for number in range(len(wanted)))


def _given(cotangent: torch.Tensor | None, value: Value, device: torch.device) -> torch.Tensor:
    return torch.zeros(value.shape, dtype=value.dtype, device=device) if cotangent is None else cotangent


def _derive(pending: Pending, inputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    """Runs a backward pass, with derivatives if they may be requested."""
    return _Derivative.apply(pending, *inputs) if torch.is_grad_enabled() else pending.backward(inputs)


class Calling:
    """Code of a functional graph: from its arguments to all its outputs."""

    def __init__(self, functional: Functional, graph: CompiledGraph, constants: Sequence[Any]) -> None:
        self.functional = functional
        self.graph = graph
        #: Values of outputs that are not computed: a tensor without elements, a number, or None.
        self._constants = constants
        said = [node.meta["val"] if isinstance(node, fx.Node) else None for node in functional.outputs]
        #: Types of outputs that the dialect holds in wider ones, by number.
        self._narrow = {number: said[number].dtype for number in graph.computed if said[number].dtype in WIDENED}
        #: Outputs that are numbers of the host, beside a graph on a GPU.
        self._numbers = {number for number in graph.computed if said[number].device.type == "cpu" != graph.device.type}

    def placed(self, outputs: Sequence[torch.Tensor]) -> list[Any]:
        """Returns all outputs of the functional graph."""
        placed = list(self._constants)
        for number, output in zip(self.graph.computed, outputs):
            placed[number] = output.to(self._narrow[number]) if number in self._narrow else output
            if number in self._numbers:
                placed[number] = placed[number].cpu()
        return placed

    def __call__(self, arguments: list[Any]) -> list[Any]:
        graph = self.graph
        inputs = [arguments[number] for number in graph.inputs]
        if graph.level is None:
            outputs = graph.forward(inputs, draw_seed(graph.draws))
            return [hidden(self.functional, number, output) for number, output in enumerate(self.placed(outputs))]
        prepared = list(map(self._prepared, range(len(inputs)), inputs))
        reading = graph.reading(inputs)
        unread = [prepared[number] for number in reading.unread]
        kept = [_Kept.apply(torch.empty(0, requires_grad=True), *unread)] if unread else []
        return list(_Graph.apply(self, reading, kept, *prepared))

    def _prepared(self, at: int, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a tensor to save: without a gradient if none comes; a copy if the graph overwrites a value that its
        backward pass reads."""
        saved = self.graph.saved
        if tensor.requires_grad and (at not in saved or saved.index(at) not in self.graph.level.wanted):
            tensor = tensor.detach()
        return tensor.clone() if at in saved and self.functional.writes(self.graph.inputs[at]) else tensor
