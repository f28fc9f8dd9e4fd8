"""From a function of JAX to StableHLO, and on to the dialect."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator

from .. import _core
from .._errors import Error

try:
    import jax
    from jax._src import ad_checkpoint, ad_util
    from jax._src.interpreters import mlir
except ImportError as error:
    raise ImportError("reprise.jax needs jax: pip install jax") from error


def _programs_in(value: Any) -> Iterator[Any]:
    """The programs in a parameter of an equation."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _programs_in(each)
    else:
        program = getattr(value, "jaxpr", value)
        if hasattr(program, "eqns"):
            yield program


def _equations(program: Any) -> Iterator[Any]:
    """The equations of a program, and of those inside of it."""
    for equation in program.eqns:
        yield equation
        for value in equation.params.values():
            for inner in _programs_in(value):
                yield from _equations(inner)


def _makes_floats_of_bits(program: Any) -> bool:
    """Where a derivative of the body ends, as in frexp."""
    return any(equation.primitive.name == "bitcast_convert_type"
               and jax.numpy.issubdtype(equation.params["new_dtype"], jax.numpy.floating) for equation in _equations(program))


def _check_derivatives(function: Callable[..., Any], examples: tuple[Any, ...]) -> None:
    """StableHLO has no derivatives: those that a user wrote would be lost. What JAX's own functions have is the
    derivative of their bodies, but for rounding, unless the body works on bits."""
    own = os.path.dirname(jax.__file__)
    lost = set()
    for equation in _equations(jax.make_jaxpr(function)(*examples).jaxpr):
        if equation.primitive.name.startswith(("custom_jvp_call", "custom_vjp_call")):
            program = equation.params["call_jaxpr"].jaxpr
            place = program.debug_info.func_src_info
            if own not in place or _makes_floats_of_bits(program):
                lost.add(place)
    if lost:
        raise Error("derivatives by jax.custom_jvp and jax.custom_vjp are not imported: " + ", ".join(sorted(lost)))


def _stop_gradient(context: Any, operand: Any) -> Any:
    """JAX leaves no trace of it; the import knows this name."""
    return mlir.custom_call("reprise.stop_gradient", result_types=[operand.type], operands=[operand]).results


def _checkpoint(context: Any, *operands: Any, **parameters: Any) -> Any:
    """Tells each call of jax.checkpoint from those around it."""
    operands = list(operands)
    marked = next((i for i, operand in enumerate(operands) if hasattr(operand, "type")), None)
    if marked is not None:
        operands[marked] = mlir.custom_call("reprise.checkpoint", result_types=[operands[marked].type],
                                            operands=[operands[marked]]).result
    return ad_checkpoint._remat_lowering(context, *operands, **parameters)


def lower(function: Callable[..., Any], *examples: Any) -> str:
    """The StableHLO of ``function(*examples)``, with the names of its arguments and places.

    ``examples`` are pytrees of arrays or of ``jax.ShapeDtypeStruct``; each leaf is an argument.
    """
    rules = mlir.LoweringParameters(override_lowering_rules=(
        (ad_util.stop_gradient_p, _stop_gradient), (ad_checkpoint.remat_p, _checkpoint)))
    traced = jax.jit(function, keep_unused=True).trace(*examples)
    return traced.lower(_private_parameters=rules).as_text(debug_info=True)


def to_mlir(function: Callable[..., Any], params: Any, *examples: Any) -> str:
    """A model: ``@grad``, loss and gradients by ``params``, and ``@forward``.

    The first result of ``function(params, *examples)``, a float scalar, is the loss. What cannot be imported is one
    ``reprise.Error`` that lists all of it.
    """
    _check_derivatives(function, (params, *examples))
    count = len(jax.tree_util.tree_leaves(params))
    name = getattr(function, "__name__", type(function).__name__)
    text = lower(function, params, *examples).encode()
    return _core.import_stablehlo(_core.Session(), text, name, count).text()
