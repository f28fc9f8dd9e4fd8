"""Marks elementwise results that Inductor's code stores, because that frees more memory than it needs.

Inductor computes an elementwise op where its result is read, and until then keeps all operands of the op. A running
sum, such as that of the skip connections of a net, therefore keeps each of its terms up to the first library op that
reads the sum.
"""

from __future__ import annotations

import bisect
import operator

import torch
from torch import fx

from ._plan_nodes import is_view, results, storage_bytes
from ._plan_workspace import calls_library
from ._seam.core import OpOverload


def _looks(node: fx.Node) -> bool:
    return is_view(node) or node.target is operator.getitem


def _is_late(node: fx.Node) -> bool:
    """Returns whether Inductor may compute a result where it is read. The results of library ops and of reductions lie
    in memory."""
    return _looks(node) or isinstance(node.target, OpOverload) and isinstance(node.meta.get("val"), torch.Tensor) and not (
        calls_library(node) or torch.Tag.reduction in node.target.tags)


def _find_last_readers(nodes: list[fx.Node], place: dict[fx.Node, int]) -> dict[fx.Node, int]:
    """Returns, for each node, the place of the last op that reads its memory."""
    last: dict[fx.Node, int] = {}
    for node in reversed(nodes):
        last[node] = max((last[user] if _looks(user) else place[user] for user in node.users), default=place[node])
    return last


def store(graph: fx.Graph, given: dict[str, int]) -> None:
    """Marks such results. `given` has the bytes of the arguments that die at their last use."""
    nodes = list(graph.nodes)
    place = {node: at for at, node in enumerate(nodes)}
    last = _find_last_readers(nodes, place)
    calls = [place[node] for node in nodes if node.op == "call_function" and not _is_late(node)]
    #: Bytes of values in memory, the place until which each is kept, and the values that each node is computed from.
    sizes: dict[fx.Node, int] = {}
    until: dict[fx.Node, int] = {}
    reads: dict[fx.Node, set[fx.Node]] = {}
    for node in nodes:
        is_late = node.op == "call_function" and _is_late(node)
        reads[node] = set().union(*(reads[each] for each in node.all_input_nodes)) if is_late else set()
        if is_late and torch.Tag.pointwise in getattr(node.target, "tags", ()):
            freed = sum(sizes[each] for each in reads[node] if until[each] <= place[node])
            is_kept = bisect.bisect(calls, place[node]) < bisect.bisect_left(calls, last[node])
            if is_kept and freed > sum(map(storage_bytes, results(node))):
                node.meta["inductor_realize_to_strides"] = True
                is_late = False
        if is_late:
            until.update({each: max(until[each], last[node]) for each in reads[node]})
        elif node.op == "call_function" or node.name in given:
            sizes[node] = given.get(node.name, sum(map(storage_bytes, results(node))))
            until[node], reads[node] = last[node], {node}
