"""Parts of AOTAutograd's capture in PyTorch 2.12 that 2.11 has inside of longer functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable

from torch._functorch._aot_autograd.graph_capture import aot_dispatch_subclass, create_functionalized_fn, handle_effect_tokens_fn
from torch._functorch.aot_autograd import prepare_aot_module_simplified


def prepare_aot(module: Any, inputs: Any) -> tuple:
    """Returns the parts of AOTAutograd's state for Dynamo's graph."""
    return prepare_aot_module_simplified(module, inputs, None, {}, False, None, False, flatten=False)


def prepare_tracing(function: Callable, arguments: Any, descs: Any, inner: Callable, *, fw_metadata: Any, aot_config: Any,
                    trace_joint: bool) -> SimpleNamespace:
    """Returns a function without writes for tracing, and its arguments."""
    function, arguments, descs = create_functionalized_fn(function, arguments, descs, meta=fw_metadata, aot_config=aot_config,
                                                          trace_joint=trace_joint)
    plain = aot_dispatch_subclass(function, arguments, descs, is_joint_structure=trace_joint, meta=fw_metadata, fw_only=inner)
    function, arguments, descs = handle_effect_tokens_fn(
        plain.plain_tensor_trace_fn, plain.plain_tensor_args, plain.plain_tensor_args_descs, meta=fw_metadata, trace_joint=trace_joint)
    return SimpleNamespace(fn_to_trace=function, flat_args=arguments, flat_args_descs=descs)
