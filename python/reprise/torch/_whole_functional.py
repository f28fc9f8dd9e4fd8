"""Makes Dynamo's graph functional: AOTAutograd's analysis and wrappers, without its own backward pass.

AOTAutograd turns writes in place into values, and handles mutated arguments, aliases and views around the code.
Autograd around the code is ours (_whole_autograd.py).
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.fx as fx

from ._seam.capture import (OutputType, PlainAOTOutput, TensorAlias, assert_functional_graph, capture_graph, create_aot_state,
                            create_graph, create_wrappers, fn_prepped_for_autograd, prepare_aot, prepare_tracing,
                            requires_subclass_dispatch, tensorify_scalars)
from ._seam.core import (disable_current_modes, get_cudnn_enabled, get_mkldnn_enabled, is_any_autocast_enabled, set_cudnn_enabled,
                         set_mkldnn_enabled)
from ._seam.dynamo import without_compiled_autograd
from ._seam.wrappers import RuntimeWrapper, post_compile, pre_compile
from ._whole_effects import drop_tokens
from ._whole_errors import Unsupported, describe_subclasses

_OF_INPUTS = (OutputType.alias_of_input, OutputType.is_input)


class Functional:
    """A graph without writes. Its outputs are the arguments that were written, the user's outputs, and bases of views."""

    def __init__(self, module: fx.GraphModule, metadata: Any, mask: Sequence[bool] | None,
                 function: Callable[..., Sequence[Any]] | None = None, arguments: Sequence[Any] = ()) -> None:
        self.module = module
        #: User's function, which may write to its arguments, and arguments without elements; None without gradients.
        self._function, self.arguments = function, list(arguments)
        self.metadata = metadata
        self.primals = module.graph.find_nodes(op="placeholder")
        output = module.graph.find_nodes(op="output")[0]
        self.outputs, self.output_descs = list(output.args[0]), list(output.meta["desc"])
        #: Flag of graphs with gradients.
        self.is_training = mask is not None
        #: For each output, whether autograd may give a cotangent of it.
        self.mask = list(mask) if mask is not None else [False] * len(self.outputs)
        #: Outputs that are not computed, since they are views of arguments or of other outputs, by number.
        self.aliases = self._aliases()

    def _aliases(self) -> dict[int, torch.Tensor]:
        """Returns the aliases, of which only sizes and strides are needed."""
        metadata, found = self.metadata, []
        mutated = metadata.mutated_inp_runtime_indices
        for number, argument in enumerate(mutated):
            info = metadata.input_info[argument]
            if info.mutates_metadata and not info.mutates_data and not info.mutates_storage_metadata:
                found.append(number)
        bases = {info.base_idx for info in metadata.output_info if info.output_type not in _OF_INPUTS}
        found += [len(mutated) + number for number in metadata.aliased_out_indices if number not in bases]
        return {number: _without_elements(self.outputs[number].meta["val"]) for number in found}

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Returns the outputs as the user's function computes them, under PyTorch's autograd."""
        made, _ = self._function(*arguments)
        is_base = OutputType.alias_of_intermediate_save_as_output
        return [*(arguments[number] for number in self.metadata.mutated_inp_runtime_indices), *made,
                *(each._base for each, info in zip(made, self.metadata.output_info) if info.output_type is is_base)]

    def writes(self, number: int) -> bool:
        """Returns whether an argument's elements are overwritten when the code has run."""
        return self.metadata.input_info[number].mutates_data

    def wraps(self, number: int) -> bool:
        """Returns whether autograd must not see an output, because it is recreated behind it."""
        mutated = self.metadata.mutated_inp_runtime_indices
        if number < len(mutated):
            info = self.metadata.input_info[mutated[number]]
            return info.mutates_metadata and not info.mutates_data
        return number - len(mutated) in self.metadata.aliased_out_indices


def _without_elements(value: torch.Tensor) -> torch.Tensor:
    with disable_current_modes():
        sizes, strides = [int(size) for size in value.size()], [int(stride) for stride in value.stride()]
        return torch.empty(0, dtype=value.dtype, device="meta").as_strided(sizes, strides, int(value.storage_offset()))


@contextlib.contextmanager
def _without_libraries() -> Iterator[None]:
    """Traces recurrent nets and batch norms as no ops of MKL-DNN and cuDNN."""
    enabled = get_mkldnn_enabled(), get_cudnn_enabled()
    set_mkldnn_enabled(False)
    set_cudnn_enabled(False)
    try:
        yield
    finally:
        set_mkldnn_enabled(enabled[0])
        set_cudnn_enabled(enabled[1])


def _trace(state: Any, call: Callable[..., Any]) -> tuple[Functional, list[Any]]:
    """The graph that autograd stands around, traced as AOTAutograd traces the forward half of its joint graph."""
    def described(*arguments: Any) -> Any:
        outputs = call(*arguments)
        return outputs, type(outputs)(PlainAOTOutput(number) for number in range(len(outputs)))

    wrappers = create_wrappers(True)
    config = state.aot_config
    function, arguments, descs, metadata = pre_compile(
        wrappers, described, state.flat_args, state.flat_args_descs, config, fw_metadata=state.fw_metadata)
    prepared, masks = fn_prepped_for_autograd(function, descs, metadata, config), []

    def forward(*arguments: Any) -> Any:
        (outputs, mask), (output_descs, _) = prepared(*arguments)
        masks.append(mask)
        return outputs, output_descs

    tracing = prepare_tracing(forward, arguments, descs, function, fw_metadata=metadata, aot_config=config,
                                             trace_joint=False)
    module = create_graph(tracing.fn_to_trace, tracing.flat_args, tracing.flat_args_descs, aot_config=config)
    assert_functional_graph(module.graph)
    module.graph.eliminate_dead_code()
    module.recompile()
    tensorify_scalars(module)  # may replace outputs
    drop_tokens(module, metadata)
    return Functional(module, metadata, masks[-1], function, arguments), wrappers


def _trace_inference(state: Any, call: Callable[..., Any]) -> tuple[Functional, list[Any]]:
    capture = capture_graph(state, call)
    tensorify_scalars(capture.graph_module)
    drop_tokens(capture.graph_module, state.fw_metadata)
    return Functional(capture.graph_module, state.fw_metadata, None), capture.wrappers


def make_functional(module: fx.GraphModule, inputs: Sequence[Any],
                    compiler: Callable[[Functional], Callable[[list[Any]], list[Any]]]) -> Callable[..., Any]:
    """Returns the function of Dynamo's graph around ``compiler``'s result for the functional one: from arguments to
    outputs."""
    with _without_libraries(), contextlib.ExitStack() as stack:
        call, parameters, _, _, arguments, descs, config, fake_mode, shapes, *_ = prepare_aot(module, inputs)
        stack.enter_context(without_compiled_autograd())
        state = create_aot_state(stack, call, arguments, descs, config, fake_mode, shapes)
        if requires_subclass_dispatch(arguments, state.fw_metadata):
            raise Unsupported({describe_subclasses(arguments): ["its inputs"]})
        is_training = state.needs_autograd
        functional, wrappers = (_trace if is_training else _trace_inference)(state, call)
        run = compiler(functional)

        def boxed(arguments: list[Any]) -> list[Any]:
            outputs = run(arguments)
            arguments.clear()
            return outputs

        boxed._boxed_call = True
        compiled = RuntimeWrapper(
            indices_of_inps_to_detach=[], trace_joint=is_training, disable_amp=is_any_autocast_enabled(),
        ).post_compile(boxed, state.aot_config, runtime_metadata=functional.metadata)
        compiled, _ = post_compile(wrappers, compiled, state.aot_config,
                                                    runtime_metadata=functional.metadata)
    return lambda *given: compiled([*parameters, *given])


def hidden(functional: Functional, number: int, value: Any) -> Any:
    """Returns an output as autograd may see it."""
    return TensorAlias(value) if functional.is_training and functional.wraps(number) else value
