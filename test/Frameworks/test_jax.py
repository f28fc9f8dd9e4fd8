"""Loss functions of JAX: values, gradients, bits of random functions, checkpoints, loops, errors."""
import contextlib
import io
import json
import os
import pathlib
import re
import warnings

import checks

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    checks.skip("JAX", "it is not installed")
    raise SystemExit(checks.finish())
import jax_models
import numpy

import reprise
import reprise.jax

TOLERANCE = 1e-5


def farthest(left, right):
    """The largest difference of two trees' leaves, relative to the leaf's largest element."""
    def distance(x, y):
        x, y = numpy.asarray(x, numpy.float64), numpy.asarray(y, numpy.float64)
        same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
        return float(numpy.max(numpy.where(same, 0, abs(x - y)), initial=0) / max(1e-6, numpy.max(abs(y), initial=0)))
    return max(map(distance, jax.tree.leaves(left), jax.tree.leaves(right)))


def equal(left, right):
    return all(numpy.array_equal(x, y, equal_nan=True) for x, y in zip(jax.tree.leaves(left), jax.tree.leaves(right)))


def check_model(name, loss, params, arguments, budget, tolerance=TOLERANCE):
    reference = jax.jit(jax.value_and_grad(loss))
    expected = reference(params, *arguments)
    steps = {label: reprise.jax.compile(loss, params, *arguments, threads=1, **options) for label, options in (
        ("save-all", {"policy": "save-all", "ignore_checkpoints": True}), ("recompute-all", {"policy": "recompute-all"}),
        (budget, {"budget": budget}))}
    results = {label: step(params, *arguments) for label, step in steps.items()}
    distance = farthest(results["save-all"], expected)
    checks.check(f"{name}: value and gradients are JAX's to {tolerance}", distance < tolerance, str(distance))
    print(f"   {name}: farthest {distance:.1e}; "
          + ", ".join(f"{label} {step.report.arena_bytes} B, {step.report.replayed_ops} replays" for label, step in steps.items()))
    for label in ("recompute-all", budget):
        checks.check(f"{name}: {label} has the bits of save-all", equal(results[label], results["save-all"]))
    other = jax.tree.map(lambda leaf: leaf * 0.5, params)
    again = farthest(steps[budget](other, *arguments), reference(other, *arguments))
    checks.check(f"{name}: another call has other parameters", again < tolerance, str(again))


def narrow(x, signed, unsigned):
    """Arithmetic that leaves the range of the types."""
    y, z = (200 * x).astype(signed), (300 * x * x).astype(unsigned)
    made = [y * y, y + y, -y, abs(y), ~y, y // 3, y % 7, jnp.left_shift(y, 3), jnp.right_shift(y, 2), jnp.maximum(y, 5),
            jax.lax.shift_right_logical(y, signed(3)), z * z, z - 200, ~z, z // 3, z % 7, z >> 1, z << 5, jnp.minimum(z, 9),
            z > 100, y < 0, y.astype(unsigned), z.astype(signed), (1000 * jnp.arange(6)).astype(signed), jnp.cumsum(z, 1),
            jnp.sort(z, 1), jnp.sum(y, 0, dtype=signed), jnp.max(z, 0), z[jnp.array([3, 1, 0, 0])], jnp.argmax(z, 0), z @ z.T @ z,
            y.astype(jnp.int32) // z.astype(jnp.int32).clip(1), jax.lax.bitcast_convert_type(y, unsigned)]
    return sum((each.astype(jnp.float32) % 97) * (1 + number % 3) for number, each in enumerate(made)) / 1000


def volume(x):
    return jnp.sin(jnp.outer(jnp.arange(10.0), x)).reshape(1, 2, 4, 5, 6)


#: Functions of a matrix [4, 6], each with its derivative.
FUNCTIONS = {
    "elementwise": lambda x: jnp.sin(x) * jnp.cos(x) + jnp.tanh(x) / (2 + jnp.exp(-x * x)) + jnp.abs(x) ** 1.5,
    "functions": lambda x: jax.nn.softplus(x) + jax.nn.elu(x) + jnp.log1p(x * x) + jnp.expm1(x) + jax.nn.silu(x),
    "erf": lambda x: jax.lax.erf(x) + jax.lax.erfc(x / 2) + jax.lax.erf_inv(jnp.tanh(x) * 0.9) + jax.nn.gelu(x, approximate=False),
    "whole numbers": lambda x: x * (jnp.floor(x * 3) + jnp.ceil(x * 3) + jnp.round(x * 2) + jnp.sign(x)),
    "integers": lambda x: x * (jnp.arange(6) % 4 + jnp.arange(6) // -3 + (jnp.arange(6, dtype=jnp.uint32) * jnp.uint32(3000000000) > 7)),
    "clip": lambda x: jnp.clip(x, -0.5, 0.5) + jnp.maximum(x, 0.1) + jnp.minimum(x, x * x),
    "where": lambda x: jnp.where(x > 0, x, 2 * x) + jnp.logaddexp(x, 1.0),
    "reductions": lambda x: x.sum(0) + x.mean() + x.max(0) + x.min() + jnp.prod(x, 0) + x.var(0) + jax.nn.logsumexp(x, 0),
    "any, all": lambda x: x * (jnp.any(x > 1, 1, keepdims=True) + 2 * jnp.all(x > -1, 1, keepdims=True)),
    "argmax": lambda x: x[jnp.argmax(x, 0), jnp.arange(6)] + x[jnp.argmin(x, 0), jnp.arange(6)],
    "shapes": lambda x: jnp.concatenate([x.T[::-1], x.reshape(6, 4)[:, ::2]], 1) @ jnp.pad(x, ((1, 1), (0, 2)))[:, :3],
    "take": lambda x: x[jnp.array([3, -1, 0])] + jnp.take(x, jnp.array([2, 0, 0]), axis=0),
    "take along": lambda x: jnp.take_along_axis(x, jnp.array([[5, 0], [1, 1], [2, 3], [0, 5]]), axis=1),
    "pairs": lambda x: x[jnp.array([0, 3, 2]), jnp.array([1, 5, 5])],
    "windows": lambda x: jax.vmap(lambda i: jax.lax.dynamic_slice(x, (i, 1), (2, 3)))(jnp.array([0, 2, 9])),
    "set": lambda x: x.at[1].set(x[0] * 2).at[jnp.array([0, 7]), 2].set(5.0),
    "add": lambda x: x.at[jnp.array([1, 1, 2])].add(x[:3] ** 2),
    "cumsum": lambda x: jnp.cumsum(x, 1) + jnp.cumsum(x[::-1], 0),
    "sort": lambda x: jnp.sort(x, 1) + x[:, jnp.argsort(x[0])],
    "top_k": lambda x: jax.lax.top_k(x, 2)[0],
    "pooling": lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 3), (1, 2), "SAME"),
    "transposed convolution": lambda x: jax.lax.conv_transpose(x[None, :, :, None], x[:3, :3, None, None], (2, 2), "SAME"),
    "groups": lambda x: jax.lax.conv_general_dilated(x[None], x.reshape(8, 1, 3)[:, :, :3], (1,), [(1, 1)], feature_group_count=4),
    "volumes": lambda x: jax.lax.conv_general_dilated(volume(x), x.reshape(3, 2, 2, 2, 1), (1, 2, 1), "SAME", rhs_dilation=(2, 1, 1)),
    "pooled volumes": lambda x: [jax.lax.reduce_window(volume(x), start, by, (1, 1, 2, 3, 2), (1, 1, 2, 1, 2), "SAME")
                                 for start, by in ((-jnp.inf, jax.lax.max), (0.0, jax.lax.add))],
    "cond": lambda x: jax.lax.cond(x[0, 0] > 0, lambda y: y * 2, lambda y: y + 1, x),
    "switch": lambda x: jax.lax.switch(jnp.int32(7), [lambda y: y, lambda y: y * 3, jnp.sin], x),
    "scan": lambda x: jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c * row), x[0], x),
    "long scan": lambda x: jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c * row), x[0], jnp.tile(x, (100, 1)) / 50),
    "reverse scan": lambda x: jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c), x[0], jnp.tile(x, (100, 1)), reverse=True)[1][:4],
    "fori_loop": lambda x: jax.lax.fori_loop(0, 300, lambda i, c: jnp.sin(c) + i / 300 * x, x),
    "stop_gradient": lambda x: jax.lax.stop_gradient(x) * x,
    "sort with NaN": lambda x: jnp.argsort(jnp.where(jnp.array([1, 0, 1, 0, 0, 1]) > 0, jnp.nan, x), 1) * x,
    "orders of integers": lambda x: x * (jnp.argmin(jnp.array([5, -2**31, 7, 0])) + jnp.argmax(jnp.array([1, 3 * 10**9], jnp.uint32))
                                         + jnp.argmax(jnp.array([False, True])) + jnp.sort(jnp.array([3 * 10**9, 1], jnp.uint32))[0]),
    "xor": lambda x: x * jax.lax.reduce_xor(jnp.array([True, True, False]), (0,)),
    "tails": lambda x: jax.scipy.special.log_ndtr(3 * x),
    "running": lambda x: jnp.cumprod(x, 1) + jax.lax.cummax(x, 0) + jax.lax.cumlogsumexp(x, 1, reverse=True),
    "remainder": lambda x: x % 1.3 + jnp.fmod(x, -0.4) + x // 0.6,
    "segment_max": lambda x: jax.ops.segment_max(x, jnp.array([2, 0, 2, 9]), 3)[jnp.array([0, 2])],
    "counts": lambda x: x / jnp.maximum(jnp.bincount(jnp.array([1, 1, 5, 9]), length=6), 1) + jnp.arange(6) @ jnp.arange(6),
    "pad with a value": lambda x: jax.lax.pad(x, x[0, 0], ((1, 0, 1), (-1, 2, 0))),
    "a branch that is not taken": lambda x: jax.lax.cond(x[0, 0] > 99, lambda y: jnp.log(y - y) + jnp.sqrt(0 * y), jnp.sin, x),
    "hyperbolic": lambda x: jnp.sinh(x) + jnp.cosh(x) + jnp.arctanh(0.9 * jnp.tanh(x)) + jnp.cbrt(x),
    "angles": lambda x: jnp.arctan(x) + jnp.arctan2(x, x[::-1] + 0.1) + jnp.arcsin(0.9 * jnp.tanh(x)) + jnp.arccos(jnp.tanh(x)),
    "areas": lambda x: jnp.arcsinh(3 * x) + jnp.arccosh(1 + x * x) + jnp.arcsinh(1e12 * x) + jnp.arccosh(1e12 + x),
    "gamma": lambda x: jax.lax.lgamma(2 * x) + jax.scipy.special.gammaln(x * x + 0.1),
    "digamma": lambda x: jax.lax.digamma(2 * x) / 100 + jax.lax.digamma(x * x + 0.5),
    "neighbours": lambda x: x * jax.lax.nextafter(jnp.zeros(6), jnp.arange(6.0) - 2) + jax.random.truncated_normal(jax.random.key(1), -1, 2, (4, 6)) * x,
    "bits of numbers": lambda x: x * (jax.lax.population_count(jnp.arange(6) * 77777777) + jax.lax.clz(jnp.arange(6, dtype=jnp.uint8))),
    "bytes": lambda x: x * narrow(x, jnp.int8, jnp.uint8),
    "words": lambda x: x * narrow(x, jnp.int16, jnp.uint16),
    "random": lambda x: x * jax.random.uniform(jax.random.key(3), (4, 6)) + jax.random.normal(jax.random.PRNGKey(4), (4, 6)),
}


def check_functions(names):
    """Returns values of some functions, and the gradient of all results."""
    def loss(x):
        results = {name: FUNCTIONS[name](x) for name in names}
        leaves = jax.tree.leaves(results)
        return sum(jnp.vdot(leaf, jnp.cos(jnp.arange(leaf.size))) for leaf in map(jnp.ravel, leaves)), results

    x = jax.random.normal(jax.random.key(11), (4, 6))
    try:
        (value, results), gradient = reprise.jax.compile(loss, x, threads=1)(x)
    except reprise.Error as error:
        return checks.check(", ".join(names), False, str(error))
    (_, expected), wanted = jax.jit(jax.value_and_grad(loss, has_aux=True))(x)
    for name in names:
        distance = farthest(results[name], expected[name])
        checks.check(f"{name}: the values are JAX's", distance < TOLERANCE, str(distance))
    distance = farthest(gradient, wanted)
    return checks.check(f"{', '.join(names)}: the gradient is JAX's", distance < 10 * TOLERANCE, str(distance))


def check_random_bits():
    """Checks that bits and uniforms are equal, since they are integer arithmetic and one conversion."""
    def loss(scale, key):
        first, second = jax.random.split(key)
        drawn = (jax.random.bits(first, (5, 7)), jax.random.uniform(first, (33,)), jax.random.bernoulli(second, 0.3, (40,)),
                 jax.random.randint(second, (20,), -5, 90))
        return scale.sum(), drawn

    scale, key = jnp.ones(2), jax.random.key(5)
    (_, drawn), _ = reprise.jax.compile(loss, scale, key, threads=1)(scale, key)
    for name, own, expected in zip(("bits", "uniform", "bernoulli", "randint"), drawn, loss(scale, key)[1]):
        checks.check(f"jax.random.{name}: every bit is JAX's", own.dtype == expected.dtype and equal(own, expected))


def check_narrow_arguments():
    """Integers of 8 and 16 bits come and go; floats of 16 bits are made of bits."""
    types = (jnp.int8, jnp.uint8, jnp.int16, jnp.uint16)

    def loss(scale, key, *numbers):
        drawn = [jax.random.bits(key, (9,), each) for each in (jnp.uint8, jnp.uint16)]
        halves = [jax.lax.bitcast_convert_type(numbers[3], each) for each in (jnp.float16, jnp.bfloat16)]
        return scale.sum(), [each * each for each in numbers] + drawn + halves + [jax.random.uniform(key, (9,), jnp.bfloat16)]

    numbers = [jnp.array([0, 1, 250, 65530, 1000, 31744, 31745, 32769, 15360]).astype(each) for each in types]
    (_, made), _ = reprise.jax.compile(loss, jnp.ones(2), jax.random.key(5), *numbers, threads=1)(jnp.ones(2), jax.random.key(5), *numbers)
    for own, expected in zip(made, loss(jnp.ones(2), jax.random.key(5), *numbers)[1]):
        checks.check(f"{expected.dtype}: every bit is JAX's", own.dtype == expected.dtype and equal(own, expected), f"{own}, {expected}")


def check_checkpoints():
    name, loss, params, arguments, _ = next(case for case in jax_models.cases() if case[0] == "gpt2")
    model = reprise.jax.to_mlir(loss, params, *arguments)
    scanned = reprise.jax.to_mlir(jax_models.gpt2_scan_loss, jax_models.gpt2_scan_params(jax.random.key(0)), *arguments)
    checks.check("a scan of layers stays a loop", scanned.count("reprise.loop") == scanned.count("reprise.checkpoint") == 1)
    checks.check("each layer is a checkpoint", model.count("reprise.checkpoint") == 2, str(model.count("reprise.checkpoint")))
    marked = reprise.compile(model, entry="grad", threads=1, policy="save-all")
    plain = reprise.compile(model, entry="grad", threads=1, policy="save-all", ignore_checkpoints=True)
    checks.check("what is in a checkpoint is replayed", marked.report.replayed_ops > plain.report.replayed_ops,
                 f"{marked.report.replayed_ops} and {plain.report.replayed_ops}")
    checks.check("a checkpoint saves less", marked.report.saved_bytes < plain.report.saved_bytes,
                 f"{marked.report.saved_bytes} and {plain.report.saved_bytes}")


def expect_error(name, what, function):
    try:
        function()
        checks.check(name, False, "no error")
    except (reprise.Error, ValueError) as error:
        checks.check(name, what in str(error), str(error))


def check_errors():
    x = jnp.ones(4)
    expect_error("all missing ops are in one error", "2 ops are not imported", lambda: reprise.jax.compile(
        lambda x: jnp.sum(jnp.fft.rfft(x).real) + jnp.linalg.cholesky(x[:, None] * x)[0, 0], x))
    expect_error("a loss is a scalar", "expected a float scalar", lambda: reprise.jax.compile(lambda x: x, x))
    scalar = reprise.jax.compile(lambda w: w * w, jnp.float32(3), threads=1)
    checks.check("a parameter may be a scalar", [float(each) for each in scalar(jnp.float32(3))] == [9, 6])
    step = reprise.jax.compile(lambda x: x.sum(), x, threads=1)
    expect_error("a call has the structure of the examples", "expected arguments", lambda: step((x,)))
    expect_error("a call has the shapes of the examples", "", lambda: step(jnp.ones(5)))
    half = reprise.jax.compile(lambda w: (w * w).sum().astype(jnp.float32), jnp.ones(3, jnp.bfloat16), threads=1)
    value, gradient = half(jnp.full(3, 1.5, jnp.bfloat16))
    checks.check("bfloat16 comes and goes", gradient.dtype == jnp.bfloat16 and float(gradient[0]) == 3, f"{value}, {gradient}")


def check_meshes():
    """Parts of the model and replicas have the bits of one device."""
    def loss(params, x, y):
        for each in params:
            x = jnp.tanh(x @ each["up"]) @ each["down"]
        return jnp.mean((x - y) ** 2)

    keys = jax.random.split(jax.random.key(3), 5)
    params = [{"up": jax.random.normal(keys[2 * i], (8, 16)), "down": jax.random.normal(keys[2 * i + 1], (16, 8))} for i in range(2)]
    x, y = jax.random.normal(keys[4], (8, 8)), jnp.zeros((8, 8))
    pathlib.Path("shards.json").write_text(json.dumps({"version": 1, "rules": [
        {"match": {"name": "params/*/up"}, "shard": [None, "model"]}, {"match": {"name": "params/*/down"}, "shard": ["model", None]}]}))
    options = {"batch_dims": {"x": 0, "y": 0}, "microbatches": 4, "lanes": 4, "model_lanes": 4, "shards": "shards.json", "threads": 1}
    one = reprise.jax.compile(loss, params, x, y, **options)(params, x, y)
    checks.check("lanes of JAX's function: its value", farthest(one, jax.value_and_grad(loss)(params, x, y)) < TOLERANCE)
    for mesh, more in (("model=4", {}), ("data=2,model=2", {}), ("data=2,model=2", {"stages": 2})):
        step = reprise.jax.compile(loss, params, x, y, **options, mesh=mesh, **more)
        checks.check(f"a function of JAX on {mesh} {more or ''} has the bits of one device", equal(step(params, x, y), one))
    expect_error("batch_dims of no input", "batch_dims= names 'z', and the function has no input of this name",
                 lambda: reprise.jax.to_mlir(loss, params, x, y, batch_dims={"z": 0}))


def check_page():
    """The program on the first page of the docs runs, and learns."""
    page = pathlib.Path(os.environ["REPRISE_SOURCE"], "docs", "reference", "Jax.md").read_text()
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.search(r"```python\n(.*?)```", page, re.S).group(1).replace("range(100)", "range(5)"), names)
    last = names["loss"](names["params"], names["x"], names["y"])
    checks.check("the program of docs/reference/Jax.md runs, and learns", float(last) < float(names["value"]), f"{names['value']}, {last}")


def main():
    warnings.simplefilter("ignore", reprise.RepriseWarning)
    for case in jax_models.cases():
        check_model(*case)
    names = list(FUNCTIONS)
    for first in range(0, len(names), 8):
        check_functions(names[first:first + 8])
    check_random_bits()
    check_narrow_arguments()
    check_checkpoints()
    check_errors()
    check_meshes()
    check_page()
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
