#!/usr/bin/env python3
"""Every model of the zoo learns one batch by heart, also in 16 bits; a step whose gradients overflow changes no
parameter.

Usage: zoo-trains.py [MODEL]...
"""

import array
import json
import pathlib
import sys

from arrays import file_name, read_npy, write_npy
from checks import check, compile_model, first_difference, finish, run
from zoo_models import SIZES, arguments, write_batch, write_model

STEPS = 40
NARROW = ["gpt2", "unet"]  # with contractions and with convolutions


def losses(name, precision="f32", *flags):
    title = f"{name}.{precision}"
    write_model(f"{title}.mlir", name, SIZES[name], "--optimizer=adamw", f"--precision={precision}")
    compile_model(f"{title}.mlir", f"{title}.rpb", "--threads=2")
    rate = pathlib.Path("rate.npy")
    write_npy(rate, "<f4", (), array.array("f", [0.01]).tobytes())
    batch = write_batch(f"{title}.mlir", f"{title}.batch")
    return run(f"{title}.rpb", title, f"--steps={STEPS}", "--seed=3", "--threads=2", "--input", f"learning_rate={rate}",
               *batch, *flags)["loss"]


def learns(name):
    found = losses(name)
    check(f"{name}: {STEPS} steps halve the loss", found[-1] < 0.5 * found[0], f"from {found[0]:.4f} to {found[-1]:.4f}")
    return found


def learns_in(name, precision, wide):
    found = losses(name, precision)
    check(f"{name}, {precision}: the first loss is that of f32, rounded", 0 < abs(found[0] - wide[0]) < 0.02 * wide[0],
          f"{found[0]:.6f} and {wide[0]:.6f}")
    check(f"{name}, {precision}: {STEPS} steps halve the loss", found[-1] < 0.5 * found[0],
          f"from {found[0]:.4f} to {found[-1]:.4f}")


def scalar(path):
    return array.array("f", read_npy(path)[2])[0]


def overflow(name):
    """Checks that from a scale with infinite gradients each step halves the scale and changes nothing else."""
    title, folder = f"{name}.f16", pathlib.Path("overflow")
    run(f"{title}.rpb", folder, "--steps=3", "--seed=3", "--threads=2")
    write_npy(folder / "loss_scale.npy", "<f4", (), array.array("f", [2.0 ** 60]).tobytes())
    before = {path.name: path.read_bytes() for path in folder.glob("*.npy")}
    run(f"{title}.rpb", "after", "--steps=1", "--threads=2", f"--input-dir={folder}")
    check(f"{name}: the scale is halved", scalar("after/loss_scale.npy") == 2.0 ** 59)
    states = [key for key, (role, *_) in arguments(pathlib.Path(f"{title}.mlir").read_text(), "train").items() if role != "input"]
    changed = [key for key in states if key not in ("loss_scale", "finite_steps")
               and pathlib.Path("after", file_name(key)).read_bytes() != before[file_name(key)]]
    check(f"{name}: no parameter and no state changes", not changed and len(states) > 10, str(changed))


def growth(name):
    """Checks that the scale doubles after 2,000 finite steps."""
    title, folder = f"{name}.f16", pathlib.Path("growth")
    run(f"{title}.rpb", folder, "--steps=1", "--seed=3", "--threads=2")
    scale = scalar(folder / "loss_scale.npy")
    write_npy(folder / "finite_steps.npy", "<f4", (), array.array("f", [1998.0]).tobytes())
    seen = []
    for step in range(2):
        run(f"{title}.rpb", folder, "--steps=1", "--threads=2", f"--input-dir={folder}")
        seen.append((scalar(folder / "loss_scale.npy"), scalar(folder / "finite_steps.npy")))
    check(f"{name}: the scale doubles when it is due", seen == [(scale, 1999.0), (2 * scale, 0.0)], str(seen))


def main():
    for name in [name for name in sys.argv[1:] if name in SIZES] or SIZES:
        wide = learns(name)
        if name in NARROW:
            for precision in ("bf16", "f16"):
                learns_in(name, precision, wide)
            overflow(name)
            growth(name)
    finish()


if __name__ == "__main__":
    main()
