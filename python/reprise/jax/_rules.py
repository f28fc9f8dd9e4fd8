"""Traces derivatives that a function defines, by ``jax.custom_vjp`` and ``jax.custom_jvp``.

For each, the import builds a ``reprise.custom_vjp``: the results of the forward rule, and the backward rule as a
function from residuals and cotangents to the cotangents of the inputs. Both are traced here, as JAX would trace them.
"""

from __future__ import annotations

import os
from typing import Any

from ._jax import ad_util, core, jax, mlir
from ._programs import equations_in, map_equations

#: Primitive with the operands of the custom call; ``backward`` maps residuals and cotangents to the inputs' cotangents.
rule_p = core.Primitive("reprise_custom_vjp")
rule_p.multiple_results = True
rule_p.def_abstract_eval(lambda *operands, backward, primals: list(operands[:primals]))


def _lower_rule(context: Any, *operands: Any, backward: Any, primals: int) -> Any:
    function = mlir.lower_jaxpr_to_fun(context.module_context, "backward", backward, [], num_const_args=0,
                                       in_avals=backward.in_avals)
    call = mlir.custom_call("reprise.custom_vjp", result_types=[operand.type for operand in operands[:primals]],
                            operands=operands, called_computations=[function.name.value])
    return call.results


mlir.register_lowering(rule_p, _lower_rule, cacheable=False)


def _is_rule(equation: Any) -> bool:
    return equation.primitive.name in ("custom_jvp_call", "custom_vjp_call")


def _makes_floats_of_bits(program: Any) -> bool:
    """Returns whether a derivative of the body ends at some op, as that of frexp does."""
    return any(equation.primitive.name == "bitcast_convert_type"
               and jax.numpy.issubdtype(equation.params["new_dtype"], jax.numpy.floating) for equation in equations_in(program))


def _is_derived_from_body(program: Any) -> bool:
    """Tells whether the rule gives the derivative of the body, but for rounding, as rules of JAX's own functions do."""
    return os.path.dirname(jax.__file__) in program.debug_info.func_src_info and not _makes_floats_of_bits(program)


def _to_body(equation: Any) -> list[Any]:
    if not _is_rule(equation):
        return [equation]
    return [equation.replace(primitive=core.closed_call_p, params={"call_jaxpr": equation.params["call_jaxpr"]})]


def _without_rules(closed: Any) -> Any:
    """Returns the program with bodies in place of rules. Inside a rule no cotangent reaches another rule, and a forward
    rule may call its own function."""
    return core.ClosedJaxpr(map_equations(closed.jaxpr, _to_body), closed.consts)


def _is_float(value: Any) -> bool:
    return jax.numpy.issubdtype(value.dtype, jax.numpy.floating)


def _trace(function: Any, values: Any) -> Any:
    return _without_rules(jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(each.shape, each.dtype) for each in values)))


def _bind(results: list[Any], inputs: list[Any], residuals: list[Any], backward: Any) -> list[Any]:
    """Binds results to the rule; ``backward`` takes residuals and one cotangent per float result."""
    cotangents = [each for each in results if _is_float(each)]
    return rule_p.bind(*results, *inputs, *residuals, backward=_trace(backward, [*residuals, *cotangents]), primals=len(results))


def _bind_vjp(operands: list[Any], fwd_jaxpr_thunk: Any, bwd: Any, out_trees: Any, num_consts: int) -> list[Any]:
    primals = operands[num_consts:]
    program, constants = fwd_jaxpr_thunk.call_wrapped(*[True] * len(primals))
    made = core.jaxpr_as_fun(_without_rules(core.ClosedJaxpr(program, constants)))(*primals)
    _, residual_tree, forwarded = out_trees()
    count = residual_tree.num_leaves - sum(each is not None for each in forwarded)
    saved, results = iter(made[:count]), [jax.numpy.asarray(each) for each in made[count:]]
    # Residuals that are inputs are given as operand numbers. Numbers, such as sizes, are part of the rule.
    all_residuals = [next(saved) if each is None else operands[each] for each in forwarded]
    residuals = [jax.numpy.asarray(each) for each in all_residuals if not isinstance(each, (int, float))]
    floats = [number for number, each in enumerate(primals) if _is_float(each)]

    def backward(*given: Any) -> list[Any]:
        cotangents = iter(given[len(residuals):])
        all_of = [next(cotangents) if _is_float(each) else _no_tangent(each) for each in results]
        traced = iter(given)
        gradients = bwd.call_wrapped(*(each if isinstance(each, (int, float)) else next(traced) for each in all_residuals), *all_of)
        return [ad_util.instantiate(gradients[number]) for number in floats]

    return _bind(results, [primals[number] for number in floats], residuals, backward)


def _no_tangent(value: Any) -> Any:
    """Returns JAX's cotangent of an integer."""
    return jax.numpy.zeros(value.shape, jax.dtypes.float0)


def _bind_jvp(operands: list[Any], primitive: Any, params: dict[str, Any]) -> list[Any]:
    floats = [number for number, each in enumerate(operands) if _is_float(each)]
    results = core.jaxpr_as_fun(_without_rules(params["call_jaxpr"]))(*operands)
    is_float = [_is_float(each) for each in results]

    def backward(*given: Any) -> list[Any]:
        residuals, cotangents = list(given[:len(operands)]), given[len(operands):]

        def floats_of(*inputs: Any) -> list[Any]:
            replaced = dict(zip(floats, inputs))
            made = primitive.bind(*(replaced.get(number, each) for number, each in enumerate(residuals)),
                                  **primitive.get_bind_params(params))
            return [each for each, wanted in zip(made, is_float) if wanted]

        return list(jax.vjp(floats_of, *(residuals[number] for number in floats))[1](list(cotangents)))

    return _bind(list(results), [operands[number] for number in floats], list(operands), backward)


def lower_vjp(context: Any, *operands: Any, **params: Any) -> Any:
    """Lowers a call of a function with ``jax.custom_vjp``."""
    if _is_derived_from_body(params["call_jaxpr"].jaxpr):
        return mlir.lower_fun(core.jaxpr_as_fun(params["call_jaxpr"]))(context, *operands)
    names = ("fwd_jaxpr_thunk", "bwd", "out_trees", "num_consts")
    bind = mlir.lower_fun(lambda *given: _bind_vjp(list(given), **{name: params[name] for name in names}))
    return bind(context, *operands)


def lower_jvp(primitive: Any) -> Any:
    """Returns the lowering of calls of functions with ``jax.custom_jvp``."""

    def lower(context: Any, *operands: Any, **params: Any) -> Any:
        if _is_derived_from_body(params["call_jaxpr"].jaxpr):
            return mlir.lower_fun(core.jaxpr_as_fun(params["call_jaxpr"]))(context, *operands)
        return mlir.lower_fun(lambda *given: _bind_jvp(list(given), primitive, params))(context, *operands)

    return lower
