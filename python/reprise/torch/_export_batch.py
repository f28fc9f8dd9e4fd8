"""Finds the batch dimension of each input of an exported step.

This module only names the dimension. The compiler knows whether a graph can be cut there, and refuses ops that couple
the samples. A wrong guess is therefore an error at the op, or a cut that leaves every sum unchanged. Only batch norms
compute statistics of any part. Their batch must be named by the caller, because graphs do not show it: rows of a
sequence and of a batch look alike once they are folded.
"""

from __future__ import annotations

from typing import Literal, Mapping, Sequence, Union

from .._errors import UsageError

BatchDim = Union[int, Mapping[str, int], None, Literal["guessed"]]


def batch_dims(inputs: Sequence[tuple[str, Sequence[int]]], batch_dim: BatchDim, has_statistics: bool) -> dict[str, int]:
    """The batch dimension of each input, a name and a shape, that has one. No guess is made where statistics are taken."""
    if batch_dim is None or batch_dim == "guessed" and has_statistics:
        return {}
    if batch_dim == "guessed":
        batch_dim = 0 if any(shape for _, shape in inputs) else {}
    shapes = dict(inputs)
    if isinstance(batch_dim, Mapping):
        dims = dict(batch_dim)
    else:
        having = [name for name, shape in inputs if 0 <= batch_dim < len(shape)]
        if not having and shapes:
            raise UsageError(f"no input has a dimension {batch_dim} for batch_dim; the inputs are {_shown(inputs)}")
        dims = {name: batch_dim for name in having if shapes[name][batch_dim] == shapes[having[0]][batch_dim]}
    _check(inputs, dims)
    return dims


def _shown(inputs: Sequence[tuple[str, Sequence[int]]]) -> str:
    return ", ".join(f"'{name}' of shape {[int(size) for size in shape]}" for name, shape in inputs)


def _check(inputs: Sequence[tuple[str, Sequence[int]]], dims: Mapping[str, int]) -> None:
    shapes = dict(inputs)
    sizes = {}
    for name, dim in dims.items():
        if name not in shapes:
            raise UsageError(f"batch_dim names '{name}'; the inputs are {_shown(inputs)}")
        if not 0 <= dim < len(shapes[name]):
            raise UsageError(f"batch_dim of '{name}' is {dim}; the inputs are {_shown(inputs)}")
        sizes[name] = int(shapes[name][dim])
    first = next(iter(sizes), None)
    for name, size in sizes.items():
        if size != sizes[first]:
            raise UsageError(f"inputs have different batches: '{first}' has {sizes[first]} samples, '{name}' has {size}")
