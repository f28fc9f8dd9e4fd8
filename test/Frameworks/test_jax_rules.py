"""JAX functions with derivatives of their own, and policies of jax.checkpoint."""
import contextlib
import io
import warnings

import checks

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    checks.skip("JAX", "it is not installed")
    raise SystemExit(checks.finish())
import numpy
import test_jax
from jax.ad_checkpoint import checkpoint_name, print_saved_residuals

import reprise
import reprise.jax

# Derivatives


@jax.custom_vjp
def clipped(x):
    return x * 1.5


clipped.defvjp(lambda x: (clipped(x), None), lambda rest, cotangent: (jnp.clip(cotangent, -0.2, 0.2),))


@jax.custom_vjp
def product(x, y):
    return jnp.sin(x) * y, jnp.cumsum(y, 0)


product.defvjp(lambda x, y: (product(x, y), (jnp.cos(x), y)),
               lambda saved, given: (3 * given[0] * saved[0] * saved[1], given[1] - given[0]))


@jax.custom_vjp
def chosen(x, rows):
    return x[rows]


chosen.defvjp(lambda x, rows: (x[rows], (rows, x, 2)),
              lambda saved, given: (saved[2] * jnp.zeros_like(saved[1]).at[saved[0]].add(given), None))


@jax.custom_vjp
def picked(x, rows):
    return x[rows]


picked.defvjp(lambda x, rows: (x[rows], (x.shape, rows)),
              lambda saved, given: (jnp.zeros(saved[0]).at[saved[1]].add(given), None))


def _scaled(x, factor):
    return x * factor


scaled = jax.custom_vjp(_scaled, nondiff_argnums=(1,))
scaled.defvjp(lambda x, factor: (x * factor, ()), lambda factor, saved, given: (given * factor * 10,))


@jax.custom_jvp
def cubed(x):
    return x**3


cubed.defjvps(lambda tangent, answer, x: 0.7 * tangent * x)


@jax.custom_vjp
def rounded(x):
    return {"straight": jnp.round(x), "rest": (x - jnp.round(x),)}


rounded.defvjp(lambda x: (rounded(x), x), lambda x, given: (given["straight"] + 0 * given["rest"][0],))


def inner(x):
    return clipped(jnp.tanh(x)) * 2


FUNCTIONS = {
    "clipped cotangents": lambda x: clipped(x) ** 2,
    "two inputs, two results": lambda x: product(x, jnp.cos(x))[0] + product(x[0], x[1])[1],
    "an integer among the inputs": lambda x: chosen(x, jnp.array([2, 0, 2])) * jnp.arange(1.0, 4)[:, None],
    "a shape among the residuals": lambda x: picked(x, jnp.array([2, 0, 2])) + jax.jit(picked)(x, jnp.array([1, 1, 3])),
    "an argument without a derivative": lambda x: scaled(x, 3.0) + jnp.sin(scaled(x, 0.5)),
    "a tree of results": lambda x: rounded(3 * x)["straight"] * x + rounded(x)["rest"][0],
    "of a function inside of another": lambda x: jax.jit(inner)(x) + inner(2 * x),
    "in a region": lambda x: jax.checkpoint(lambda y: clipped(jnp.sin(y)) * y)(x),
    "in a scan": lambda x: jax.lax.scan(lambda c, row: (clipped(jnp.sin(c + row) / 2), c * row), x[0], jnp.tile(x, (100, 1)) / 50)[0],
    "in a branch": lambda x: jax.lax.cond(x[0, 0] > -9, clipped, lambda y: y * 0.5, x),
    "mapped": lambda x: jax.vmap(lambda row: clipped(row) * row.sum())(x),
    "of a gradient": lambda x: jax.grad(lambda y: (clipped(y) ** 3).sum())(x) * x,
    "custom_jvp": lambda x: cubed(x) * x + jax.vmap(cubed)(x),
    "custom_jvp in a scan": lambda x: jax.lax.scan(lambda c, row: (cubed(jnp.tanh(c + row)), c), x[0], jnp.tile(x, (100, 1)))[0],
    "JAX's own rules": lambda x: jax.nn.relu(x) + jax.nn.silu(x) + jax.nn.logsumexp(x) + jnp.ldexp(x, 3),
}


def check_rules():
    for name, function in FUNCTIONS.items():
        def loss(x):
            made = function(x)
            return jnp.vdot(made, jnp.cos(jnp.arange(made.size).reshape(made.shape))), made

        x = jax.random.normal(jax.random.key(11), (4, 6))
        (_, expected), wanted = jax.value_and_grad(loss, has_aux=True)(x)
        for policy in ("save-all", "recompute-all"):
            (_, made), gradient = reprise.jax.compile(loss, x, threads=1, policy=policy)(x)
            distance = max(test_jax.farthest(made, expected), test_jax.farthest(gradient, wanted))
            checks.check(f"{name}, {policy}: value and gradient are JAX's", distance < test_jax.TOLERANCE, str(distance))


# Policies

POLICIES = jax.checkpoint_policies


def decisions(asked, **options):
    """Returns the decisions about the product and the named value of a region, its gradient, and the warnings."""
    def layer(w, x):
        x = checkpoint_name(jnp.sin(x @ w), "kept")
        return jnp.cos(x) * jnp.tanh(x)

    def loss(w, x):
        return jnp.sum(jax.checkpoint(layer, policy=asked)(w, x) ** 2)

    w, x = jax.random.normal(jax.random.key(1), (16, 16)), jax.random.normal(jax.random.key(2), (8, 16))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        step = reprise.jax.compile(loss, w, x, threads=1, **options)
    _, gradient = step(w, x)
    checks.check("the gradient is JAX's", test_jax.farthest(gradient, jax.grad(loss)(w, x)) < test_jax.TOLERANCE)
    made = {}
    for value in step.report.content["values"]:
        for op, key in (("/dot_general#", "dot"), ("/sin#", "kept")):
            if op in value["id"]:
                made[key] = value["label"], value["decision"]
    return made, [str(each.message) for each in told]


def check_policies():
    cases = {
        "none": (None, "prefer_recompute", "prefer_recompute"),
        "nothing_saveable": (POLICIES.nothing_saveable, "prefer_recompute", "prefer_recompute"),
        "everything_saveable": (POLICIES.everything_saveable, "prefer_save", "prefer_save"),
        "dots_saveable": (POLICIES.dots_saveable, "prefer_save", "prefer_recompute"),
        "save_only_these_names": (POLICIES.save_only_these_names("kept"), "prefer_recompute", "prefer_save"),
        "save_anything_except_these_names": (POLICIES.save_anything_except_these_names("other"), "prefer_save", "prefer_save"),
        "offload": (POLICIES.save_and_offload_only_these_names(
            names_which_can_be_saved=(), names_which_can_be_offloaded=("kept",), offload_src="device",
            offload_dst="pinned_host"), "prefer_recompute", "prefer_offload"),
        "offload_dot": (POLICIES.offload_dot_with_no_batch_dims("device", "pinned_host"), "prefer_offload", "prefer_recompute"),
        "a function": (lambda primitive, *_, **__: primitive.name == "dot_general", "prefer_save", "prefer_recompute"),
    }
    for name, (policy, dot, kept) in cases.items():
        made, _ = decisions(policy)
        labels = {key: value[0] for key, value in made.items()}
        checks.check(f"{name}: labels", labels == {"dot": dot, "kept": kept}, str(made))
    made, _ = decisions(cases["offload"][0])
    checks.check("what is offloaded waits on the host", made["kept"][1] == "offloaded", str(made))
    made, _ = decisions(POLICIES.everything_saveable, policy="save_only_these_names(kept)")
    checks.check("a name is known to policies of Reprise", made["kept"][0] == "prefer_save", str(made))


def residuals(asked):
    """Returns which of the product and the named value JAX saves for the backward pass, by its own list."""
    def layer(w, x):
        x = checkpoint_name(jnp.sin(x @ w), "kept")
        return jnp.cos(x) * jnp.tanh(x)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        print_saved_residuals(lambda w, x: jnp.sum(jax.checkpoint(layer, policy=asked)(w, x)), jnp.ones((16, 16)), jnp.ones((8, 16)))
    return {"dot": "output of dot_general" in said.getvalue(), "kept": "named 'kept'" in said.getvalue()}


def check_residuals():
    """Checks policies against the residuals that JAX itself saves."""
    cases = {"none": None, "nothing_saveable": POLICIES.nothing_saveable, "dots_saveable": POLICIES.dots_saveable,
             "dots_with_no_batch_dims_saveable": POLICIES.dots_with_no_batch_dims_saveable,
             "save_only_these_names": POLICIES.save_only_these_names("kept"),
             "save_only_these_names of others": POLICIES.save_only_these_names("other"),
             "save_any_names_but_these": POLICIES.save_any_names_but_these("other"),
             "save_from_both_policies": POLICIES.save_from_both_policies(POLICIES.dots_saveable, POLICIES.save_only_these_names("kept")),
             "save_and_offload": POLICIES.save_and_offload_only_these_names(
                 names_which_can_be_saved=("kept",), names_which_can_be_offloaded=(), offload_src="device", offload_dst="pinned_host"),
             "a function": lambda primitive, *_, **__: primitive.name == "dot_general",
             "a function of names": lambda primitive, *_, **given: given.get("name") == "kept"}
    for name, policy in cases.items():
        made, _ = decisions(policy)
        ours = {key: value[1] == "saved" for key, value in made.items()}
        checks.check(f"{name}: what JAX saves is saved", ours == residuals(policy), f"{made}, JAX: {residuals(policy)}")


def check_scan():
    """Checks a policy in a loop: the label holds for all iterations, and a value that cannot be offloaded is
    reported."""
    policy = POLICIES.save_and_offload_only_these_names(names_which_can_be_saved=(), names_which_can_be_offloaded=("kept",),
                                                        offload_src="device", offload_dst="pinned_host")

    def loss(x, rows):
        def step(y, row):
            return jnp.sin(checkpoint_name(jnp.sin(y * row), "kept")), ()
        return jax.lax.scan(jax.checkpoint(step, policy=policy), x, rows)[0].sum()

    x, rows = jnp.linspace(0.5, 1.5, 64), jnp.linspace(0.8, 1.2, 100 * 64).reshape(100, 64)
    for unroll in (False, True):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            step = reprise.jax.compile(loss, x, rows, threads=1, unroll=unroll)
        kept = {value["decision"] for value in step.report.content["values"] if value["label"] == "prefer_offload"}
        distance = test_jax.farthest(step(x, rows)[1], jax.grad(loss)(x, rows))
        checks.check(f"a scan, unroll={unroll}: the gradient is JAX's", distance < test_jax.TOLERANCE, str(distance))
        is_told = "offloaded" in kept or any("offloads values" in str(each.message) for each in told)
        checks.check(f"a scan, unroll={unroll}: on the host, or a warning", is_told, f"{kept}, {[str(each.message) for each in told]}")


def check_errors():
    x = jnp.ones(4)
    try:
        reprise.jax.compile(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2 + jnp.fft.rfft(x).real), x)
        checks.check("an FFT is an error", False)
    except reprise.Error as error:
        checks.check("an FFT is one line", str(error).count("\n") == 0 and "stablehlo.fft" in str(error), str(error))


def main():
    check_rules()
    check_policies()
    check_residuals()
    check_scan()
    check_errors()
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
