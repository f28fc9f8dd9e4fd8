"""Rewrites Dynamo's graph, before AOTAutograd splits or loses ops that the dialect keeps whole."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.fx as fx
import torch.nn.functional as F

from ._seam.core import HigherOrderOperator, is_functorch_wrapped_tensor, is_traceable_wrapper_subclass
from ._whole_errors import Unsupported, describe_subclasses, source_line
from ._whole_stops import Stops


def _attention_arguments(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
                         is_causal: bool = False, scale: Any = None, enable_gqa: bool = False) -> tuple[Any, ...]:
    return query, key, value, attn_mask, dropout_p, is_causal, scale


def _known(value: Any) -> Any:
    """Returns a number; for one that Dynamo has made a variable, such as another model's scale, the value of this
    program."""
    return value.meta["example_value"] if isinstance(value, fx.Node) else value


def _keep_attention(graph: fx.Graph, node: fx.Node) -> None:
    query, key, value, mask, rate, is_causal, scale = _attention_arguments(*node.args, **node.kwargs)
    if is_functorch_wrapped_tensor(node.meta["example_value"]):
        return # torch.func differentiates or batches it, for which PyTorch splits it
    shape, dtype = query.meta["example_value"].shape, node.meta["example_value"].dtype
    with graph.inserting_before(node):
        operands = [each if each.meta["example_value"].dtype == dtype else graph.call_method("to", (each, dtype))
                    for each in (query, key, value)]
    node.target = torch.ops.reprise.attention.default
    scale = shape[-1] ** -0.5 if scale is None else scale
    node.args, node.kwargs = (*operands, mask, float(_known(rate)), bool(_known(is_causal)), float(_known(scale))), {}


#: Operators of functions that AOTAutograd would lose or the importer does not know, by name.
_REFUSED = {"register_hook": "a hook that is registered in the compiled function on what it computes"}
_REFUSED |= {name: f"torch.{name}" for name in ("cond", "while_loop", "scan", "associative_scan", "map_impl")}

_RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)


def _as_tuple(*values: Any) -> tuple[Any, ...]:
    return values


def _split_layers(graph: fx.Graph, node: fx.Node) -> None:
    """Runs the layers with dropout between them, which PyTorch 2.13 forgets when it splits a recurrent net."""
    if not isinstance(node.args[2], (list, tuple)):
        raise Unsupported({"packed sequences with dropout": [source_line(node)]})
    x, state, parameters, has_biases, layers, rate, is_training, is_bidirectional, is_batch_first = node.args
    states = list(state) if isinstance(state, (list, tuple)) else [state]
    directions, count = 1 + bool(is_bidirectional), len(parameters) // layers
    made: list[list[fx.Node]] = []
    origin = {key: node.meta[key] for key in ("stack_trace", "nn_module_stack") if key in node.meta}

    def call(target: Any, *arguments: Any) -> fx.Node:
        new = graph.call_function(target, arguments)
        new.meta.update(origin)
        return new

    with graph.inserting_before(node):
        for layer in range(layers):
            part = slice(layer * directions, (layer + 1) * directions)
            own = [call(operator.getitem, each, part) for each in states]
            given = own if isinstance(state, (list, tuple)) else own[0]
            step = call(node.target, x, given, parameters[layer * count:(layer + 1) * count], has_biases, 1, 0.0,
                        is_training, is_bidirectional, is_batch_first)
            outputs = [call(operator.getitem, step, number) for number in range(1 + len(states))]
            made.append(outputs[1:])
            x = outputs[0] if layer == layers - 1 else call(F.dropout, outputs[0], rate, True)
        whole = call(_as_tuple, x, *(call(torch.cat, list(each)) for each in zip(*made)))
    node.replace_all_uses_with(whole)
    graph.erase_node(node)


def keep_whole(module: fx.GraphModule) -> None:
    """Makes attention one operator, and marks where no gradient passes: detach, and results of a no_grad region.

    Regions of torch.utils.checkpoint are graphs in the graph.
    """
    for part in module.modules():
        if isinstance(part, fx.GraphModule):
            _keep_whole(part)


def _keep_whole(module: fx.GraphModule) -> None:
    for node in list(module.graph.nodes):
        value = node.meta.get("example_value")
        if is_traceable_wrapper_subclass(value):
            raise Unsupported({describe_subclasses([value]): [source_line(node)]})
        if isinstance(node.target, HigherOrderOperator) and node.target.name() in _REFUSED:
            raise Unsupported({_REFUSED[node.target.name()]: [source_line(node)]})
        if node.target in _RECURRENT and len(node.args) == 9 and node.args[4] > 1 and node.args[5] and node.args[6]:
            _split_layers(module.graph, node)
        elif node.target is F.scaled_dot_product_attention:
            _keep_attention(module.graph, node)
    Stops(module.graph).mark()
    module.recompile()
