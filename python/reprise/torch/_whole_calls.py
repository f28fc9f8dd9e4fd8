"""Imports ops that the dialect lacks as calls of PyTorch's operators (docs/explanation/OpaqueCalls.md)."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import torch
import torch.fx as fx

from ._seam.core import HigherOrderOperator, OpOverload, tree_flatten, tree_leaves
from ._whole_callees import LIBRARY, Callee, Operand, add_callee, add_check
from ._whole_call_costs import Price, price_of
from ._whole_effects import CHECK
from ._whole_subgraphs import SUBGRAPHS, run as run_subgraphs, title
from .aten import Builder, Missing, Value

aten = torch.ops.aten
#: Calls for whose arguments no text stands in all processes.
_unnamed = itertools.count()
#: Ops whose converters change no element, be it complex.
_SAME = (aten.clone.default, aten.alias.default, aten.lift_fresh_copy.default, aten.detach.default,
         torch.ops.reprise.stop_gradient.default)
#: Ops that make complex tensors of pairs, or pairs of them.
_PAIRING = {aten.view_as_real.default: False, aten.view_as_complex.default: True}
#: Seeds of draws are below this number.
_SEEDS = (1 << 32) - 1


def _tensors(node: fx.Node) -> list[torch.Tensor]:
    return [each for each in tree_leaves(node.meta.get("val")) if isinstance(each, torch.Tensor)]


def is_opaque(node: fx.Node) -> bool:
    """Returns whether an operator takes or gives complex tensors, which no converter knows."""
    if not isinstance(node.target, (OpOverload, HigherOrderOperator)) or node.target in _SAME:
        return False
    return any(tensor.is_complex() for each in (node, *node.all_input_nodes) for tensor in _tensors(each))


def _check(node: fx.Node, leaves: list[Any]) -> None:
    """Raises ``Missing`` for what no call can be."""
    if not isinstance(node.target, (OpOverload, HigherOrderOperator)):
        raise Missing(str(node.target))
    if isinstance(node.target, HigherOrderOperator) and not node.target.name().startswith("auto_functionalized"):
        raise Missing(str(node.target))
    if any(isinstance(each, torch.Generator) for each in leaves):
        raise Missing(f"{node.target} with an explicit generator")
    made = _tensors(node)
    if not made or len(made) != len([each for each in tree_leaves(node.meta["val"]) if each is not None]):
        raise Missing(f"{node.target}, whose results are not tensors")
    try:
        for tensor in made:
            tuple(map(int, tensor.shape))
    except RuntimeError:
        raise Missing(f"{node.target}, whose result has a shape that depends on values") from None


def _draws(target: Any) -> bool:
    """Returns whether an operator draws. One that is not PyTorch's may draw without saying so."""
    own = target if isinstance(target, OpOverload) else None
    is_known = own is not None and own.namespace in ("aten", "prims", "quantized")
    return not is_known or torch.Tag.nondeterministic_seeded in own.tags


def _name(node: fx.Node, leaves: list[Any], structure: Any) -> str:
    """Returns a name that is equal for equal operators with equal arguments and types, in each process."""
    target = node.target
    own = next((each for each in leaves if isinstance(each, OpOverload)), target)
    told = title(leaves[-1]) if target is SUBGRAPHS else str(own)
    text = repr((str(target), leaves, str(structure)))
    if " at 0x" in text:
        text += f"#{next(_unnamed)}"
    return f"{LIBRARY}:{told}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _attributes(name: str, price: Price) -> dict[str, str]:
    seconds = ", ".join(f"{each:.6e}" for each in price.seconds)
    return {"callee": f'"{name}"', "seconds": f"array<f64: {seconds}>",
            "workspace": f"array<i64: {', '.join(map(str, price.workspace))}>"}


def call(b: Builder, node: fx.Node) -> Any:
    """Returns the results of a call of the node's operator. Raises ``Missing`` if it cannot be called."""
    if node.target in _PAIRING:
        return b.paired(b.values[node.args[0]], _PAIRING[node.target])
    leaves, structure = tree_flatten((node.args, dict(node.kwargs)))
    _check(node, leaves)
    operands: list[Value] = []
    for place, leaf in enumerate(leaves):
        value = b.values[leaf] if isinstance(leaf, fx.Node) else leaf
        if isinstance(value, Value):
            operands.append(value)
            leaves[place] = Operand(leaf.meta["val"])
        else:
            leaves[place] = value
    draws, name = _draws(node.target), _name(node, leaves, structure)
    add_callee(name, Callee(run_subgraphs if node.target is SUBGRAPHS else node.target, leaves, structure, draws))
    if draws:
        operands.append(b.op("random_uniform_int", [], (), torch.int64, {
            "low": "0 : i64", "high": f"{_SEEDS} : i64", "operandSegmentSizes": "array<i32: 0, 0, 0>"}))
    kinds = [Value.of("", each) for each in _tensors(node)]
    made = b.emit("custom_call", operands, [(each.shape, each.dtype) for each in kinds], _attributes(name, price_of(node)))
    for value, kind in zip(made, kinds):
        value.is_pair = kind.is_pair
    return _arranged(node.meta["val"], iter(made))


def check(b: Builder, information: Any, function: str, is_matrix: bool) -> None:
    """Lets the call that gives ``information`` about a factorization raise PyTorch's error if that has failed.

    Information that no call gives is not checked, as other values.
    """
    line = b.maker(information) if isinstance(information, Value) else None
    if line is None or line.name != "custom_call":
        return
    number = line.results.index(information)

    def run(results: list[Any]) -> None:
        CHECK(results[number], function, is_matrix=is_matrix)

    name = add_check(line.attributes["callee"].strip('"'), f"{function},{number}", run)
    line.attributes["callee"] = f'"{name}"'


def _arranged(said: Any, values: Any) -> Any:
    """Returns the values in the structure of the results."""
    if isinstance(said, (tuple, list)):
        return [_arranged(each, values) for each in said]
    return next(values) if isinstance(said, torch.Tensor) else said
