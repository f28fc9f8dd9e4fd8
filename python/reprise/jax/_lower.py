"""Lowers a function of JAX to StableHLO, and imports it to the dialect."""

from __future__ import annotations

from typing import Any, Callable

from .. import _core
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


def to_mlir(function: Callable[..., Any], params: Any, *examples: Any) -> str:
    """Makes a model: ``@grad``, loss and gradients by ``params``, and ``@forward``.

    The first result of ``function(params, *examples)``, a float scalar, is the loss. Unsupported ops raise one
    ``reprise.Error`` that lists all of them.
    """
    count = len(jax.tree_util.tree_leaves(params))
    name = getattr(function, "__name__", type(function).__name__)
    text = lower(function, params, *examples).encode()
    return _core.import_stablehlo(_core.Session(), text, name, count).text()
