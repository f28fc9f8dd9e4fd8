"""Finds regions of torch.utils.checkpoint, the units of a plan. A region's values are replayed for its own backward
pass.

Each region has a number in PyTorch's joint graph (``ac_graph_id``). A region in a region has the outer one's number
there, so Dynamo's graph, which has both, is marked. PyTorch passes the marks (``custom``) on to the joint graph. Regions
with a budget (``reprise.torch.region``) are units, too.
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, NamedTuple

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from ._region_budgets import KEY, parse_limit
from ._seam.core import OpOverload
from ._seam.joint import (cleanup_recompute_tags, config as joint_config, force_save_bw_mutation_src, force_save_collectives,
                          force_save_effectful_ops, has_recomputable_ops)

aten = torch.ops.aten
#: The places of the regions around an op of Dynamo's graph, the outermost first.
MARK = "reprise_regions"
#: Mark of values that PyTorch itself asks to save.
KEPT = "reprise_kept"

Region = tuple[Any, ...]


class Bound(NamedTuple):
    """Region with a budget, in a path of regions: its number in the graph, and the budget's text."""

    number: int
    budget: str


def mark(graph: fx.GraphModule, around: Region = (), known: dict[str, Bound] | None = None) -> None:
    """Marks each op of Dynamo's graph that lies in a region."""
    known = {} if known is None else known
    for place, node in enumerate(graph.graph.nodes):
        custom = node.meta.get("custom", {})
        keys = sorted((each for each in custom if str(each).startswith(KEY)), key=lambda each: int(each[len(KEY):]))
        bounds = [known.setdefault(each, Bound(len(known), parse_limit(custom[each]))) for each in keys]
        path = (*around, *(each for each in bounds if each not in around))
        if path:
            node.meta["custom"] = {**{key: each for key, each in custom.items() if key not in keys}, MARK: path}
        is_region = node.target is torch.ops.higher_order.tag_activation_checkpoint
        for body in node.all_input_nodes if node.op == "call_function" else ():
            inner = getattr(graph, body.target, None) if body.op == "get_attr" else None
            if isinstance(inner, fx.GraphModule):
                mark(inner, (*path, place) if is_region else path, known)


def _paths(graph: fx.GraphModule) -> Iterator[Region]:
    for node in graph.graph.nodes:
        yield node.meta.get("custom", {}).get(MARK, ())


def has_any(graph: fx.GraphModule) -> bool:
    """Returns whether a marked graph of Dynamo's has a region."""
    return any(_paths(graph)) or bool(
        graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.tag_activation_checkpoint))


def list_bounds(graph: fx.GraphModule) -> str:
    """Returns a text of the budgets of a marked graph of Dynamo's, and of the ops that they are for; empty without
    budgets."""
    parts = (part for part in graph.modules() if isinstance(part, fx.GraphModule))
    paths = [path for part in parts for path in _paths(part)]
    return repr(paths) if any(isinstance(each, Bound) for path in paths for each in path) else ""


def read(node: fx.Node) -> Region:
    """Returns the regions around a forward op of AOTAutograd's graph, the outermost first."""
    number, places = node.meta.get("ac_graph_id"), node.meta.get("custom", {}).get(MARK, ())
    if number is None:
        return tuple(each for each in places if isinstance(each, Bound))
    at = next((at for at, each in enumerate(places) if not isinstance(each, Bound)), None)
    return (*places, (number, 0)) if at is None else (*places[:at], (number, places[at]), *places[at + 1:])


def find_bounds(paths: Iterable[Region]) -> list[Region]:
    """Returns the paths that end with a region with a budget, inner ones first."""
    found = dict.fromkeys(path[:depth] for path in paths for depth in range(1, len(path) + 1) if isinstance(path[depth - 1], Bound))
    return sorted(found, key=lambda path: (-len(path), path[-1].number))


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
            found[node] = read(node)
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
        scale = 1.0 / (1.0 - rate) if rate < 1 else 0.0
        # The CPU's dropout scales the mask, which rounds the scale to 16 bits. With more bits the order has no effect, and
        # a scaled mask would be one more value.
        kept = call(aten.mul.Tensor, call(aten.mul.Tensor, x, mask), scale) if value.dtype.itemsize > 2 else call(
            aten.mul.Tensor, x, call(aten.mul.Tensor, call(aten._to_copy.default, mask, dtype=value.dtype), scale))
        for user in list(node.users):
            user.replace_all_uses_with((kept, mask)[user.args[1]])
            joint.graph.erase_node(user)
        joint.graph.erase_node(node)
    joint.recompile()
