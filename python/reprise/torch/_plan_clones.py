"""Drops copies that eager code does not make: PyTorch traces a dropout that drops nothing as a copy."""

from __future__ import annotations

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from ._plan_nodes import results, root, storage_bytes
from ._seam.core import tree_leaves

MUSTS = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.MUST_RECOMPUTE)


def drop_clones(joint: fx.GraphModule) -> None:
    """Replaces each copy by its operand, if both have one layout and neither is an argument or a result of the graph."""
    outputs = tree_leaves(joint.graph.output_node().args)
    given = {root(each)[0] for each in outputs if isinstance(each, fx.Node)}
    for node in joint.graph.find_nodes(op="call_function", target=torch.ops.aten.clone.default):
        operand = node.args[0]
        made, copied = operand.meta["val"], node.meta["val"]
        is_whole = storage_bytes(made) == storage_bytes(copied) and made.stride() == copied.stride()
        is_inside = root(operand)[0].op == "call_function" and not given & {node, root(operand)[0]}
        if is_whole and is_inside and results(root(operand)[0]) and node.meta.get("recompute") not in MUSTS:
            node.replace_all_uses_with(operand)
            joint.graph.erase_node(node)
    joint.recompile()
