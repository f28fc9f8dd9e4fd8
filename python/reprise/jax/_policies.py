"""Translates ``policy=`` of ``jax.checkpoint`` to labels of the model for the values of a region.

JAX asks the policy for each equation whether its results are saved. The answer becomes a label on the ops of the
equation: ``prefer_save``, ``prefer_offload``, or none, which leaves the label of the checkpoint, ``prefer_recompute``.
"""

from __future__ import annotations

from typing import Any, Callable

from ._jax import ad_checkpoint, core, ir, mlir, partial_eval
from ._programs import map_equations, programs_of

#: Primitive that returns its operand, whose op gets the label.
label_p = core.Primitive("reprise_label")
label_p.def_abstract_eval(lambda operand, *, label: operand)


def _call(target: str, operand: Any, **attributes: str) -> Any:
    return mlir.custom_call(target, result_types=[operand.type], operands=[operand],
                            extra_attributes={key: ir.StringAttr.get(value) for key, value in attributes.items()}).results


mlir.register_lowering(label_p, lambda context, operand, *, label: _call("reprise.label", operand, label=label))


def lower_name(context: Any, operand: Any, *, name: str) -> Any:
    """Lowers ``jax.ad_checkpoint.checkpoint_name``, since policies of Reprise use the name, too."""
    return _call("reprise.name", operand, value_name=name)


def _label(policy: Callable[..., Any], equation: Any) -> str | None:
    answer = policy(equation.primitive, *(operand.aval for operand in equation.invars), **equation.params)
    if isinstance(answer, partial_eval.Offloadable):
        return "prefer_offload"
    return "prefer_save" if answer is True or isinstance(answer, partial_eval.SaveableType) else None


def _with_labels(program: Any, policy: Callable[..., Any]) -> Any:
    def change(equation: Any) -> list[Any]:
        # A policy applies to the equations in a loop or a jitted function, not to the call.
        label = None if programs_of(equation) or equation.primitive is label_p else _label(policy, equation)
        if label is None:
            return [equation]
        plain = [core.Var(result.aval) for result in equation.outvars]
        marks = [equation.replace(invars=[before], outvars=[result], primitive=label_p, params={"label": label},
                                  effects=core.no_effects) for before, result in zip(plain, equation.outvars)]
        return [equation.replace(outvars=plain), *marks]

    return map_equations(program, change)


def lower_checkpoint(context: Any, *operands: Any, jaxpr: Any, policy: Any, **parameters: Any) -> Any:
    """Lowers a call of ``jax.checkpoint``, and distinguishes it from calls around it."""
    marked = list(operands)
    at = next((i for i, operand in enumerate(marked) if hasattr(operand, "type")), None)
    if at is not None:
        marked[at] = _call("reprise.checkpoint", marked[at])[0]
    if policy is not None:
        jaxpr = _with_labels(jaxpr, policy)
    return ad_checkpoint._remat_lowering(context, *marked, jaxpr=jaxpr, policy=policy, **parameters)
