"""Imports a functional ATen graph to the body of a function of the dialect."""

from __future__ import annotations

import re
from typing import Any, Iterable

import torch
import torch.fx as fx
from torch.utils.checkpoint import CheckpointPolicy

from . import _plan_regions as regions
from ._plan_labels import LABELS
from ._plan_nodes import is_view, root
from ._seam.core import tree_leaves
from ._whole_calls import call, check, is_opaque
from ._whole_decompose import decompose
from ._whole_effects import CHECK
from ._whole_errors import Unsupported, source_line, source_place
from .aten import CONVERTERS, Builder, Missing, Refused, Value, register_third_party


class _Poison:
    """Placeholder for the result of a missing op."""


_POISON = _Poison()


def _scope(node: fx.Node) -> str:
    """Returns a scope such as layers/0/attention, from the modules around a node."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return ""
    path = re.sub(r"^L\['self'\]\.?|^L__self___?", "", str(stack[-1][0]))
    return "/".join(part for part in re.split(r"[.\[\]'\"]+", path) if part and part != "_modules")


def _location(node: fx.Node) -> str:
    place, scope = source_place(node), _scope(node)
    where = f'"{place[0]}":{place[1]}:1' if place else "unknown"
    return f' loc("{scope}"({where}))' if scope else f" loc({where})" if place else ""


#: Labels of policies. A region is a checkpoint, which itself asks for prefer_recompute.
_LABELS = LABELS | {CheckpointPolicy.PREFER_RECOMPUTE: None}


def _label(node: fx.Node) -> str | None:
    """Returns the label of a node by the policy of its region of torch.utils.checkpoint."""
    policy = node.meta.get("recompute")
    if policy is None or "ac_graph_id" not in node.meta:
        return None
    if policy not in _LABELS:
        raise Missing(f"{policy}")
    # Views of a saved value may be recomputed freely.
    is_free = policy is CheckpointPolicy.MUST_RECOMPUTE and is_view(node) and \
        root(node)[0].meta.get("recompute") is CheckpointPolicy.MUST_SAVE
    return None if is_free else _LABELS[policy]


def _number(value: Any) -> int | float:
    """The number of a node that holds one."""
    return float(value) if isinstance(value, (float, torch.SymFloat)) else int(value)


def _is_number(node: fx.Node) -> bool:
    return isinstance(node.meta.get("val"), (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


class Importer:
    """Interpreter that converts nodes in order, and collects all missing ops before it raises an error."""

    def __init__(self, module: fx.GraphModule, arguments: list[fx.Node], active: set[fx.Node], may_call: bool) -> None:
        """``may_call``: ops that the dialect lacks become calls of PyTorch's."""
        register_third_party()
        self._may_call = may_call
        self.builder = Builder()
        self.module = module
        self.missing: dict[str, list[str]] = {}
        for number, node in enumerate(arguments):
            self._define(number, node, node in active)

    def _define(self, number: int, node: fx.Node, is_active: bool) -> None:
        if _is_number(node):
            self.builder.values[node] = _number(node.meta["val"])
            return
        try:
            argument = Value.of(f"%a{number}", node.meta["val"], is_active)
            argument.type
            self.builder.values[node] = argument
        except Missing as error:
            self._lacks(node, str(error))

    def _lacks(self, node: fx.Node, what: str) -> None:
        self.missing.setdefault(what, []).append(source_line(node))
        self.builder.values[node] = _POISON

    def run(self, nodes: Iterable[fx.Node]) -> Builder:
        for node in nodes:
            if node.op in ("get_attr", "call_function"):
                self._convert(node)
        if self.missing:
            raise Unsupported(self.missing)
        return self.builder

    def _convert(self, node: fx.Node) -> None:
        self.builder.location, self.builder.region = _location(node), regions.read(node)
        since = len(self.builder.lines)
        try:
            made = self.builder.values[node] = self._evaluate_or_call(node)
            if label := _label(node):
                self.builder.label([each for each in tree_leaves(made) if isinstance(each, Value)], since, label)
        except Missing as error:
            self._lacks(node, str(error))
        self.builder.location, self.builder.region = "", ()

    def _evaluate_or_call(self, node: fx.Node) -> Any:
        """Returns the results of a node: by a converter, by a decomposition, or else by a call of its operator."""
        try:
            if not is_opaque(node):
                return self._evaluate(self.module, node)
            why = f"{node.target} of complex numbers"
        except Refused:
            raise
        except Missing as error:
            why = str(error)
        except (TypeError, AttributeError, ValueError, LookupError, RuntimeError) as error:
            why = f"{node.target} in this form ({type(error).__name__}: {str(error)[:120]})"
        if any(self.builder.values.get(each) is _POISON for each in node.all_input_nodes):
            return _POISON
        if not self._may_call:
            raise Missing(why)
        if node.target is CHECK:
            return check(self.builder, *(self.builder.values.get(each, each) for each in node.args), **node.kwargs)
        try:
            return call(self.builder, node)
        except Missing as error:
            raise Missing(str(error) if is_opaque(node) else why) from None

    def _evaluate(self, module: fx.GraphModule, node: fx.Node) -> Any:
        if node.op == "get_attr":
            return self.builder.tensor(getattr(module, node.target))
        if _is_number(node):
            return _number(node.meta["val"])
        parts = None if node.target in CONVERTERS else decompose(node)
        arguments, keywords = (fx.node.map_arg(each, self.builder.values.get) for each in (node.args, node.kwargs))
        if any(each is _POISON for each in tree_leaves((arguments, keywords))):
            return _POISON
        if parts:
            return self._evaluate_parts(*parts)
        return CONVERTERS[node.target](self.builder, node, *arguments, **keywords)

    def _evaluate_parts(self, module: fx.GraphModule, taken: Iterable[fx.Node]) -> Any:
        values = self.builder.values
        values.update(zip(module.graph.find_nodes(op="placeholder"), [values[each] for each in taken]))
        for each in module.graph.nodes:
            if each.op in ("get_attr", "call_function"):
                values[each] = self._evaluate(module, each)
        return fx.node.map_arg(module.graph.output_node().args[0], values.get)
