"""Makes Inductor's code have one set of bits, whatever else a kernel holds.

A plan decides which values are stored and which ops run again, and so what Inductor fuses. Values of 16 bits are
rounded as the graph says, whether they are stored or not. Three properties of its C++ code depend on fusion:
- *Elementary functions* are SLEEF's in vectorized code, and the C library's in scalar code. We compute a scalar as a
  vector's first element. SLEEF's sine, cosine and tangent of one element depend on the other elements of the vector,
  which may be undefined if a kernel masks them: each range of angles has its own formula, and the formula of the
  largest angle is used for all. We compute each element with its own formula.
- *Sums* run along the dimension in which most of the kernel's operands are dense, vectorized or not. We choose the
  dimension of the summed operand only, and always vectorize. We store a summed value if its operands lie in different
  orders, so that it has one order itself, and if they might prevent several dimensions from becoming one loop
  (`_plan_loops.py`).
- *Contractions* differ, for some sizes, if an operand lies in another order. We keep the graph's order.

Four properties of its Triton code, for GPUs, depend on fusion as well:
- *Products and sums* of one kernel may become one fma. We disable this.
- *Reductions and scans* divide their terms among threads by all loads of their kernel, and by timings. We store reduced
  values at a multiple of 16 bytes, the kernel holds no other ops, and only sizes choose its blocks.
- *The online softmax* is used if all parts of a softmax are in one graph. We disable it (`online_softmax=False`),
  because its rounding would depend on the plan.
- *Contractions* are padded if that is faster. We disable this.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import torch
from torch import fx

from ._plan_loops import MOVES, find_splitters
from ._plan_nodes import is_view, root, tensor_operands
from ._seam import patches
from ._seam.core import OpOverload
from ._seam.inductor import (CppOverrides, CppVecOverrides, IndentedBuffer, InductorChoices, TilingSelect, V, config, ir, pick_vec_isa,
                             select_tiling, select_tiling_indices)

#: Functions with one formula per range of angles.
TRIGONOMETRIC = ("cos", "sin", "tan")

SCANS = {getattr(torch.ops.aten, name) for name in ("cummax", "cummin", "cumprod", "cumsum", "logcumsumexp")}
#: Settings of Inductor. The first rounds values of 16 bits, and keeps products and sums apart.
SETTINGS = {"emulate_precision_casts": True}
SETTINGS_OF_GPUS = {**SETTINGS, "assume_aligned_inputs": True, "deterministic": True, "online_softmax": False,
                    "triton.mix_order_reduction": False}
#: Ops whose bits depend on the layout of operands. Convolutions get the graph's layout anyway.
CONTRACTIONS = {getattr(torch.ops.aten, name) for name in ("addmm", "baddbmm", "bmm", "mm")}


class AloneChoices(InductorChoices):
    """Allows a reducing kernel on a GPU to hold only reductions that read the same values."""

    @staticmethod
    def can_fuse(scheduler: Any, left: Any, right: Any, score: int) -> bool:
        nodes = [*left.get_nodes(), *right.get_nodes()]
        if left.get_device().type != "cpu" and any(each.is_reduction() for each in nodes):
            return all(each.is_reduction() for each in nodes) and left.read_writes.reads == right.read_writes.reads
        return InductorChoices.can_fuse(scheduler, left, right, score)


def _as_vector(alone: Callable, in_vectors: Callable) -> Callable:
    """Returns the text of a function of scalars, which treats floats as in_vectors would."""
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


def _as_alone(name: str) -> Callable:
    """Returns the text of a function of vectors that computes each element as if it filled the vector. The bounds are
    those of SLEEF's first range of angles."""
    def emit(vector: Any) -> str:
        return (f"[](auto v) {{ using V = decltype(v); using T = typename V::value_type; using One = at::vec::Vectorized<T>; "
                f"auto isNear = [](One each) {{ return (each.abs() < One(T(sizeof(T) == 4 ? 125 : 15))).zero_mask() == 0; }}; "
                f"bool areNear = true; if constexpr (std::is_same_v<V, One>) areNear = isNear(v); "
                f"else for (int i = 0; i < V::size() / One::size(); ++i) areNear &= isNear(v[i]); if (areNear) return v.{name}(); "
                f"alignas(64) T all[V::size()]; v.store(all); alignas(64) T made[One::size()]; "
                f"for (T &each : all) {{ One(each).{name}().store(made); each = made[0]; }} return V::loadu(all); }}({vector})")
    return emit


def _tile(self: TilingSelect, functions: Any, sizes: Any) -> Any:
    """Vectorizes reductions even if that is slower, in vectors of f32 even if all other values have 16 bits."""
    if not any(reduced for _, reduced in sizes):
        return select_tiling(self, functions, sizes)
    with config.patch({"cpp.enable_tiling_heuristics": False}), \
            patches.LOW_PRECISION.replaced(lambda body: (None, False)):
        return select_tiling(self, functions, sizes)


def _choose_direction(self: TilingSelect, functions: Any, sizes: Any, factor: int) -> list[int]:
    """Chooses the direction of a reduction without the ops fused with it."""
    reduced = [(function, each) for function, each in zip(functions, sizes) if each[1]]
    functions, sizes = zip(*reduced) if reduced else (functions, sizes)
    return select_tiling_indices(self, functions, sizes, factor)


_create = ir.FallbackKernel.create.__func__


def _create_aligned(cls: type, kernel: Any, *arguments: Any, **named: Any) -> Any:
    """Treats values that an op allocates as aligned, whatever its operands. Only a view of an operand has the operand's
    alignment."""
    is_view_of = isinstance(kernel, OpOverload) and any(each.alias_info for each in kernel._schema.returns)
    with contextlib.nullcontext() if is_view_of else patches.UNALIGNED.replaced(lambda node: False):
        return _create(cls, kernel, *arguments, **named)


@contextlib.contextmanager
def alike(on_gpu: bool) -> Any:
    """Makes Inductor write such code within this context. Without vectors a CPU has only one set of bits anyway."""
    with contextlib.ExitStack() as stack:
        for each in (patches.CHOICES, patches.STORED, patches.ROUNDED):
            each.check()
        stack.enter_context(config.patch(SETTINGS_OF_GPUS if on_gpu else SETTINGS))
        stack.enter_context(V.set_choices_handler(AloneChoices()))
        if on_gpu:
            stack.enter_context(patches.FALLBACK.replaced(classmethod(_create_aligned)))
        if pick_vec_isa():
            own, vectors = vars(CppOverrides), vars(CppVecOverrides)
            emitters = {name: staticmethod(_as_vector(own[name].__func__, vectors[name].__func__)) for name in patches.FUNCTIONS}
            stack.enter_context(patches.SCALARS.replaced(**emitters))
            alone = {name: staticmethod(_as_alone(name)) for name in TRIGONOMETRIC}
            stack.enter_context(patches.VECTORS.replaced(**alone))
            stack.enter_context(patches.TILING.replaced(_tile, _choose_direction))
        yield


def _has_tag(node: fx.Node, tag: torch.Tag) -> bool:
    return isinstance(node.target, OpOverload) and tag in node.target.tags


def _is_of(node: fx.Node, ops: set) -> bool:
    return isinstance(node.target, OpOverload) and node.target.overloadpacket in ops


def _orders(value: fx.Node) -> set[tuple]:
    """Returns the layouts of all values that may be read instead of a value, or determine its layout: operands of
    elementwise ops and views of its size, and operands of data movement, in pieces of any size."""
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


def _has_16_bits(node: fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype.itemsize == 2


def fix(graph: fx.Graph) -> None:
    """Makes Inductor store values that are reduced or contracted and might be read in several orders, in the graph's
    layout.

    On a GPU it stores all values that are computed and then reduced. Values of 16 bits, and values computed from them,
    are rounded.
    """
    for node in graph.nodes:
        if _has_16_bits(node) or any(map(_has_16_bits, node.all_input_nodes)):
            node.meta["low_precision_pointwise_barrier"] = True
        is_reduced = _has_tag(node, torch.Tag.reduction) or _is_of(node, SCANS)
        for operand in tensor_operands(node) if is_reduced or _is_of(node, CONTRACTIONS) else []:
            is_stored = is_reduced and operand.meta["val"].device.type != "cpu" and root(operand)[0].op == "call_function"
            if is_stored or len(_orders(operand)) > 1:
                operand.meta["inductor_realize_to_strides"] = True
            elif _has_tag(node, torch.Tag.reduction):
                for each in find_splitters(node, operand):
                    each.meta["inductor_realize_to_strides"] = True
