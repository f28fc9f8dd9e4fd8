"""Compiled loss functions, on pytrees."""

from __future__ import annotations

from typing import Any, Callable, Mapping

import numpy

from .. import _compile
from .._errors import warn
from .._report import Report
from .._run import Run
from ._lower import jax, to_mlir

#: Stands in a model where a policy of ``jax.checkpoint`` offloads a value.
OFFLOADS = "#reprise.label<prefer_offload>"
#: Types of the program that replace types it lacks: with the same bits, or the same numbers.
_SAME_BITS = {"uint32": "int32", "uint64": "int64", "bfloat16": "uint16"}
_SAME_NUMBERS = {"int8", "uint8", "int16", "uint16"}


def _to_host(leaf: Any) -> numpy.ndarray:
    """Returns an array of the program's type."""
    if jax.dtypes.issubdtype(getattr(leaf, "dtype", None), jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = numpy.asarray(leaf, order="C")  # ascontiguousarray would make a row of a scalar
    if array.dtype.name in _SAME_NUMBERS:
        return array.astype(numpy.int32)
    return array.view(_SAME_BITS.get(array.dtype.name, array.dtype.name))


def _to_jax(array: numpy.ndarray, dtype: Any) -> Any:
    if numpy.dtype(dtype).name in _SAME_NUMBERS:
        return jax.numpy.asarray(array.astype(dtype))
    return jax.numpy.asarray(array if array.dtype == dtype else array.view(dtype))


class Step:
    """A loss and its gradients as one program."""

    def __init__(self, program: _compile.Program, function: Callable[..., Any], examples: tuple[Any, ...]) -> None:
        #: Compiled program, with ``save``, ``plan`` and ``explain``.
        self.program = program
        self._types = [jax.numpy.result_type(leaf) for leaf in jax.tree_util.tree_leaves(examples[0])]
        self._structure = jax.tree_util.tree_structure(examples)
        self._value = jax.eval_shape(function, *examples)
        description = program.description
        self._arguments = [argument["name"] for argument in description["arguments"]]
        self._results = [result["name"] for result in description["results"]]
        self._run = Run(program)

    @property
    def report(self) -> Report:
        """Returns the report of saved and replayed values, bytes and costs."""
        return self.program.report

    def value_and_grad(self, params: Any, *arguments: Any) -> tuple[Any, Any]:
        """Returns the function's results, and the gradient of the loss by each leaf of ``params``.

        The arguments must have the structure, shapes and types of the examples; others raise a ValueError.
        """
        leaves, structure = jax.tree_util.tree_flatten((params, *arguments))
        if structure != self._structure:
            raise ValueError(f"expected arguments of the structure {self._structure}, got {structure}")
        for name, leaf in zip(self._arguments, leaves):
            self._run.give(name, _to_host(leaf))
        self._run.start(1)
        self._run.step()
        shapes, outputs = jax.tree_util.tree_flatten(self._value)
        types = [shape.dtype for shape in shapes] + self._types
        results = [_to_jax(self._run.result(name), dtype) for name, dtype in zip(self._results, types)]
        gradients = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(params), results[len(shapes):])
        return jax.tree_util.tree_unflatten(outputs, results[:len(shapes)]), gradients

    __call__ = value_and_grad


def compile(function: Callable[..., Any], params: Any, *examples: Any, batch_dims: Mapping[str, int] | None = None,
            **options: Any) -> Step:
    """Compiles the loss ``function(params, *examples)`` and its gradients by ``params``.

    ``params`` and ``examples`` are pytrees of arrays or of ``jax.ShapeDtypeStruct``; leaves of ``params`` are floats.
    The function returns the loss, a float scalar, or a tuple with the loss first. ``options`` are those of
    ``reprise.compile``: budget, policy, threads, plan, … Unsupported ops raise one ``reprise.Error``. ``batch_dims`` maps
    names of inputs to the dimension that ``microbatches`` cuts.
    """
    model = to_mlir(function, params, *examples, batch_dims=batch_dims)
    name = getattr(function, "__name__", type(function).__name__)
    program = _compile.compile_wish(model, entry="grad", name=name, **options)
    if OFFLOADS in model and not program.report.content.get("host_bytes"):
        warn("a policy of jax.checkpoint offloads values, but a loop saves them on the device: "
             "unroll=True offloads them in each iteration")
    return Step(program, function, (params, *examples))
