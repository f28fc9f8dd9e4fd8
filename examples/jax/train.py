"""A loss function of JAX whose gradients are computed by Reprise, within a budget.

Usage: train.py [--budget=70%] [--steps=20]
"""

import argparse

import jax
import jax.numpy as jnp
import reprise.jax


def layer(params, x):
    return jnp.tanh(x @ params["w"] + params["b"])


def loss(params, x, y):
    for each in params:
        x = jax.checkpoint(layer)(each, x)
    return jnp.mean((x - y) ** 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="70%", help="bytes, such as 64MiB, or a share of the step without replays (70%%)")
    parser.add_argument("--steps", type=int, default=20, help="number of training steps (20)")
    options = parser.parse_args()

    key = jax.random.key(0)
    params = [{"w": jax.random.normal(key, (64, 64)) / 8, "b": jnp.zeros(64)} for _ in range(8)]
    x, y = jnp.ones((256, 64)), jnp.zeros((256, 64))
    step = reprise.jax.compile(loss, params, x, y, budget=options.budget)
    for number in range(options.steps):
        value, gradients = step.value_and_grad(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        if number in (0, options.steps - 1):
            print(f"step {number}: loss {float(value):.4f}")
    print(f"arena and workspace: {step.report.step_bytes:,} bytes")


if __name__ == "__main__":
    main()
