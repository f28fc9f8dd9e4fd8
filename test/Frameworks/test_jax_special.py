"""JAX where numbers are special, zeros, infinities, NaNs and ties; and its models in f64."""
import os
import warnings

import checks

# The code of JAX only judges here, so that its speed does not matter. Without this, XLA compiles for most of the time.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    checks.skip("JAX", "it is not installed")
    raise SystemExit(checks.finish())
import jax_models
import numpy
import test_jax

import reprise
import reprise.jax

INF, NAN = numpy.inf, numpy.nan
POINTS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.0, 0.5, -0.25, -3.0, 100.0, -100.0, 1e10, 1e30, -1e30]

#: Functions of a number, and the points where derivatives are not JAX's: docs/reference/Jax.md says why.
ONE = {
    "lgamma": (jax.lax.lgamma, [-INF]),
    "digamma": (jax.lax.digamma, [0.0, -1.0, -2.0, -3.0, -100.0, INF, -INF, -1e30]),
    "asin": (jnp.arcsin, []), "acos": (jnp.arccos, []), "atan": (jnp.arctan, []),
    "sinh": (jnp.sinh, []), "cosh": (jnp.cosh, []), "tanh": (jnp.tanh, []), "atanh": (jnp.arctanh, []),
    "asinh": (jnp.arcsinh, []), "acosh": (jnp.arccosh, [-INF, -1.0, -2.0, -3.0, -100.0, -1e30]),
    "exp": (jnp.exp, []), "expm1": (jnp.expm1, []), "log": (jnp.log, []), "log1p": (jnp.log1p, []),
    "sqrt": (jnp.sqrt, []), "cbrt": (jnp.cbrt, []), "square": (jnp.square, []),
    "erf": (jax.lax.erf, []), "erfc": (jax.lax.erfc, []), "erf_inv": (jax.lax.erf_inv, [each for each in POINTS if abs(each) >= 1]),
    "sigmoid": (jax.nn.sigmoid, []), "silu": (jax.nn.silu, []), "softplus": (jax.nn.softplus, [NAN]), "relu": (jax.nn.relu, []),
    "a cube": (lambda x: x**3, []), "a root": (lambda x: x**0.5, []), "an inverse": (lambda x: x**-1, []),
    "abs": (jnp.abs, [0.0, NAN]),
}
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0]
#: Functions of two numbers, tested at all pairs of these numbers, with the points at which derivatives are not
#: compared.
TWO = {
    "atan2": (jnp.arctan2, NUMBERS + [INF, -INF, NAN], lambda x, y: numpy.isinf(x) | numpy.isinf(y)),
    "pow": (jnp.power, NUMBERS, lambda x, y: x == 0),
    "rem": (jnp.fmod, NUMBERS + [INF, -INF], lambda x, y: y == 0),
    "hypot": (jnp.hypot, NUMBERS, lambda x, y: (x == 0) & (y == 0)),
    "logaddexp": (jnp.logaddexp, NUMBERS, lambda x, y: x != x),
    "maximum": (jnp.maximum, NUMBERS, lambda x, y: x != x),
    "minimum": (jnp.minimum, NUMBERS, lambda x, y: x != x),
}


def differing(name, own, expected, arguments, tolerance, skip=None):
    own, expected = numpy.asarray(own, numpy.float64), numpy.asarray(expected, numpy.float64)
    with numpy.errstate(all="ignore"):
        same = (own == expected) | (numpy.isnan(own) & numpy.isnan(expected))
        same |= abs(own - expected) <= tolerance * numpy.maximum(0.1, abs(expected))
    same |= False if skip is None else skip
    return [f"{name} at {[float(each[i]) for each in arguments]}: {own[i]}, JAX {expected[i]}" for i in numpy.flatnonzero(~same)]


def compare(cases, dtype):
    """Checks values, and derivatives except where `skip` is true. A case has a function, its arguments, and `skip`. One
    program has all cases."""
    tolerance = 2e-5 if dtype == jnp.float32 else 1e-9
    given = {name: tuple(jnp.asarray(each, dtype) for each in arguments) for name, (_, arguments, _) in cases.items()}

    def loss(given):
        values = {name: function(*given[name]) for name, (function, _, _) in cases.items()}
        return sum(each.sum() for each in values.values()), values

    (_, values), slopes = reprise.jax.compile(loss, given, threads=1)(given)
    (_, expected), wanted = jax.jit(jax.value_and_grad(loss, has_aux=True))(given)
    for name, (_, arguments, skip) in cases.items():
        wrong = differing("value", values[name], expected[name], arguments, tolerance)
        for own, other in zip(slopes[name], wanted[name]):
            wrong += differing("derivative", own, other, arguments, tolerance, skip)
        checks.check(f"{name} of {jnp.dtype(dtype)} at special numbers", not wrong, "\n".join(wrong[:20]))


def check_special(dtype):
    points, cases = numpy.array(POINTS), {}
    for name, (function, others) in ONE.items():
        skip = numpy.array([any(numpy.array_equal(point, each, equal_nan=True) for each in others) for point in points])
        cases[name] = function, [points], skip
    for name, (function, numbers, skip) in TWO.items():
        x, y = (each.ravel() for each in numpy.meshgrid(numbers, numbers, indexing="ij"))
        cases[name] = function, [x, y], skip(x, y)
    compare(cases, dtype)


def check_wide_model(name, loss, params, arguments, budget):
    """Checks a model in f64 within a budget; at night, under all plans."""
    wide = {leaf.dtype for leaf in jax.tree.leaves(params)}
    checks.check(f"{name}: the parameters are of f64", wide == {jnp.dtype(jnp.float64)}, f"{wide}")
    if checks.everything or name == "gpt2":
        test_jax.check_model(f"{name} in f64", loss, params, arguments, budget, 1e-11)
        return
    made = reprise.jax.compile(loss, params, *arguments, threads=1, budget=budget)(params, *arguments)
    distance = test_jax.farthest(made, jax.jit(jax.value_and_grad(loss))(params, *arguments))
    checks.check(f"{name} in f64: value and gradients are JAX's to 1e-11", distance < 1e-11, str(distance))


def main():
    warnings.simplefilter("ignore", reprise.RepriseWarning)
    check_special(jnp.float32)
    jax.config.update("jax_enable_x64", True)
    check_special(jnp.float64)
    for case in jax_models.cases():
        check_wide_model(*case)
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
