#!/usr/bin/env python3
"""Zoo models cut into two device programs that exchange activations and gradients, in one bundle.

The programs give the bits of the step on one device: with and without budgets, on any number of threads, from plan
files, and in the interpreter. The cuts separate draws, tied weights and updates of an optimizer.
"""

import filecmp
import json
import os
import pathlib
import re

from checks import check, finish, run, same_folder, taken, tool

CUT = os.path.join(os.environ["REPRISE_SOURCE"], "test", "Tools", "Inputs", "cut-programs.py")
TEXT = ["--width=32", "--seq=16", "--batch=2", "--vocab=64"]
MODELS = {
    "gpt2": ["gpt2", "--layers=3", "--dropout=0.1", "--optimizer=momentum", *TEXT],
    "checkpoints": ["gpt2", "--layers=4", "--checkpoint=layer", *TEXT],
    "llama": ["llama", "--layers=2", *TEXT],
    "resnet18": ["resnet18", "--batch=2", "--image=16"],
}


def cut(name):
    """Writes the two programs, and the program that they are cut from; returns the number of sent values."""
    pathlib.Path("model.mlir").write_text(tool("reprise-zoo", *MODELS[name]))
    step = tool("reprise-opt", "model.mlir", "--reprise-to=autodiff", "--mlir-print-local-scope")
    pathlib.Path("step.mlir").write_text(step)
    blocks = len(set(re.findall(r"reprise\.block = array<i64: (\d+)", step)))
    programs = tool("python3", CUT, "step.mlir", blocks // 2, "whole.mlir")
    pathlib.Path("programs.mlir").write_text(programs)
    return programs.count("exec.send")


def compile_programs(bundle, *flags):
    tool("reprise-compile", "programs.mlir", "-o", bundle, f"--report={bundle}.json", "--threads=2", *flags)
    return json.loads(pathlib.Path(f"{bundle}.json").read_text())["programs"]


def same_values(name, folder):
    names = sorted(file for file in os.listdir("whole") if file.endswith(".npy"))
    good, bad, missing = filecmp.cmpfiles("whole", folder, names, shallow=False)
    check(f"{name}: the bits of one program", names and good == names, f"{bad + missing}")


def check_model(name):
    sent = cut(name)
    check(f"{name}: values go both ways", sent >= 2, str(sent))
    tool("reprise-compile", "whole.mlir", "-o", "whole.rpb")
    figures = run("whole.rpb", "whole", "--steps=3", "--seed=5")
    free = compile_programs("two.rpb")
    own = run("two.rpb", "two", "--steps=3", "--seed=5")
    same_values(name, "two")
    check(f"{name}: loss and offset of one program", all(own[key] == figures[key] for key in ("loss", "next_offset")))
    run("two.rpb", "threads", "--steps=3", "--seed=5", "--threads=3")
    same_values(f"{name} on three threads", "threads")
    tool("reprise-compile", "programs.mlir", "--interpret", "--steps=3", "--seed=5", "--output-dir=judge")
    same_folder(f"{name}: the interpreter agrees", "two", "judge")
    # The gradients of resnet18 need most of its memory.
    if name != "resnet18":
        check_budget(name, free)


def check_budget(name, free):
    """Checks a budget of 85 % of save-all on the device that needs most."""
    within = compile_programs("within.rpb", "--budget=85%", "--plan-out=plan.json")
    for before, report in zip(free, within):
        program = f"{name}, {report['program']}"
        check(f"{program}: the budget is held", taken(report) <= report["budget"]["bytes"] < report["budget"]["save_all_bytes"])
    moved = [(before["replayed_ops"], report["replayed_ops"]) for before, report in zip(free, within)]
    check(f"{name}: there are replays", any(after > 0 for _, after in moved), str(moved))
    run("within.rpb", "within", "--steps=3", "--seed=5")
    same_values(f"{name} within budgets", "within")
    compile_programs("again.rpb", "--plan-in=plan.json")
    run("again.rpb", "again", "--steps=3", "--seed=5")
    same_values(f"{name} by a plan file", "again")


def main():
    for name in MODELS:
        check_model(name)
    finish()


if __name__ == "__main__":
    main()
