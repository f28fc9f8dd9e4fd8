"""``torch.compile(model, backend="reprise")``: the whole compiler behind AOTAutograd.

AOTAutograd keeps what it is good at: functional form, mutated arguments, aliases, cotangents, saved tensors. The forward
half of its joint graph becomes the dialect, and Reprise differentiates, plans and compiles it. Optimizers, hooks,
clipping and accumulation of PyTorch work on the gradients as ever.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.fx as fx
from torch._functorch.aot_autograd import aot_module_simplified

from .._errors import UsageError
from ._whole_coarse import keep_whole
from ._whole_errors import Unsupported
from ._whole_graphs import CompiledGraph, compile_inference, compile_joint

_OPTIONS = {"budget", "policy", "fallback", "target", "plan", "time_limit", "device_file", "profile"}


def _boxed(run: Callable[..., Any]) -> Callable[..., Any]:
    run._boxed_call = True
    return run


@contextlib.contextmanager
def _without_mkldnn() -> Iterator[None]:
    """A graph in which a recurrent net is no op of that library."""
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _check_inputs(inputs: Sequence[Any]) -> None:
    devices = {str(each.device) for each in inputs if isinstance(each, torch.Tensor)} - {"cpu", "meta"}
    if devices:
        raise Unsupported({f"tensors on {', '.join(sorted(devices))}; the backend compiles for the CPU": ["its inputs"]})


def _compile(module: fx.GraphModule, inputs: Sequence[Any], options: dict[str, Any]) -> Callable[..., Any]:
    _check_inputs(inputs)
    keep_whole(module)

    compiled: list[CompiledGraph] = []

    def partition(joint: fx.GraphModule, joint_inputs: Any, *, num_fwd_outputs: int, **keywords: Any) -> Any:
        graph, forward, backward = compile_joint(joint, num_fwd_outputs, keywords, options)
        compiled.append(graph)
        return forward, backward

    def as_code(calling: fx.GraphModule, calling_inputs: Sequence[Any]) -> Callable[..., Any]:
        """The graph around a compiled step, which calls it by its number, and holds it."""
        calling.graph.set_codegen(fx.graph._BoxedCodeGen())
        calling.recompile()
        return _boxed(lambda arguments, held=compiled: calling(arguments))

    def infer(calling: fx.GraphModule, calling_inputs: Sequence[Any]) -> Callable[..., Any]:
        return _boxed(compile_inference(calling, options))

    with _without_mkldnn():
        return aot_module_simplified(module, inputs, fw_compiler=as_code, bw_compiler=as_code, inference_compiler=infer,
                                     partition_fn=partition, decompositions={})


@functools.lru_cache(maxsize=None)
def _say_fallback(what: str) -> None:
    warnings.warn(f"Inductor compiles a graph that reprise cannot: {what}", stacklevel=2)


def reprise(module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The backend. Options: ``budget`` and ``policy`` as ``reprise.compile`` takes them, for the step of each graph;
    ``fallback``: graphs with ops that the dialect lacks go to Inductor, which is said once.

    Raises an error with all missing ops and the user's lines that ask for them.
    """
    options = dict(options or {})
    if unknown := set(options) - _OPTIONS:
        raise UsageError(f"backend \"reprise\" has no option {', '.join(sorted(unknown))}; it has "
                         + ", ".join(sorted(_OPTIONS)))
    fallback = options.pop("fallback", False)
    original = copy.deepcopy(module) if fallback else None
    try:
        return _compile(module, inputs, options)
    except Unsupported as error:
        if not fallback:
            raise
        _say_fallback(", ".join(sorted(error.missing)))
        return torch._dynamo.lookup_backend("inductor")(original, inputs)
