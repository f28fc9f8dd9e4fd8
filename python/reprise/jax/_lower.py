"""Lowers a function of JAX to StableHLO, and imports it to the dialect."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .. import _core
from .._compile import verify
from .._errors import UsageError
from ._jax import ad_checkpoint, ad_util, custom_derivatives, jax, mlir
from ._policies import lower_checkpoint, lower_name
from ._rules import lower_jvp, lower_vjp

_jvp_p = custom_derivatives.custom_jvp_call_p
_vjp_p = custom_derivatives.custom_vjp_call_p


def _stop_gradient(context: Any, operand: Any) -> Any:
    """Lowers stop_gradient, of which JAX leaves no trace, to a call that the import knows."""
    return mlir.custom_call("reprise.stop_gradient", result_types=[operand.type], operands=[operand]).results


#: Lowering rules of primitives that JAX would lose in StableHLO, which is not differentiated.
_RULES = ((ad_util.stop_gradient_p, _stop_gradient), (ad_checkpoint.remat_p, lower_checkpoint),
          (ad_checkpoint.name_p, lower_name), (_jvp_p, lower_jvp(_jvp_p)), (_vjp_p, lower_vjp))


def lower(function: Callable[..., Any], *examples: Any) -> str:
    """The StableHLO of ``function(*examples)``, with the names of its arguments and places.

    ``examples`` are pytrees of arrays or of ``jax.ShapeDtypeStruct``; each leaf is an argument.
    """
    rules = mlir.LoweringParameters(override_lowering_rules=_RULES)
    traced = jax.jit(function, keep_unused=True).trace(*examples)
    return traced.lower(_private_parameters=rules).as_text(debug_info=True)


def _cut_batch(text: str, batch_dims: Mapping[str, int]) -> str:
    """Marks the dimensions of inputs that micro-batches cut."""
    for name, dim in batch_dims.items():
        role = f'reprise.name = "{name}", reprise.role = "input"'
        if role not in text:
            raise UsageError(f"batch_dims= names '{name}', and the function has no input of this name")
        text = text.replace(role, f"reprise.batch_dim = {dim} : i64, {role}")
    return text


def to_mlir(function: Callable[..., Any], params: Any, *examples: Any, batch_dims: Mapping[str, int] | None = None) -> str:
    """Makes a model: ``@grad``, loss and gradients by ``params``, and ``@forward``.

    The first result of ``function(params, *examples)``, a float scalar, is the loss. Unsupported ops raise one
    ``reprise.Error`` that lists all of them. ``batch_dims`` maps names of inputs to the dimension that ``microbatches``
    cuts; other inputs are whole.
    """
    count = len(jax.tree_util.tree_leaves(params))
    name = getattr(function, "__name__", type(function).__name__)
    text = lower(function, params, *examples).encode()
    model = _cut_batch(_core.import_stablehlo(_core.Session(), text, name, count).text(), batch_dims or {})
    return verify(model, name=name) if batch_dims else model
