#!/usr/bin/env python3
"""3 + 3 steps equal 6 to the bit, for every optimizer, in bundles, in the interpreter, and from one to the other.

A run, and the interpreter, replace a run's folder only, and never an input.
"""

import array
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

from arrays import write_npy
from checks import check, compile_model, finish, first_difference, read_json, refuses, run, same_folder, tool, write_json, zoo

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
    return read_json(record)["next_step"] if record.exists() else 0


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


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.is_file()}


def refuse_folder(tool_of, folder, message, *flags):
    """Checks that a folder is refused, and that it stays as it was."""
    before = contents(folder) if os.path.exists(folder) else None
    said = refuses(f"{tool_of[0]} into {folder}", message, *tool_of, f"--output-dir={folder}", *flags)
    check(f"{tool_of[0]} into {folder}: one error", said.count("error:") == 1, said)
    check(f"{tool_of[0]} into {folder}: as before", (contents(folder) if os.path.exists(folder) else None) == before)


def refuse_others(tool_of, parameter):
    """The user's arrays, a folder that is named like one, and a run's folder with an array beside its results."""
    os.mkdir("mine")
    shutil.copy(f"out/{parameter}", "mine")
    refuse_folder(tool_of, "mine", f"the folder holds '{parameter}' and no run.json: the folder is not the output of a run")
    os.makedirs("nested/x.npy")
    pathlib.Path("nested/x.npy/letter.txt").write_text("dear")
    refuse_folder(tool_of, "nested", "the folder holds 'x.npy' and no run.json")
    check("what lies deeper stays", pathlib.Path("nested/x.npy/letter.txt").read_text() == "dear")
    pathlib.Path("out/data.npy").write_text("dear")
    refuse_folder(tool_of, "out", "the folder holds 'data.npy', which is no result of its run")
    os.remove("out/data.npy")


def refuse_parts(tool_of, parameter):
    """Checks that runs go on from whole folders only."""
    missing = "cannot continue from 'partial': the output of entry 'train' has no parameter"
    shutil.copytree("out", "partial")
    os.remove(f"partial/{parameter}")
    refuse_folder(tool_of, "fresh", missing, "--input-dir=partial")
    for name in contents("partial"):
        if name != "run.json":
            os.remove(f"partial/{name}")
    refuse_folder(tool_of, "fresh", missing, "--input-dir=partial")
    os.remove("partial/run.json")
    refuse_folder(tool_of, "fresh", "cannot continue from 'partial': the folder holds neither run.json nor an argument", "--input-dir=partial")


def check_folders(tool_of, other):
    """Checks one tool's folders; `other` runs another entry of the same model."""
    for name in ("out", "mine", "nested", "partial", "bare", "plain", "more", "gradients"):
        shutil.rmtree(name, ignore_errors=True)
    tool(*tool_of, "--output-dir=out", "--seed=3")
    parameter = next(name for name in contents("out") if "weight" in name or name.startswith("w"))
    record = read_json("out/run.json")
    check("run.json has the results", record["entry"] == "train" and {"name": "loss", "type": "f32", "shape": []} in record["results"])
    check("run.json has the arguments", any(each["role"] == "parameter" and each["type"] == "f32" and each["shape"] for each in record["arguments"]))
    refuse_others(tool_of, parameter)
    refuse_parts(tool_of, parameter)
    # An older run.json has no names.
    shutil.copytree("out", "bare")
    write_json("bare/run.json", {key: record[key] for key in ("seed", "next_offset", "next_step")})
    tool(*tool_of, "--input-dir=bare", "--output-dir=bare")
    check("an older run goes on", read_json("bare/run.json")["next_step"] == 2)
    tool(*tool_of, "--output-dir=more", "--steps=2", "--seed=3")
    check("to the same folder", contents("bare") == contents("more"))
    # Another entry has no next values, so that it does not take the place of what it reads.
    refuse_folder(other, "more", "which this run reads as 'more/", "--input-dir=more")
    tool(*other, "--input-dir=more", "--output-dir=gradients")


def main():
    for optimizer in ("sgd", "momentum", "adamw"):
        continue_optimizer(optimizer)
    continue_inputs("sgd.rpb")
    continue_after_signals("momentum.rpb")
    zoo("mlp.mlir", "mlp", "--layers=1", "--width=8", "--batch=2")
    compile_model("mlp.mlir", "mlp.rpb")
    compile_model("mlp.mlir", "grad.rpb", "--entry=grad")
    check_folders(["reprise-run", "mlp.rpb"], ["reprise-run", "grad.rpb"])
    judge = ["reprise-compile", "mlp.mlir", "--interpret"]
    check_folders(judge, [*judge, "--entry=grad"])
    finish()


if __name__ == "__main__":
    main()
