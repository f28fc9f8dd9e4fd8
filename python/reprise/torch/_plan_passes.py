"""Supports passes that PyTorch's compiled functions refuse: backward passes that keep the graph or have gradients, and
forward passes alone.

Inductor's code overwrites saved values of the forward pass ("donated buffers"), which saves memory in an ordinary step.
PyTorch refuses to keep a graph whose code does that. Here such a pass gets copies, so that it runs the same code.

PyTorch also refuses a graph without a backward pass if a region of torch.utils.checkpoint draws random numbers. Such a
graph replays nothing.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import torch
from torch import fx

from .._errors import Error
from ._plan_versions import share_versions
from ._seam.core import keeps_graph
from ._seam.wrappers import Changes, Metadata, changed, replay_regions
from ._step_graphs import Backward, hold

NO_DERIVATIVE = ('the backward pass of backend="reprise_plan" has no derivative of its own, and a gradient of its gradients was asked for '
                 '(create_graph=True): backend="reprise" has derivatives of any order, and so has the model without torch.compile')


def _copy(saved: torch.Tensor) -> torch.Tensor:
    """A tensor that lies in other memory as this one does in its own."""
    return torch.empty(0, dtype=saved.dtype, device=saved.device).set_(
        saved.untyped_storage().clone(), saved.storage_offset(), saved.size(), saved.stride())


class _Anchor(torch.autograd.Function):
    """Returns an empty tensor that depends on the inputs of a compiled function, and holds none of them."""

    @staticmethod
    def forward(context: Any, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.empty(0)


def _anchored(facts: Metadata, run: Callable) -> Callable:
    """Returns a forward pass whose context has an anchor, and whose written views are errors."""
    def forward(context: Any, *arguments: Any) -> Any:
        with torch.enable_grad():
            context.anchor = _Anchor.apply(*(each for each in arguments if isinstance(each, torch.Tensor)))
        returned = run(context, *arguments)
        share_versions(context, facts.views(returned))
        hold(context, arguments, returned)
        return returned
    return forward


def _refuse(facts: Metadata, run: Callable) -> Callable:
    """Returns a backward pass whose gradients raise an error when a gradient of them is requested."""
    def backward(context: Any, *given: Any) -> Any:
        if not torch.is_grad_enabled():
            with Backward(context, given):
                return run(context, *given)

        class Pass(torch.autograd.Function):
            @staticmethod
            def forward(own: Any, *ignored: Any) -> Any:
                # Without gradients, so that PyTorch may copy cotangents to the layouts that the code expects.
                return run(context, *given)

            @staticmethod
            def backward(own: Any, *ignored: Any) -> None:
                raise Error(NO_DERIVATIVE)
        facts.identify(Pass)
        cotangents = given[0] if given and isinstance(given[0], list) else given
        # Saved values need no gradient; the results need one, by every input.
        return Pass.apply(context.anchor, *cotangents)
    return backward


def _spare(facts: Metadata, run: Callable) -> Callable:
    """Returns the call of a backward pass's code, with copies of what the code may overwrite if the graph is kept."""
    written: tuple[int, ...] = ()

    def call(context: Any, arguments: list[Any]) -> Any:
        nonlocal written
        written = facts.take_written() or written
        for place in written if keeps_graph() else ():
            if isinstance(arguments[place], torch.Tensor):
                arguments[place] = _copy(arguments[place])
        return run(context, arguments)
    return call


def _replay_inside(graph: fx.GraphModule) -> fx.GraphModule:
    """Lets PyTorch replay regions for gradients inside of a graph, if the graph has such gradients."""
    has_backward = any(node.meta.get("autograd_backward") or node.meta.get("custom", {}).get("phase") == "backward"
                       for node in graph.graph.nodes)
    return replay_regions(graph) if has_backward else graph


CHANGES = Changes(forward=_anchored, backward=_refuse, code=_spare, replays=_replay_inside)


def kept() -> contextlib.AbstractContextManager:
    """Makes PyTorch compile functions, within this context, whose graphs may be kept, and forward passes of regions
    that draw."""
    return changed(CHANGES)
