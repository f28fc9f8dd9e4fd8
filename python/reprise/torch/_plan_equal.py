"""Merges equal ops of a joint graph.

PyTorch's own pass (``fx_graph_cse``) imports all of Inductor, copies the graph, and merges ops whose numbers differ in
the sign of a zero.
"""

from __future__ import annotations

import operator
from typing import Any, Hashable

import torch
from torch import fx

from . import _plan_regions as regions
from ._plan_nodes import is_collective, is_mutation, is_random, results, runs_once
from ._seam.core import OpOverload, tree_leaves

aten = torch.ops.aten


def _freeze(value: Any) -> Hashable:
    """Returns a key that two operands share if an op cannot tell them apart. Numbers of two types differ, and so do the
    two zeros."""
    if isinstance(value, (list, tuple)):
        return isinstance(value, list), tuple(map(_freeze, value))
    if isinstance(value, dict):
        return tuple((name, _freeze(each)) for name, each in value.items())
    if isinstance(value, slice):
        return slice, _freeze((value.start, value.stop, value.step))
    return value if isinstance(value, fx.Node) else (type(value), repr(value) if isinstance(value, (float, complex)) else value)


def _storages(value: Any) -> set[int]:
    return {each.untyped_storage()._cdata for each in tree_leaves(value)
            if isinstance(each, torch.Tensor) and each.layout is torch.strided}


def _is_mergeable(node: fx.Node) -> bool:
    """Returns whether one run of an op serves two equal calls: not if the op draws words, or returns what memory held
    before."""
    if node.target is operator.getitem:
        return True
    if not isinstance(node.target, OpOverload) or node.target.overloadpacket is aten.empty or is_random(node):
        return False
    return is_collective(node) or not runs_once(node)


def merge_equal(joint: fx.GraphModule) -> None:
    """Merges equal ops. Ops of different regions stay two, because each is replayed with its own region. So do ops around
    a write, and ops whose memory the graph returns, which a program may write."""
    found = regions.find(joint)
    given = [each for each in joint.graph.output_node().all_input_nodes if len(results(each)) == 1]
    returned = set().union(*(_storages(each.meta["val"]) for each in given))
    known: dict[Hashable, fx.Node] = {}
    writes = 0
    for node in joint.graph.nodes:
        writes += is_mutation(node)
        value = node.meta.get("val")
        if not _is_mergeable(node) or (isinstance(value, torch.Tensor) and not returned.isdisjoint(_storages(value))):
            continue
        key = (node.target, writes, found[node], _freeze(node.args), _freeze(node.kwargs))
        try:
            earlier = known.setdefault(key, node)
        except TypeError:  # an operand without a hash
            continue
        if earlier is not node:
            node.replace_all_uses_with(earlier)
            joint.graph.erase_node(node)
