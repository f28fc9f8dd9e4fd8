"""Splits regions of torch.utils.checkpoint with a user's torch.autograd.Function inside, before the graph is cut around
it.

The ops before and behind the function become separate regions, with the policy of the whole one. The function stands
between them, outside: the operands of its backward pass are kept, because its forward pass cannot run twice in one
program.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

import torch
import torch.fx as fx

from .._errors import Error
from ._region_budgets import KEY
from ._seam.core import tree_map
from ._whole_errors import source_line

Split = Callable[[fx.GraphModule], fx.GraphModule]


def is_region(node: fx.Node) -> bool:
    """Returns whether a node is a region of torch.utils.checkpoint."""
    return node.target is torch.ops.higher_order.tag_activation_checkpoint


def body_of(node: fx.Node) -> fx.GraphModule:
    """Returns the body of a region."""
    return node.graph.owning_module.get_submodule(node.args[0].target)


def _regions(module: fx.GraphModule) -> list[fx.Node]:
    return [node for node in module.graph.nodes if is_region(node)]


def is_function(node: fx.Node) -> bool:
    """Returns whether a node is a user's torch.autograd.Function."""
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "autograd_function_apply"


def has_functions(module: fx.GraphModule) -> bool:
    """Returns whether a function with its own backward pass is in the graph, or in a region of it."""
    bodies = (getattr(module, node.args[0].target) for node in _regions(module))
    return any(map(is_function, module.graph.nodes)) or any(map(has_functions, bodies))


def check_uncut(module: fx.GraphModule) -> None:
    """Raises an Error for a function in a region with a budget, whose ops then are in several programs."""
    for node in module.graph.nodes:
        if is_function(node) and any(str(each).startswith(KEY) for each in node.meta.get("custom", {})):
            raise Error(f"{source_line(node)}: a torch.autograd.Function lies in a region(budget=…), which would be cut around it; "
                        "end the region before the function, or use backend=\"reprise_plan\"")
    for node in _regions(module):
        check_uncut(getattr(module, node.args[0].target))


class _Opened:
    """The parts of a region's body in place of the region."""

    def __init__(self, module: fx.GraphModule, node: fx.Node) -> None:
        self._module = module
        self._node = node

    def _attach(self, part: Any, name: str) -> fx.Node:
        while hasattr(self._module, name):
            name += "_"
        setattr(self._module, name, part)
        return self._module.graph.get_attr(name)

    def _call(self, part: fx.GraphModule, name: str, arguments: Any) -> Any:
        """Inserts a region with the part as its body."""
        part.meta.update(self._body.meta)
        node = self._module.graph.call_function(self._node.target, (self._attach(part, name), *arguments), self._node.kwargs)
        node.meta.update(self._node.meta)
        node.meta.pop("example_value", None)
        return node

    def _inline(self, part: fx.GraphModule, arguments: Any) -> Any:
        """Inserts a function, and the users that take its results apart."""
        known = dict(zip(part.graph.find_nodes(op="placeholder"), arguments))
        for node in part.graph.nodes:
            if node.op == "get_attr":
                known[node] = self._attach(getattr(part, node.target), node.target)
            elif node.op == "output":
                return tree_map(lambda each: known.get(each, each), node.args[0])
            elif node.op != "placeholder":
                known[node] = self._module.graph.node_copy(node, known.get)

    def run(self, split: Split) -> None:
        self._body = getattr(self._module, self._node.args[0].target)
        open_regions(self._body, split)
        parts, known = split(self._body), {}
        arguments = iter(self._node.args[1:])
        with self._module.graph.inserting_before(self._node):
            for node in parts.graph.nodes:
                given = fx.node.map_arg(node.args, known.get)
                if node.op == "placeholder":
                    known[node] = next(arguments)
                elif node.op == "call_module":
                    part = getattr(parts, node.target)
                    make = self._inline if any(map(is_function, part.graph.nodes)) else None
                    known[node] = make(part, given) if make else self._call(part, node.target, given)
                elif node.op == "call_function":  # a getitem
                    known[node] = given[0][given[1]] if isinstance(given[0], (tuple, list)) else \
                        self._module.graph.node_copy(node, known.get)
                elif node.op == "output":
                    self._replace(given[0])

    def _replace(self, results: Any) -> None:
        for user in list(self._node.users):
            if user.target is operator.getitem:
                user.replace_all_uses_with(results[user.args[1]])
                self._module.graph.erase_node(user)
        self._module.graph.erase_node(self._node)


def open_regions(module: fx.GraphModule, split: Split) -> None:
    """Splits regions with functions inside; ``split`` makes parts of a body, some of which are functions."""
    for node in _regions(module):
        if has_functions(getattr(module, node.args[0].target)):
            _Opened(module, node).run(split)
    module.graph.lint()
    module.recompile()
