"""Makes one operator of each higher-order operator, such as torch.cond, so that steps call it.

The call runs PyTorch's own eager form of the operator on its subgraphs. Autograd differentiates the whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from typing import Any, Iterator, Sequence

import torch
import torch.fx as fx

from ._seam.core import (HigherOrderOperator, disable_current_modes, enter_autocast, exit_autocast, run_eagerly, tree_flatten,
                         tree_leaves, tree_unflatten)

#: Operators that are called.
NAMES = ("cond", "while_loop", "scan", "associative_scan", "map_impl", "flex_attention")
#: Calls of an operator on tensors and numbers, by a name.
_library = torch.library.Library("reprise", "FRAGMENT")
_library.define("subgraphs(Tensor[] tensors, SymInt[] numbers, str name) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
SUBGRAPHS = torch.ops.reprise.subgraphs.default

_known: dict[str, "_Subgraphs"] = {}
#: Numbers of subgraphs with tensors of their own, for which no text stands.
_unnamed = itertools.count()
#: Autocast of each kind of device: whether it is on, and its type.
Autocast = dict[str, tuple[bool, torch.dtype]]


class _Operand:
    """Operand in the arguments of an operator: a tensor, or a number that varies."""

    def __init__(self, is_number: bool, place: int) -> None:
        self.is_number, self.place = is_number, place

    def __repr__(self) -> str:
        return f"{'number' if self.is_number else 'tensor'} {self.place}"


class _Subgraphs:
    """Higher-order operator with its subgraphs, and all arguments but its operands."""

    def __init__(self, module: fx.GraphModule, node: fx.Node, autocast: Autocast) -> None:
        self.operator, self._autocast = node.target, autocast
        leaves, self._structure = tree_flatten((node.args, dict(node.kwargs)))
        self.tensors: list[fx.Node] = []
        self.numbers: list[fx.Node] = []
        self._leaves = [self._take(module, leaf) for leaf in leaves]
        #: Results without elements.
        self.results = [each for each in tree_leaves(node.meta["example_value"]) if isinstance(each, torch.Tensor)]

    def _take(self, module: fx.GraphModule, leaf: Any) -> Any:
        if not isinstance(leaf, fx.Node):
            return leaf
        if leaf.op == "get_attr" and _is_module(module, leaf.target):
            return module.get_submodule(leaf.target)
        operands = self.numbers if isinstance(leaf.meta.get("example_value"), (int, torch.SymInt)) else self.tensors
        if leaf not in operands:
            operands.append(leaf)
        return _Operand(operands is self.numbers, operands.index(leaf))

    @property
    def name(self) -> str:
        """Returns a name that is equal for equal operators with equal subgraphs."""
        modules = [each for leaf in self._leaves if isinstance(leaf, torch.nn.Module) for each in leaf.modules()]
        told = [each.code if isinstance(each, fx.GraphModule) else repr(each) for each in modules]
        own = any(True for each in modules for _ in (*each.parameters(), *each.buffers()))
        plain = [leaf for leaf in self._leaves if not isinstance(leaf, torch.nn.Module)]
        text = repr((told, plain, str(self._structure), self._autocast, [(each.shape, each.dtype) for each in self.results],
                     next(_unnamed) if own else None))
        return f"{self.operator.name()}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def __call__(self, tensors: Sequence[torch.Tensor], numbers: Sequence[int]) -> list[torch.Tensor]:
        leaves = [(numbers if leaf.is_number else tensors)[leaf.place] if isinstance(leaf, _Operand) else leaf
                  for leaf in self._leaves]
        arguments, keywords = tree_unflatten(leaves, self._structure)
        with contextlib.ExitStack() as stack:
            for kind in sorted({"cpu", *(each.device.type for each in tensors)} & self._autocast.keys()):
                is_on, dtype = self._autocast[kind]
                stack.enter_context(torch.autocast(kind, dtype, enabled=is_on))
            stack.enter_context(disable_current_modes())
            made = run_eagerly(self.operator, *arguments, **keywords)
        return [each for each in tree_leaves(made) if isinstance(each, torch.Tensor)]


def _is_module(module: fx.GraphModule, name: str) -> bool:
    with contextlib.suppress(AttributeError):
        return bool(module.get_submodule(name))
    return False


def title(name: str) -> str:
    """Returns the operator of a name."""
    return name.partition("#")[0]


@torch.library.impl(_library, "subgraphs", "CompositeExplicitAutograd")
def run(tensors: Sequence[torch.Tensor], numbers: Sequence[int], name: str) -> list[torch.Tensor]:
    """Runs an operator, under autograd if that is on."""
    return _known[name](tensors, numbers)


@torch.library.register_fake("reprise::subgraphs", lib=_library)
def _shapes(tensors: Sequence[torch.Tensor], numbers: Sequence[int], name: str) -> list[torch.Tensor]:
    return [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device=each.device) for each in _known[name].results]


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[0])


def _gradients(ctx: Any, cotangents: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
    """Returns stand-ins for gradients, which depend on what gradients depend on: autograd is asked only for paths."""
    parts = [torch.view_as_real(each) if each.is_complex() else each for each in cotangents if each is not None]
    total = sum(each.sum(dtype=torch.float32) for each in parts)
    return [each * total.to(each.dtype) if each.requires_grad else None for each in ctx.saved_tensors], None, None


torch.library.register_autograd("reprise::subgraphs", _gradients, setup_context=_keep, lib=_library)


def _graphs_of(module: fx.GraphModule, node: fx.Node) -> Iterator[fx.GraphModule]:
    for each in node.all_input_nodes:
        if each.op == "get_attr" and _is_module(module, each.target):
            found = module.get_submodule(each.target)
            if isinstance(found, fx.GraphModule):
                yield found


def _replace(module: fx.GraphModule, node: fx.Node, autocast: Autocast) -> None:
    made = _Subgraphs(module, node, autocast)
    name = made.name
    _known[name] = made
    with module.graph.inserting_before(node):
        new = module.graph.call_function(SUBGRAPHS, (made.tensors, made.numbers, name))
    new.meta = {**node.meta, "example_value": made.results}
    said = node.meta["example_value"]
    places = {number: place for place, number in enumerate(
        number for number, each in enumerate(said) if isinstance(each, torch.Tensor))}
    for user in list(node.users):
        user.args = (new, places[user.args[1]])
    parts = [each for each in node.all_input_nodes if each.op == "get_attr"]
    module.graph.erase_node(node)
    for each in parts:
        if not each.users and _is_module(module, each.target):
            module.graph.erase_node(each)
            module.delete_submodule(each.target)


def _can_call(node: fx.Node) -> bool:
    """Returns whether an operator is called: it writes to no operand, and its results are tensors."""
    said = node.meta.get("example_value")
    return (node.target.name() in NAMES and isinstance(said, (tuple, list)) and not node.kwargs.get("mutated_arg_indices")
            and all(each is None or isinstance(each, torch.Tensor) for each in said))


def call_subgraphs(module: fx.GraphModule, autocast: Autocast | None = None) -> None:
    """Replaces the higher-order operators of a graph, and of graphs in it, such as bodies of checkpoints."""
    outer = autocast or {kind: (torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")}
    entered: dict[fx.Node, Autocast] = {}
    for node in list(module.graph.nodes):
        now = next(reversed(entered.values()), outer)
        if node.target is enter_autocast:
            kind, dtype, is_on = node.args[:3]
            entered[node] = {**now, kind: (is_on, dtype or torch.get_autocast_dtype(kind))}
        elif node.target is exit_autocast:
            entered.pop(node.args[0], None)
        elif isinstance(node.target, HigherOrderOperator):
            if _can_call(node):
                _replace(module, node, now)
            else:
                for each in _graphs_of(module, node):
                    call_subgraphs(each, now)
    module.recompile()
