"""Loss functions of JAX, differentiated and planned by Reprise.

    step = reprise.jax.compile(loss, params, tokens, budget="60%")
    value, gradients = step.value_and_grad(params, tokens)

``jax.checkpoint`` in the function becomes a checkpoint of the plan. Random functions draw JAX's bits.
"""

from ._lower import lower, to_mlir
from ._step import Step, compile

__all__ = ["Step", "compile", "lower", "to_mlir"]
