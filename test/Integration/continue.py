#!/usr/bin/env python3
"""3 + 3 steps equal 6 to the bit, for every optimizer, in bundles, in the interpreter, and from one to the other."""

import array
import json
import pathlib
import random
import signal
import subprocess
import time

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
    """Checks that an array with a row per step is read by the absolute step, also after a pause."""
    rates = array.array("f", [0.1 / (step + 1) for step in range(6)])
    write_npy("rates.npy", "<f4", (6,), rates.tobytes())
    given = ["--input", "learning_rate=rates.npy"]
    run(bundle, "rows.six", "--seed=5", "--steps=6", *given)
    run(bundle, "rows.three", "--seed=5", "--steps=3", *given)
    run(bundle, "rows.both", "--steps=3", "--input-dir=rows.three", *given)
    same_folder("a row of inputs per absolute step", "rows.both", "rows.six")
    check("the rows change the result", first_difference("rows.six", "sgd.six") is not None)


def next_step(folder):
    record = pathlib.Path(folder, "run.json")
    return json.loads(record.read_text())["next_step"] if record.exists() else 0


def start(bundle, folder, *flags):
    return subprocess.Popen(["reprise-run", bundle, f"--output-dir={folder}", "--steps=1000000", *flags],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(path):
    until = time.monotonic() + 60
    while not pathlib.Path(path).exists() and time.monotonic() < until:
        time.sleep(0.005)


def continue_after_signals(bundle):
    """A run that is stopped and goes on, again and again, is one run."""
    pick, log, reached = random.Random(1), "stopped.csv", [0]
    for number in [signal.SIGKILL] * 6 + [signal.SIGINT, signal.SIGTERM]:
        before = ["--input-dir=stopped"] if reached[-1] else ["--seed=5"]
        run_at_hand = start(bundle, "stopped", "--save-every=2", f"--log={log}", *before)
        if not reached[-1]:
            wait_for("stopped/run.json")
        time.sleep(pick.uniform(0.02, 0.2))
        run_at_hand.send_signal(number)
        code = run_at_hand.wait()
        check(f"{number.name} ends the run", code == -number, str(code))
        reached.append(next_step("stopped"))
    check("stopped runs lose nothing that was saved", reached == sorted(reached) and reached[1] > 0, str(reached))
    check("an interrupt between two saves is written", reached[-1] > reached[1], str(reached))
    run(bundle, "stopped", "--steps=2", "--input-dir=stopped", f"--log={log}")
    run(bundle, "whole", "--seed=5", f"--steps={next_step('stopped')}", "--log=whole.csv")
    same_folder("stopped runs that went on, and one run", "stopped", "whole")
    check("their logs", pathlib.Path(log).read_bytes() == pathlib.Path("whole.csv").read_bytes())
    left = [path.name for path in pathlib.Path().iterdir() if ".reprise-" in path.name]
    check("nothing is left beside the folder", not left, str(left))


def main():
    for optimizer in ("sgd", "momentum", "adamw"):
        continue_optimizer(optimizer)
    continue_inputs("sgd.rpb")
    continue_after_signals("momentum.rpb")
    finish()


if __name__ == "__main__":
    main()
