"""Supports passes that PyTorch's compiled functions refuse: backward passes that keep the graph or have gradients, and
forward passes alone.

Inductor's code overwrites saved values of the forward pass ("donated buffers"), which saves memory in an ordinary step.
PyTorch refuses to keep a graph whose code does that. Here such a pass gets copies, so that it runs the same code.

PyTorch also refuses a graph without a backward pass if a region of torch.utils.checkpoint draws random numbers. Such a
graph replays nothing.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator
from unittest import mock

import torch
from torch import fx

from .._errors import Error
from ._plan_versions import Epilogue
from ._seam.wrappers import AOTDispatchAutograd, BackwardCompiler, FunctionFactory, inner_replays, runtime_wrappers

NO_DERIVATIVE = ('the backward pass of backend="reprise_plan" has no derivative of its own, and a gradient of its gradients was asked for '
                 '(create_graph=True): backend="reprise" has derivatives of any order, and so has the model without torch.compile')


def _copy(saved: torch.Tensor) -> torch.Tensor:
    """A tensor that lies in other memory as this one does in its own."""
    return torch.empty(0, dtype=saved.dtype, device=saved.device).set_(
        saved.untyped_storage().clone(), saved.storage_offset(), saved.size(), saved.stride())


class _Compiler(BackwardCompiler):
    """The code of a backward pass, for a graph that is kept or not."""

    #: Places of the saved tensors that the code may write. PyTorch refuses where its own list is not empty.
    written: tuple[int, ...] = ()

    def get_or_compile(self, *, saved_tensors_use_once: bool) -> Callable[..., Any]:
        code = super().get_or_compile(saved_tensors_use_once=saved_tensors_use_once)
        if self.fw_metadata.bw_donated_idxs != []:
            self.written = tuple(self.fw_metadata.bw_donated_idxs or ())
            self.fw_metadata.bw_donated_idxs = []
        return code if saved_tensors_use_once or not self.written else self._spare(code)

    def _spare(self, code: Callable[..., Any]) -> Callable[..., Any]:
        def run(arguments: list[Any]) -> Any:
            for place in self.written:
                if isinstance(arguments[place], torch.Tensor):
                    arguments[place] = _copy(arguments[place])
            return code(arguments) if hasattr(code, "_boxed_call") else code(*arguments)
        run._boxed_call = True
        return run


class _Anchor(torch.autograd.Function):
    """Returns an empty tensor that depends on the inputs of a compiled function, and holds none of them."""

    @staticmethod
    def forward(context: Any, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.empty(0)


class _Factory(FunctionFactory):
    """Compiled functions whose gradients raise an error about the missing part when a gradient of them is requested."""

    def build(self) -> type[torch.autograd.Function]:
        function = super().build()
        run_forward = function.forward

        def forward(context: Any, *arguments: Any) -> Any:
            with torch.enable_grad():
                context.anchor = _Anchor.apply(*(each for each in arguments if isinstance(each, torch.Tensor)))
            return run_forward(context, *arguments)

        def twice(context: Any, run: Callable[..., Any], arguments: list[Any]) -> Any:
            class Pass(torch.autograd.Function):
                _aot_id = function._aot_id
                _compiled_autograd_key = function._compiled_autograd_key

                @staticmethod
                def forward(own: Any, *ignored: Any) -> Any:
                    return run(own)

                @staticmethod
                def backward(own: Any, *ignored: Any) -> None:
                    raise Error(NO_DERIVATIVE)
            # Saved values need no gradient; the results need one, by every input.
            return Pass.apply(context.anchor, *arguments)
        function.forward = staticmethod(forward)
        function._double_backward = staticmethod(twice)
        return function


_bring = AOTDispatchAutograd.process_runtime_tangent


def _tangent(x: Any, meta: Any, *more: Any, **named: Any) -> Any:
    """Returns a cotangent in the layout of the code. PyTorch fails to copy a cotangent that itself needs a gradient to
    strides that the code expects."""
    layout = getattr(meta, "memory_format", None)
    is_copied = isinstance(x, torch.Tensor) and x.requires_grad and layout is not None and layout.memory_format is None
    with torch.no_grad() if is_copied else contextlib.nullcontext():
        return _bring(x, meta, *more, **named)


def _replay_inside(graph: fx.GraphModule) -> fx.GraphModule:
    """Lets PyTorch replay regions for gradients inside of a graph, if the graph has such gradients."""
    has_backward = any(node.meta.get("autograd_backward") or node.meta.get("custom", {}).get("phase") == "backward"
                       for node in graph.graph.nodes)
    return _replay(graph) if has_backward else graph


_replay = inner_replays.remat_using_tags_for_fwd_loss_bwd_graph


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Makes PyTorch compile functions, within this context, whose graphs may be kept, and forward passes of regions
    that draw."""
    with mock.patch.multiple(runtime_wrappers, _AutogradBackwardCompiler=_Compiler, _AOTDispatchAutogradFunctionFactory=_Factory,
                             _AutogradForwardEpilogue=Epilogue), \
            mock.patch.object(AOTDispatchAutograd, "process_runtime_tangent", staticmethod(_tangent)), \
            mock.patch.object(inner_replays, "remat_using_tags_for_fwd_loss_bwd_graph", _replay_inside):
        yield
