"""Finds where no gradient passes in Dynamo's graph: detach, .data, and regions without gradients, which AOTAutograd
loses."""

from __future__ import annotations

import torch
import torch.fx as fx

from ._seam.core import get_data, get_unwrapped, is_functorch_wrapped_tensor, set_grad_enabled, tree_leaves
from ._whole_errors import Unsupported, source_line

#: Writes that add to their operand, whose gradient passes unchanged.
_ADDING = ("add_", "sub_", "iadd", "isub", "addcmul_", "addcdiv_")
_STOP = torch.ops.reprise.stop_gradient.default
_WRITE = "a write without gradients (no_grad, detach or .data) into memory whose gradient is asked for"


def _name(node: fx.Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def _writes(node: fx.Node) -> bool:
    """Returns whether a node writes into its first operand."""
    name = _name(node)
    return name.endswith("_") and not name.endswith("__") or name in ("setitem", "__setitem__", "iadd", "isub", "imul")


def _written(node: fx.Node) -> list[fx.Node]:
    """Returns the tensors that a node writes."""
    leaves = tree_leaves(node.args[0]) if _writes(node) and node.args else []
    return [each for each in leaves if isinstance(each, fx.Node) and _is_float(each)]


def _adds(node: fx.Node) -> bool:
    return _name(node).removeprefix("_foreach_") in _ADDING


def _has_gradient(node: fx.Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.requires_grad


def _storage(node: fx.Node) -> int | None:
    """Returns the identity of a tensor's memory."""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor):
        return None
    while is_functorch_wrapped_tensor(value):
        value = get_unwrapped(value)
    return value.untyped_storage()._cdata if value.layout is torch.strided else id(value)


def _is_float(node: fx.Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_gradient_free(node: fx.Node) -> bool:
    return node.op == "call_method" and node.target == "detach" or \
        node.target in (torch.detach, get_data)


class Stops:
    """The nodes of a graph, and where gradients are on."""

    def __init__(self, graph: fx.Graph) -> None:
        self._graph = graph
        self._order: dict[fx.Node, int] = {}
        self._is_enabled: dict[fx.Node, bool] = {}
        enabled = True
        for number, node in enumerate(graph.nodes):
            if node.target is set_grad_enabled:
                enabled = node.args[0]
            self._order[node], self._is_enabled[node] = number, enabled

    def mark(self) -> None:
        """Inserts the dialect's end of a gradient where there is one."""
        for node in list(self._graph.nodes):
            if node.op not in ("call_function", "call_method"):
                continue
            if node.target == "detach_":
                self._stop_behind(node)
            elif written := _written(node):
                self._check_write(node, written)
            elif _is_float(node) and (_is_gradient_free(node) or not self._is_enabled[node]):
                self._stop(node, [user for user in node.users if user in self._order and self._reads_freely(node, user)])

    def _reads_freely(self, node: fx.Node, user: fx.Node) -> bool:
        """Returns whether no gradient can pass from a reader to a node without one."""
        if not _is_gradient_free(node) and not self._is_enabled[user] and user.op != "output":
            return False
        return node not in _written(user)

    def _stop(self, node: fx.Node, readers: list[fx.Node]) -> None:
        for reader in readers:
            with self._graph.inserting_before(reader):
                stop = self._graph.call_function(_STOP, (node,))
            stop.meta = dict(node.meta)
            reader.replace_input_with(node, stop)

    def _stop_behind(self, node: fx.Node) -> None:
        """Makes later readers of a tensor read the result of its detach_."""
        detached = node.args[0]
        node.replace_all_uses_with(detached)
        readers = [user for user in detached.users if self._order.get(user, -1) > self._order[node]]
        if detached.op == "placeholder" or any(detached in _written(reader) for reader in readers):
            raise Unsupported({"detach_ of an argument, or before a write into the same memory": [source_line(node)]})
        self._stop(detached, readers)
        self._graph.erase_node(node)

    def _check_write(self, node: fx.Node, written: list[fx.Node]) -> None:
        """Handles a write that autograd does not see: it keeps the gradient of the written tensor, and gives none to
        its operands."""
        is_seen = self._is_enabled[node]
        others = [each for each in node.all_input_nodes if _is_float(each) and each not in written]
        for each in [] if is_seen else others:
            self._stop(each, [node])
        for each in written:
            chain = self._chain(each)
            is_copy = chain[-1].target is _STOP
            if is_seen and not is_copy and not self._is_detached(chain[-1]):
                continue
            is_lost = is_seen and any(_has_gradient(other) for other in others) or is_copy and self._is_read(node, each, chain)
            if is_lost or not (not is_seen and _adds(node)) and self._is_read(node, each):
                raise Unsupported({_WRITE: [source_line(node)]})
            if _is_float(node) and not _has_gradient(node):
                self._stop(node, [user for user in node.users if self._reads_freely(node, user)])

    def _is_detached(self, node: fx.Node) -> bool:
        return _is_gradient_free(node) or not self._is_enabled[node]

    def _chain(self, node: fx.Node) -> list[fx.Node]:
        """Returns a tensor and the tensors that it views, up to the first one without a gradient."""
        chain = [node]
        while node.target is not _STOP and not self._is_detached(node) and node.args:
            node = node.args[0]
            if not isinstance(node, fx.Node) or _storage(node) != _storage(chain[0]):
                break
            chain.append(node)
        return chain

    def _is_read(self, write: fx.Node, written: fx.Node, own: list[fx.Node] | None = None) -> bool:
        """Returns whether memory is read behind a write with its gradient, or, given a copy's own nodes, by any other
        node."""
        storage = _storage(written)
        for node in self._order:
            if _storage(node) != storage or node is write or (node in own if own else not _has_gradient(node)):
                continue
            if own and self._order[node] > self._order[write]:
                continue
            if any((own or user.op == "output" or self._is_enabled[user]) and self._order[user] > self._order[write]
                   for user in node.users if user in self._order):
                return True
        return False
