"""Finds regions of torch.utils.checkpoint, the units of a plan. A region's values are replayed for its own backward
pass.

Each region has a number in PyTorch's joint graph (``ac_graph_id``). A region in a region has the outer one's number
there, so Dynamo's graph, which has both, is marked. PyTorch passes the marks (``custom``) on to the joint graph.
"""

from __future__ import annotations

from typing import Any, Iterable

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from ._seam.core import OpOverload
from ._seam.joint import (cleanup_recompute_tags, config as joint_config, force_save_bw_mutation_src, force_save_collectives,
                          force_save_effectful_ops, fx_graph_cse, has_recomputable_ops)

aten = torch.ops.aten
#: The places of the regions around an op of Dynamo's graph, the outermost first.
MARK = "reprise_regions"
#: Mark of values that PyTorch itself asks to save.
KEPT = "reprise_kept"
#: Name of an operand that no op has.
TOKEN = "reprise_region"

Region = tuple[Any, ...]


def mark(graph: fx.GraphModule, around: Region = ()) -> None:
    """Marks each op of Dynamo's graph that lies in a region."""
    for place, node in enumerate(graph.graph.nodes):
        if around:
            node.meta["custom"] = {**node.meta.get("custom", {}), MARK: around}
        is_region = node.target is torch.ops.higher_order.tag_activation_checkpoint
        for body in node.all_input_nodes if node.op == "call_function" else ():
            inner = getattr(graph, body.target, None) if body.op == "get_attr" else None
            if isinstance(inner, fx.GraphModule):
                mark(inner, (*around, place) if is_region else around)


def has_any(graph: fx.GraphModule) -> bool:
    """Returns whether Dynamo's graph has a region."""
    return bool(graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.tag_activation_checkpoint))


def _read(node: fx.Node) -> Region:
    """The regions around a forward op of the joint graph, the outermost first."""
    number, places = node.meta.get("ac_graph_id"), node.meta.get("custom", {}).get(MARK, (0,))
    return () if number is None else ((number, places[0]), *places[1:])


def find(joint: fx.GraphModule) -> dict[fx.Node, Region]:
    """Returns the regions around each op. A backward op is in the regions of the forward op to whose gradient it
    belongs."""
    forward: dict[int, Region] = {}
    found: dict[fx.Node, Region] = {}
    for node in joint.graph.nodes:
        if node.op != "call_function":
            continue
        number = node.meta.get("seq_nr")
        if node.meta.get("partitioner_tag") == "is_backward":
            found[node] = forward.get(number, ())
        else:
            found[node] = _read(node)
            forward.setdefault(number, found[node])
    return found


def number(regions: Iterable[Region]) -> tuple[list[int | None], list[int]]:
    """Returns the unit around each unit, and for each op its unit: the innermost region, or a unit that holds nothing
    else."""
    numbers: dict[Region, int] = {}
    around: list[int | None] = []
    units = []
    for region in regions:
        for depth in range(1, len(region) + 1):
            if region[:depth] not in numbers:
                numbers[region[:depth]] = len(around)
                around.append(numbers.get(region[:depth - 1]))  # None outside
        units.append(numbers[region] if region else len(around))
        if not region:
            around.append(None)
    return around, units


def merge_equal(joint: fx.GraphModule) -> None:
    """Merges equal ops, except those of different regions: each is replayed with its own region."""
    for node, region in find(joint).items():
        if region:
            node.kwargs = {**node.kwargs, TOKEN: repr(region)}
    joint.graph = fx_graph_cse(joint.graph)
    for node in joint.graph.nodes:
        node.kwargs = {name: value for name, value in node.kwargs.items() if name != TOKEN}
    joint.recompile()


def mark_kept(joint: fx.GraphModule) -> None:
    """Makes PyTorch mark values that must be saved, and distinguishes its marks from the user's.

    Values that one region passes to the next are not marked: the plan of the labels keeps them anyway, and a budget may
    not.
    """
    asked = {node: node.meta.get("recompute") for node in joint.graph.nodes}
    if has_recomputable_ops(joint):
        cleanup_recompute_tags(joint, is_default_partition=False)
        for node, wish in asked.items():
            if wish is not None and not node.meta.get("has_backward_hook", False):
                node.meta["recompute"] = wish
    if not joint_config.unsafe_allow_optimization_of_collectives:
        force_save_collectives(joint)
    force_save_effectful_ops(joint)
    force_save_bw_mutation_src(joint)
    for node, wish in asked.items():
        node.meta[KEPT] = node.meta.get("recompute") is CheckpointPolicy.MUST_SAVE is not wish


def split_dropouts(joint: fx.GraphModule) -> None:
    """Draws the masks of dropouts in regions by separate ops, as the CPU's dropout does internally.

    Eager code replays only the mask, and neither the op it is for nor the result of the dropout.
    """
    for node, region in find(joint).items():
        if not region or node.target is not aten.native_dropout.default:
            continue
        x, rate, trains = node.args
        value = x.meta["val"]
        if value.device.type != "cpu" or not value.is_contiguous() or not value.numel() or trains is False:
            continue

        def call(target: OpOverload, *args: Any, **named: Any) -> fx.Node:
            with joint.graph.inserting_before(node):
                made = joint.graph.call_function(target, args, named)
            given = [each.meta["val"] if isinstance(each, fx.Node) else each for each in args]
            with value.fake_mode:
                made.meta = {**node.meta, "val": target(*given, **named)}
            return made
        shape = call(aten.expand.default, call(aten.full.default, [], False, dtype=torch.bool, device=value.device), list(value.shape))
        mask = call(aten.bernoulli.p, shape, 1.0 - rate)
        kept = call(aten.mul.Tensor, call(aten.mul.Tensor, x, mask), 1.0 / (1.0 - rate) if rate < 1 else 0.0)
        for user in list(node.users):
            user.replace_all_uses_with((kept, mask)[user.args[1]])
            joint.graph.erase_node(user)
        joint.graph.erase_node(node)
    joint.recompile()
