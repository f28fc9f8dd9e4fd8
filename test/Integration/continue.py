#!/usr/bin/env python3
"""3 + 3 steps equal 6 to the bit, for every optimizer, in bundles, in the interpreter, and from one to the other."""

import array

from arrays import write_npy
from checks import check, compile_model, finish, first_difference, run, same_folder, tool, zoo

SIZE = ["--layers=2", "--width=32", "--heads=2", "--batch=2", "--seq=12", "--vocab=23", "--dropout=0.1"]


def interpret(model, folder, *flags):
    tool("reprise-compile", model, "--interpret", f"--output-dir={folder}", *flags)


def continue_optimizer(optimizer):
    model, bundle = f"{optimizer}.mlir", f"{optimizer}.rpb"
    zoo(model, "gpt2", *SIZE, f"--optimizer={optimizer}")
    compile_model(model, bundle, "--threads=2")
    six, three, both = (f"{optimizer}.{name}" for name in ("six", "three", "both"))
    run(bundle, six, "--seed=5", "--steps=6")
    run(bundle, three, "--seed=5", "--steps=3")
    check(f"{optimizer}: the steps change the result", first_difference(six, three) is not None)
    run(bundle, both, "--steps=3", f"--input-dir={three}")
    same_folder(f"{optimizer}: 3 + 3 steps", both, six)
    run(bundle, three, "--steps=3", f"--input-dir={three}")
    same_folder(f"{optimizer}: 3 + 3 steps in one folder", three, six)

    judged, half, rest = (f"{optimizer}.{name}" for name in ("judged", "half", "rest"))
    interpret(model, judged, "--seed=5", "--steps=6")
    same_folder(f"{optimizer}: the interpreter's 6 steps", judged, six)
    interpret(model, half, "--seed=5", "--steps=3")
    interpret(model, rest, "--steps=3", f"--input-dir={half}")
    same_folder(f"{optimizer}: the interpreter's 3 + 3 steps", rest, six)
    run(bundle, rest, "--steps=3", f"--input-dir={half}")
    same_folder(f"{optimizer}: the interpreter's 3 steps and the bundle's 3", rest, six)


def continue_inputs(bundle):
    """An array with a row per step is read by the absolute step, also after a pause."""
    rates = array.array("f", [0.1 / (step + 1) for step in range(6)])
    write_npy("rates.npy", "<f4", (6,), rates.tobytes())
    given = ["--input", "learning_rate=rates.npy"]
    run(bundle, "rows.six", "--seed=5", "--steps=6", *given)
    run(bundle, "rows.three", "--seed=5", "--steps=3", *given)
    run(bundle, "rows.both", "--steps=3", "--input-dir=rows.three", *given)
    same_folder("a row of inputs per absolute step", "rows.both", "rows.six")
    check("the rows change the result", first_difference("rows.six", "sgd.six") is not None)


def main():
    for optimizer in ("sgd", "momentum", "adamw"):
        continue_optimizer(optimizer)
    continue_inputs("sgd.rpb")
    finish()


if __name__ == "__main__":
    main()
