"""Writes the body of a function of the dialect, op by op."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import torch

from .._seam.core import disable_current_modes
from ._values import TYPES, WIDENED, Line, Missing, Value, compute_type, floating, integers, literal, tensor_type

DRAWING = {"dropout", "random_bernoulli", "random_normal", "random_uniform", "random_uniform_int"}


def promoted(*operands: Any) -> torch.dtype:
    """The element type of PyTorch's arithmetic on values and Python numbers."""
    return torch.result_type(*(torch.empty(each.shape, dtype=each.dtype, device="meta")
                               if isinstance(each, Value) else each for each in operands))


class Builder:
    """Builder that appends ops. Each method returns the value of its op."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        #: Location of the next ops, in MLIR's spelling.
        self.location = ""
        #: Their regions, the outermost first.
        self.region: tuple[Any, ...] = ()
        #: Values of the nodes of the graph.
        self.values: dict[Any, Any] = {}
        #: Arguments without gradients, by the arguments with equal values.
        self.frozen_arguments: dict[Value, Value] = {}
        self._frozen: dict[Value, Value] = {}
        self._makers: dict[Value, Line] = {}
        self._count = 0

    def freeze(self, x: Value) -> Value:
        """Returns the value without a gradient: computed again from arguments without gradients.

        Common subexpressions are merged behind the differentiation, so that no value is computed twice.
        """
        if not x.active:
            return x
        lines = self._lines_behind(x)
        if any(line.draws for line in lines):
            stopped = self.stop(x) # a copy would draw other words
            stopped.is_pair = x.is_pair
            return stopped
        for line in lines:
            if line.results[0] in self._frozen:
                continue
            operands = [self._freeze_operand(operand) for operand in line.operands]
            made = self.emit(line.name, operands, [(each.shape, each.dtype) for each in line.results], line.attributes)
            for each, twin in zip(line.results, made):
                twin.is_pair = each.is_pair
                self._frozen[each] = twin
        return self._freeze_operand(x)

    def _freeze_operand(self, x: Value) -> Value:
        if not x.active or x in self._frozen:
            return self._frozen.get(x, x)
        argument = x.like(x.name.replace("%a", "%z"))
        self.frozen_arguments[x] = self._frozen[x] = argument
        return argument

    def _lines_behind(self, x: Value) -> list[Line]:
        """The ops that an active value comes from, in order."""
        needed = self.active_behind([x])
        return [line for line in self.lines if any(result in needed for result in line.results)]

    def active_behind(self, values: Iterable[Value]) -> set[Value]:
        """Returns some values and all active values from which they are computed."""
        needed = set(values)
        for line in reversed(self.lines):
            if any(result in needed for result in line.results):
                needed.update(operand for operand in line.operands if operand.active)
        return needed

    def maker(self, x: Value) -> Line | None:
        """Returns the op that computes a value; None for an argument."""
        return self._makers.get(x)

    def label(self, values: Iterable[Value], since: int, label: str) -> None:
        """Labels the ops that compute some values, if they come behind the first ``since`` ops."""
        made = set(values)
        for line in self.lines[since:]:
            if any(result in made for result in line.results):
                line.label = label

    def live_lines(self, roots: Iterable[Value]) -> list[Line]:
        """Returns the ops that some values need, and those that draw."""
        needed, lines = set(roots), []
        for line in reversed(self.lines):
            if line.draws or any(result in needed for result in line.results):
                needed.update(line.operands)
                lines.append(line)
        return lines[::-1]

    def emit(self, name: str, operands: Sequence[Value], results: Sequence[tuple[Sequence[int], torch.dtype]],
             attributes: dict[str, str] | None = None, *, draws: bool = False) -> list[Value]:
        """Appends an op of the dialect. ``draws``: it draws random words."""
        if any(0 in shape for shape, _ in results):
            return [Value("%none", shape, dtype) for shape, dtype in results]
        if any(0 in operand.shape for operand in operands):
            raise Missing(f"a {name} of tensors without elements")
        active = any(operand.active for operand in operands)
        values = []
        for shape, dtype in results:
            self._count += 1
            values.append(Value(f"%v{self._count}", shape, dtype, active))
        line = Line(name, values, list(operands), attributes or {}, draws or name in DRAWING, self.location,
                    self.region)
        self.lines.append(line)
        self._makers.update((value, line) for value in values)
        return values

    def op(self, name: str, operands: Sequence[Value], shape: Sequence[int], dtype: torch.dtype,
           attributes: dict[str, str] | None = None) -> Value:
        """Appends an op with one result."""
        return self.emit(name, operands, [(shape, dtype)], attributes)[0]

    def constant(self, value: Any, dtype: torch.dtype, shape: Sequence[int] = ()) -> Value:
        """Returns a tensor with the same element everywhere."""
        dtype = WIDENED.get(dtype, dtype)
        return self.op("constant", [], shape, dtype,
                       {"value": f"dense<{literal(value, dtype)}> : {tensor_type(shape, dtype)}"})

    def tensor(self, tensor: torch.Tensor) -> Value:
        """The elements of a tensor."""
        if tensor.is_complex():
            with disable_current_modes():
                parts = torch.view_as_real(tensor.resolve_conj())
            return self.paired(self.tensor(parts), True)
        dtype = WIDENED.get(tensor.dtype, tensor.dtype)
        with disable_current_modes():
            flat = tensor.detach().to(dtype).flatten().tolist()
        if not flat:
            return Value("%none", tensor.shape, dtype)
        if all(element == flat[0] for element in flat):
            return self.constant(flat[0], dtype, tensor.shape)
        elements = ", ".join(literal(element, dtype) for element in flat)
        value = self.op("constant", [], (len(flat),), dtype,
                        {"value": f"dense<[{elements}]> : {tensor_type((len(flat),), dtype)}"})
        return self.reshape(value, tensor.shape)

    def paired(self, x: Value, is_pair: bool) -> Value:
        """Returns the same elements as the parts of a complex tensor, or as a real one."""
        made = self.op("reshape", [x], x.shape, x.dtype)
        made.is_pair = is_pair
        return made

    def unary(self, name: str, x: Value, attributes: dict[str, str] | None = None) -> Value:
        return self.op(name, [x], x.shape, x.dtype, attributes)

    def cast(self, x: Value, dtype: torch.dtype) -> Value:
        dtype = WIDENED.get(dtype, dtype)
        return x if x.dtype == dtype else self.op("cast", [x], x.shape, dtype)

    def value(self, x: Any, dtype: torch.dtype) -> Value:
        """A value or a Python number as a value of a type."""
        return self.cast(x, dtype) if isinstance(x, Value) else self.constant(x, dtype)

    def binary(self, name: str, a: Any, b: Any, dtype: torch.dtype | None = None) -> Value:
        """Appends an elementwise op with broadcasting; ``dtype`` is that of the operands, by default PyTorch's
        promotion."""
        dtype = dtype or promoted(a, b)
        a, b = self.value(a, dtype), self.value(b, dtype)
        return self.op(name, [a, b], torch.broadcast_shapes(a.shape, b.shape), a.dtype)

    def compare(self, predicate: str, a: Any, b: Any) -> Value:
        dtype = promoted(a, b)
        dtype = torch.int32 if dtype is torch.bool else dtype
        a, b = self.value(a, dtype), self.value(b, dtype)
        return self.op("compare", [a, b], torch.broadcast_shapes(a.shape, b.shape), torch.bool,
                       {"predicate": f"#reprise<predicate {predicate}>"})

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        shape = torch.broadcast_shapes(condition.shape, a.shape, b.shape)
        operands = [self.expand(each, shape) for each in (self.cast(condition, torch.bool), a, b)]
        return self.op("select", operands, shape, a.dtype)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        return x if tuple(shape) == x.shape else self.op("reshape", [x], shape, x.dtype)

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        if list(permutation) == list(range(x.rank)):
            return x
        return self.op("transpose", [x], [x.shape[dim] for dim in permutation], x.dtype,
                       {"permutation": integers(permutation)})

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Repeats dimensions of size 1 and adds leading ones."""
        shape = tuple(int(size) for size in shape)
        if shape == x.shape:
            return x
        lead = len(shape) - x.rank
        kept = [dim for dim, size in enumerate(x.shape) if size == shape[lead + dim]]
        y = self.reshape(x, [x.shape[dim] for dim in kept])
        return self.op("broadcast", [y], shape, x.dtype, {"dims": integers(lead + dim for dim in kept)})

    def slice(self, x: Value, dim: int, start: int, stop: int, step: int = 1) -> Value:
        starts, limits, strides = [0] * x.rank, list(x.shape), [1] * x.rank
        starts[dim], limits[dim], strides[dim] = start, stop, step
        shape = list(x.shape)
        shape[dim] = len(range(start, stop, step))
        if tuple(shape) == x.shape:
            return x
        return self.op("slice", [x], shape, x.dtype, {"starts": integers(starts), "limits": integers(limits),
                                                      "strides": integers(strides)})

    def concatenate(self, parts: Sequence[Value], dim: int) -> Value:
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[dim] = sum(part.shape[dim] for part in parts)
        return self.op("concatenate", parts, shape, parts[0].dtype, {"dim": f"{dim} : i64"})

    def pad(self, x: Value, low: Sequence[int], high: Sequence[int], value: Any = 0,
            interior: Sequence[int] | None = None) -> Value:
        """Pads; ``interior`` is the number of elements between neighbours."""
        interior = interior or [0] * x.rank
        if not any(low) and not any(high) and not any(interior):
            return x
        shape = [size + max(size - 1, 0) * i + a + b for size, a, b, i in zip(x.shape, low, high, interior)]
        return self.op("pad", [x], shape, x.dtype, {
            "value": f"{literal(value, x.dtype)}" + ("" if x.dtype is torch.bool else f" : {TYPES[x.dtype]}"),
            "low": integers(low), "high": integers(high), "interior": integers(interior)})

    def reduce(self, name: str, x: Value, dims: Sequence[int] | None, keep: bool = False) -> Value:
        """``dims`` None or empty: all."""
        if not x.rank:
            return x
        dims = sorted({dim % x.rank for dim in dims} if dims else range(x.rank))
        shape = [size for dim, size in enumerate(x.shape) if dim not in dims]
        y = self.op(name, [x], shape, x.dtype, {"dims": integers(dims)})
        return self.reshape(y, [1 if dim in dims else size for dim, size in enumerate(x.shape)]) if keep else y

    def dot(self, a: Value, b: Value, contracting: tuple[Sequence[int], Sequence[int]],
            batch: tuple[Sequence[int], Sequence[int]] = ((), ())) -> Value:
        """Contracts: batch dimensions come first, then the free ones of a, then those of b."""
        shape = [a.shape[dim] for dim in batch[0]]
        for x, gone in ((a, (*batch[0], *contracting[0])), (b, (*batch[1], *contracting[1]))):
            shape += [size for dim, size in enumerate(x.shape) if dim not in gone]
        return self.op("dot_general", [a, b], shape, a.dtype, {
            "lhs_batch": integers(batch[0]), "rhs_batch": integers(batch[1]),
            "lhs_contracting": integers(contracting[0]), "rhs_contracting": integers(contracting[1])})

    def iota(self, size: int, dtype: torch.dtype = torch.int64) -> Value:
        return self.op("iota", [], (size,), dtype, {"dim": "0 : i64"})

    def gather(self, table: Value, indices: Value) -> Value:
        """Rows of a table."""
        return self.op("gather", [table, indices], indices.shape + table.shape[1:], table.dtype)

    def take(self, x: Value, dim: int, indices: Any) -> Value:
        """Returns the elements at some indices of a dimension, which their dimensions replace: a value, or nested
        lists."""
        if not isinstance(indices, Value):
            with disable_current_modes():
                indices = self.tensor(torch.tensor(indices))
        dim %= x.rank
        taken = self.gather(self.transpose(x, [dim] + [each for each in range(x.rank) if each != dim]), indices)
        lead, rest = list(range(indices.rank)), list(range(indices.rank, taken.rank))
        return self.transpose(taken, rest[:dim] + lead + rest[dim:])

    def stop(self, x: Value) -> Value:
        """Returns the same value, through which no gradient passes: through its bits."""
        wide = compute_type(x.dtype)
        if not x.active:
            return x
        bits = torch.int64 if wide is torch.float64 else torch.int32
        word = self.op("bitcast", [self.cast(x, wide)], x.shape, bits)
        return self.cast(self.op("bitcast", [word], x.shape, wide), x.dtype)

    def floor(self, x: Value) -> Value:
        """Returns the floor; its derivative is 0."""
        return self.unary("floor", self.stop(x))

    def root(self, squares: Value) -> Value:
        """Returns a square root of a sum of squares. Its derivative at 0 is 0, as in PyTorch's norms, and not infinity
        times 0."""
        is_zero = self.compare("eq", squares, 0.0)
        zero, one = (self.constant(value, squares.dtype) for value in (0, 1))
        return self.select(is_zero, zero, self.unary("sqrt", self.select(is_zero, one, squares)))

    def clamp(self, x: Value, low: float, high: float) -> Value:
        return self.unary("clamp", x, {"low": floating(low), "high": floating(high)})

    def to_last(self, x: Value, dim: int) -> tuple[Value, list[int]]:
        """Returns the value with a dimension behind all others, and the permutation back."""
        dim %= max(x.rank, 1)
        order = [each for each in range(x.rank) if each != dim] + [dim] if x.rank else []
        back = [order.index(each) for each in range(x.rank)]
        return self.transpose(x, order), back
