"""What makes Inductor's C++ code have one set of bits, whatever a kernel holds besides.

A plan decides what is stored and what runs again, and so what Inductor fuses. Three things of its code depend on that:
- *Elementary functions* are SLEEF's in what it vectorizes, and the C library's in what it does not. Here what stands alone is
  computed as a vector's first element.
- *Sums* run along the dimension in which most of the kernel's operands are dense, in vectors or not. Here it is that of what is
  summed alone, always in vectors; and what is summed lies in memory where its operands lie in different orders, so that it has
  one order itself.
- *Contractions* differ, for some sizes, where an operand lies in another order. So it lies as the graph says.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable
from unittest import mock

import torch
from torch import fx
from torch._inductor import config
from torch._inductor.codegen.cpp import CppOverrides, CppVecOverrides, TilingSelect
from torch._inductor.cpu_vec_isa import pick_vec_isa
from torch._inductor.utils import IndentedBuffer

from ._plan_nodes import is_view, tensor_operands

FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "erfc", "erfinv", "exp", "exp2", "expm1",
             "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "sigmoid", "sin", "sinh", "tan", "tanh")

#: What moves elements: where Inductor makes it, its layout may be that of an operand.
MOVES = {getattr(torch.ops.aten, name) for name in ("cat", "constant_pad_nd", "copy", "flip", "gather", "index", "index_select", "repeat",
                                                    "roll", "select_scatter", "slice_scatter")}
#: What has other bits for operands that lie otherwise. Convolutions get theirs as the graph says anyway.
CONTRACTIONS = {getattr(torch.ops.aten, name) for name in ("addmm", "baddbmm", "bmm", "mm")}


def _as_vector(alone: Callable, in_vectors: Callable) -> Callable:
    """The text of a function of scalars, which takes floats as in_vectors would."""
    def emit(*operands: Any) -> str:
        names = [f"x{i}" for i in range(len(operands))]
        parameters = ", ".join(f"auto {name}" for name in names)
        is_float = " && ".join(["std::is_floating_point_v<T>", *(f"std::is_same_v<T, decltype({name})>" for name in names[1:])])
        vectors = "".join(f"V v{i}({name}); " for i, name in enumerate(names))
        made = in_vectors(*(f"v{i}" for i in range(len(names))))
        made = made.getvalue() if isinstance(made, IndentedBuffer) else made
        return (f"[&]({parameters}) {{ using T = decltype(x0); if constexpr ({is_float}) {{ using V = at::vec::Vectorized<T>; {vectors}"
                f"alignas(64) T all[V::size()]; V({made}).store(all); return all[0]; }} "
                f"else {{ return {alone(*names)}; }} }}({', '.join(map(str, operands))})")
    return emit


_select_tiling, _select_tiling_indices = TilingSelect.select_tiling, TilingSelect._select_tiling_indices


def _tile(self: TilingSelect, functions: Any, sizes: Any) -> Any:
    """Reductions are vectorized even where that is slower."""
    is_reduced = any(reduced for _, reduced in sizes)
    with config.patch({"cpp.enable_tiling_heuristics": False}) if is_reduced else contextlib.nullcontext():
        return _select_tiling(self, functions, sizes)


def _choose_direction(self: TilingSelect, functions: Any, sizes: Any, factor: int) -> list[int]:
    """What is fused with a reduction has no say in its direction."""
    reduced = [(function, each) for function, each in zip(functions, sizes) if each[1]]
    functions, sizes = zip(*reduced) if reduced else (functions, sizes)
    return _select_tiling_indices(self, functions, sizes, factor)


@contextlib.contextmanager
def alike() -> Any:
    """While this holds, Inductor writes such code. Without vectors there is but one set of bits anyway."""
    if not pick_vec_isa():
        yield
        return
    own, vectors = vars(CppOverrides), vars(CppVecOverrides)
    emitters = {name: staticmethod(_as_vector(own[name].__func__, vectors[name].__func__)) for name in FUNCTIONS}
    with mock.patch.multiple(CppOverrides, **emitters), \
            mock.patch.multiple(TilingSelect, select_tiling=_tile, _select_tiling_indices=_choose_direction):
        yield


def _has_tag(node: fx.Node, tag: torch.Tag) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and tag in node.target.tags


def _is_of(node: fx.Node, ops: set) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.overloadpacket in ops


def _orders(value: fx.Node) -> set[tuple]:
    """The layouts of all that may be read instead of a value, or give theirs to it: operands of elementwise ops and views, as large
    as it is, and of what only moves elements, in pieces of any size."""
    found, seen, stack, is_made = set(), {value}, [value], False
    while stack:
        node = stack.pop()
        tensor = node.meta["val"]
        if not any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape)):
            found.add(() if tensor.is_contiguous() else (*tensor.shape, *tensor.stride()))
        is_move = _is_of(node, MOVES)
        is_made |= (is_computed := is_move or _has_tag(node, torch.Tag.pointwise))
        if is_computed or is_view(node):
            fresh = [each for each in tensor_operands(node) if each not in seen and (is_move or each.meta["val"].numel() == tensor.numel())]
            seen.update(fresh)
            stack.extend(fresh)
    return found if is_made else set()


def fix_orders(graph: fx.Graph) -> None:
    """Has Inductor store what is reduced or contracted and might be read in several orders, as the graph says that it lies."""
    for node in graph.nodes:
        operands = tensor_operands(node) if _is_of(node, CONTRACTIONS) or _has_tag(node, torch.Tag.reduction) else []
        for operand in operands:
            if len(_orders(operand)) > 1:
                operand.meta["inductor_realize_to_strides"] = True
