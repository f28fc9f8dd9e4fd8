"""Dynamo's graph with numbers in place of the sizes and floats that vary."""

from __future__ import annotations

from typing import Iterator, Mapping

import torch
from torch import fx

Number = int | float


def copy(graph: fx.GraphModule) -> tuple[fx.GraphModule, dict[fx.Node, fx.Node]]:
    """Returns a graph with the same attributes and Dynamo's metadata, and the copy of each node."""
    copied: dict[fx.Node, fx.Node] = {}
    nodes = fx.Graph()
    nodes.output(nodes.graph_copy(graph.graph, copied))
    made = fx.GraphModule(graph, nodes)
    made.meta.update(graph.meta)
    for old, new, name in [(graph, made, "_param_name_to_source"), *((*each, "_dynamo_source") for each in copied.items())]:
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    return made, copied


def placeholders(graph: fx.GraphModule) -> list[fx.Node]:
    """The inputs of a graph, in order."""
    return list(graph.graph.find_nodes(op="placeholder"))


def _bodies(graph: fx.GraphModule) -> Iterator[tuple[fx.Node, fx.GraphModule, list[tuple[fx.Node, fx.Node]]]]:
    """Calls of a graph's regions, their bodies, and each operand with the body's input."""
    for call in graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.tag_activation_checkpoint):
        body = getattr(graph, call.args[0].target)
        yield call, body, [each for each in zip(call.args[1:], placeholders(body)) if isinstance(each[0], fx.Node)]


def find_floats(graph: fx.GraphModule) -> set[fx.Node]:
    """Returns inputs that are tensors and are read as floats by ``item``: here, or in the body of a region that they
    are passed to."""
    found = {each.args[0] for each in graph.graph.find_nodes(op="call_method", target="item")}
    for _, body, operands in _bodies(graph):
        inner = find_floats(body)
        found |= {operand for operand, place in operands if place in inner}
    return {each for each in found if each.op == "placeholder"}


def specialize(graph: fx.GraphModule, numbers: Mapping[fx.Node, Number]) -> fx.GraphModule:
    """Returns the graph with numbers for inputs; their placeholders stay, unread unless a body takes a tensor."""
    made, copied = copy(graph)
    for place, (call, body, operands) in enumerate(_bodies(graph)):
        inner = {within: numbers[operand] for operand, within in operands if operand in numbers}
        if not inner:
            continue
        name = f"{call.args[0].target}_of_numbers_{place}"
        setattr(made, name, specialize(body, inner))
        with made.graph.inserting_before(copied[call]):
            copied[call].update_arg(0, made.graph.get_attr(name))
    for node, number in numbers.items():
        is_float = isinstance(number, float)
        for user in list(copied[node].users):
            if is_float and user.op == "call_method" and user.target == "item":
                _replace(user, number)
                made.graph.erase_node(user)
        if not is_float:
            _replace(copied[node], number)
    made.recompile()
    return made


def _replace(node: fx.Node, number: Number) -> None:
    for user in list(node.users):
        user.args, user.kwargs = fx.node.map_arg((user.args, user.kwargs), lambda each: number if each is node else each)
