"""Takes the tokens of effects out of a functional graph: PyTorch orders checks of values by them."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.fx as fx

from ._whole_errors import Unsupported, source_line

#: Check whose inputs are results of a factorization.
CHECK = torch.ops.aten._linalg_check_errors.default


def drop_tokens(module: fx.GraphModule, metadata: Any) -> None:
    """Removes the first arguments and outputs, which are tokens, and what hands them on. A check stays, without users."""
    count, graph = len(metadata.tokens), module.graph
    if not count:
        return
    output = graph.find_nodes(op="output")[0]
    output.args = (type(output.args[0])(output.args[0][count:]),)
    output.meta["desc"] = output.meta["desc"][count:]
    for node in reversed(graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects)):
        _replace(graph, node)
    for token in graph.find_nodes(op="placeholder")[:count]:
        graph.erase_node(token)
    metadata.tokens = {}
    module.recompile()


def _replace(graph: fx.Graph, node: fx.Node) -> None:
    """Replaces an op with a token, whose users with the next token are gone."""
    _, target, *arguments = node.args
    if target is not CHECK:
        raise Unsupported({f"{target}, an operator with effects": [source_line(node)]})
    for user in list(node.users):
        assert user.target is operator.getitem and not user.users, "a check has results"
        graph.erase_node(user)
    with graph.inserting_before(node):
        check = graph.call_function(target, tuple(arguments), dict(node.kwargs))
    check.meta.update({key: value for key, value in node.meta.items() if key != "val"})
    graph.erase_node(node)
