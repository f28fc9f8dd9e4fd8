"""Copies arguments that the step overwrites, such as buffers: the backward pass reads their old values.

A program that overwrites an argument makes a copy first, which Inductor's decompositions leave out of the joint graph.
"""

from __future__ import annotations

from typing import Iterable

import torch
from torch import fx

from ._plan_nodes import call_behind, is_mutation, root, tensor_operands, written_arguments
from ._seam.joint import classify_nodes

aten = torch.ops.aten


def keep_overwritten(joint: fx.GraphModule, static_inputs: Iterable[int], num_fwd_outputs: int) -> None:
    """Gives readers of such an argument a copy, if one of them is in the backward pass."""
    written = written_arguments(joint)
    if not written:
        return
    forward = classify_nodes(joint, list(static_inputs), num_fwd_outputs)._required_fw_nodes
    late = dict.fromkeys(operand for node in joint.graph.nodes if node.op == "call_function" and node not in forward
                         and not _ignores_statistics(node) for operand in tensor_operands(node)
                         if (operand.op == "placeholder" or operand in forward) and root(operand)[0] in written)
    for operand in late:
        copy = call_behind(operand, aten.clone.default)
        # The forward pass must read the copy, too; otherwise it would be made behind the update.
        operand.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy and user.op != "output" and not is_mutation(user))
    joint.recompile()


def _ignores_statistics(node: fx.Node) -> bool:
    """Returns whether an op gets running statistics and reads the batch's: if the former are overwritten, it must."""
    return "batch_norm_backward" in str(node.target)
