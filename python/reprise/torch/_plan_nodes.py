"""Finds the planner's facts about the nodes of a joint graph: memory, views, state, random words."""

from __future__ import annotations

import functools
import operator
import re
from typing import Iterator

import torch
from torch import fx

from ._seam.core import OpOverload, tree_leaves

aten = torch.ops.aten
#: A block of CUDA's caching allocator.
CUDA_BLOCK = 512
#: Ops that alias their first operand although their schema does not say so.
HIDDEN_VIEWS = (aten._unsafe_view.default, aten.unsafe_split.Tensor, aten.unsafe_split_with_sizes.default)
WAIT = "_c10d_functional::wait_tensor"


def is_view(node: fx.Node) -> bool:
    """Returns whether a call is a view of its first operand's memory, by the schema instead of a list of names."""
    return node.op == "call_function" and isinstance(node.target, OpOverload) and _returns_view(node.target)


@functools.cache
def _returns_view(target: OpOverload) -> bool:
    if target in HIDDEN_VIEWS or target.name() == WAIT:
        return True
    return any(value.alias_info is not None and not value.alias_info.is_write for value in target._schema.returns)


def is_wait(node: fx.Node) -> bool:
    """Returns whether a call waits for a collective, whose memory it returns."""
    return isinstance(node.target, OpOverload) and node.target.name() == WAIT


def is_python_object(node: fx.Node) -> bool:
    """Returns whether a node is an object of Python, such as the mesh of processes of a DTensor."""
    numbers = (int, float, torch.SymInt, torch.SymFloat, torch.SymBool)
    return "val" in node.meta and not isinstance(node.meta["val"], (torch.Tensor, tuple, list, type(None), *numbers))


def is_mutation(node: fx.Node) -> bool:
    """Returns whether a call writes one of its operands, as the copies do that end a step's update of buffers."""
    target = node.target
    return isinstance(target, OpOverload) and target._schema.is_mutable


def is_random(node: fx.Node) -> bool:
    """Returns whether a call draws words of PyTorch's generator. Ops that read a seed tensor are ordinary ones."""
    target = node.target
    return isinstance(target, OpOverload) and torch.Tag.nondeterministic_seeded in target.tags


def is_collective(node: fx.Node) -> bool:
    return getattr(node.target, "namespace", "") in ("_c10d_functional", "c10d_functional", "c10d", "_dtensor")


def runs_once(node: fx.Node) -> bool:
    """Returns whether a second run would have another effect: it communicates with other ranks, checks, or makes
    seeds."""
    effects = (aten._assert_async.msg, aten._assert_async.default, aten._assert_scalar.default)
    return is_collective(node) or node.target in effects or is_mutation(node) or _makes_seeds(node)


def _makes_seeds(node: fx.Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target.name() in (
        "prims::inductor_seed", "prims::inductor_seeds")


def results(node: fx.Node) -> list[torch.Tensor | None]:
    """Returns the fake tensors that a call returns, including those in lists; None for other results."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [each if isinstance(each, torch.Tensor) else None for each in tree_leaves(value)]
    return []


def block_bytes(size: int, device: torch.device) -> int:
    """Returns the bytes that the allocator of a device reserves for a size."""
    return -(-size // CUDA_BLOCK) * CUDA_BLOCK if device.type == "cuda" else size


def tangent_bytes(value: torch.Tensor) -> int:
    """Returns the bytes of a cotangent. It comes in any layout; PyTorch copies it if the code expects another layout,
    and autograd keeps the original."""
    return storage_bytes(value) * (2 if value.layout is torch.strided and not value.is_contiguous() else 1)


def storage_bytes(tensor: torch.Tensor | None) -> int:
    """Returns the bytes that the allocator reserves for a tensor, including gaps between its elements."""
    if tensor is None:
        return 0
    if tensor.layout is torch.sparse_coo:
        return storage_bytes(tensor._indices()) + storage_bytes(tensor._values())
    return block_bytes(int(tensor.untyped_storage().nbytes()), tensor.device)


def tensor_operands(node: fx.Node, args: object = None) -> list[fx.Node]:
    """The nodes of tensors that a call reads, each once, in the order of its arguments."""
    nodes = node.all_input_nodes
    if args is not None and args is not node.args:
        nodes = dict.fromkeys(leaf for leaf in tree_leaves((args, node.kwargs)) if isinstance(leaf, fx.Node))
    return [each for each in nodes if isinstance(each.meta.get("val"), torch.Tensor)]


def root(node: fx.Node) -> tuple[fx.Node, int]:
    """Returns the node whose memory a node shows, and the number of its result."""
    result = 0
    while node.op == "call_function":
        if node.target is operator.getitem:
            # Results in lists are counted one by one.
            result += len(tree_leaves(list(node.args[0].meta["val"][:node.args[1]])))
            if node.args[0].target is not operator.getitem and not is_view(node.args[0]):
                return node.args[0], result
        elif is_view(node) or is_mutation(node):
            result = 0
        else:
            break
        node = node.args[0]
    return node, result


def replay_form(node: fx.Node) -> tuple[object, tuple]:
    """Returns the target and arguments that replace a forward call when it runs again.

    A replay neither reads nor writes state, so a batch norm computes its statistics and leaves the running ones
    unchanged.
    """
    if node.target is aten._native_batch_norm_legit_functional.default:
        return aten._native_batch_norm_legit.no_stats, (*node.args[:3], *node.args[5:])
    return node.target, node.args


def replayed_results(node: fx.Node) -> int:
    """Returns the number of results of a replay, without a batch norm's next running statistics."""
    return 3 if node.target is aten._native_batch_norm_legit_functional.default else len(results(node))


def written_arguments(joint: fx.GraphModule) -> set[fx.Node]:
    """Returns arguments that the step overwrites, such as running statistics: later they hold other values."""
    places = {each.meta["desc"]: each for each in joint.graph.find_nodes(op="placeholder") if "desc" in each.meta}
    written = {places[output] for output in mutated_inputs(joint) if output in places}
    for node in joint.graph.nodes:
        if node.op == "call_function" and is_mutation(node):
            written.update(root(each)[0] for each in _written_operands(node))
    return {each for each in written if each.op == "placeholder"}


def mutated_inputs(joint: fx.GraphModule) -> Iterator[object]:
    """Yields, for each output that is an argument's next value, the description of the argument."""
    output = next(iter(joint.graph.find_nodes(op="output")))
    for description in output.meta.get("desc", ()):
        if hasattr(description, "mutated_input"):
            yield description.mutated_input


def _written_operands(node: fx.Node) -> list[fx.Node]:
    arguments = node.target._schema.arguments
    given = [node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
             for place, argument in enumerate(arguments) if argument.alias_info and argument.alias_info.is_write]
    return [each for each in given if isinstance(each, fx.Node)]


def call_behind(operand: fx.Node, target: OpOverload, *args: object, **kwargs: object) -> fx.Node:
    """Inserts a call on a node directly behind it; behind all arguments, if it is an argument."""
    place = operand if operand.op != "placeholder" else operand.graph.find_nodes(op="placeholder")[-1]
    with operand.graph.inserting_after(place):
        node = operand.graph.call_function(target, (operand, *args), kwargs)
    node.meta = {key: value for key, value in operand.meta.items() if key not in ("desc", "tensor_meta")}
    node.meta["val"] = target(operand.meta["val"], *args, **kwargs)
    return node


@functools.lru_cache(1 << 14)
def _read_trace(trace: str) -> tuple[tuple[str, int, str], ...]:
    found = re.findall(r'File "([^"]+)", line (\d+), in (\S+)', trace)
    return tuple((path, int(line), name) for path, line, name in reversed(found))


def list_lines(node: fx.Node) -> tuple[tuple[str, int, str], ...]:
    """Returns file, line and function of the user's calls that made a node, the last call first."""
    return _read_trace(node.meta.get("stack_trace") or "")


def source_line(node: fx.Node) -> str | None:
    """The user's line that made a node, as "model.py:12, in forward", or None."""
    return next(("{}:{}, in {}".format(*each) for each in list_lines(node)), None)


def describe(node: fx.Node) -> str:
    """Describes an op and its place in the user's program, for messages."""
    line = source_line(node)
    return f"{node.target} ({line})" if line else str(node.target)
