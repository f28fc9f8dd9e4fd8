#!/usr/bin/env python3
"""Every model of the zoo gives one output folder under every plan, at 1, 2 or 5 threads, in the predicted arena.

Usage: zoo-bits.py [--larger] [MODEL]...      --larger takes the larger of two sizes; MODEL-loop has its layers in a loop

The plans are: none, each built-in policy, and random labels on a quarter of all ops: with three seeds, or five for
larger sizes. The plan of none runs at all numbers of threads, and the others share these out; with --larger and at
night, all plans run at all numbers.
"""

import pathlib
import random
import re
import sys

from checks import check, compile_model, everything, finish, first_difference, run, tool
from zoo_models import LARGER_SIZES, SIZES, write_model

POLICIES = ["none", "save-all", "dots-saveable", "recompute-all"]
LABELS = ["must_save", "prefer_save", "prefer_recompute", "must_recompute"]
# A MUST on a view could contradict a MUST on the viewed value.
VIEWS = ["broadcast", "name", "reshape", "slice", "transpose"]
LOOPS = ["gpt2-loop", "lstm-loop"]
IS_WHOLE = everything or "--larger" in sys.argv
SEEDS, THREADS = range(1, 6 if "--larger" in sys.argv else 4), (1, 2, 5)
# Pattern of an op in the generic form, without regions: results, name, operands, properties; attributes of its own;
# type.
OP = re.compile(r'^(\s*%[^=]* = "reprise\.\w+"\([^)]*\)(?: <\{.*?\}>)?)( \{.*\})?( : \(.*)$')


def label_by_chance(text, seed):
    """Labels about every fourth op of a module in the generic form."""
    pick, lines = random.Random(seed), []
    for line in text.splitlines():
        found = OP.match(line)
        if found and not found.group(2) and pick.random() < 0.25:
            labels = LABELS[1:3] if any(f'"reprise.{view}"' in line for view in VIEWS) else LABELS
            line = f"{found.group(1)} {{reprise.label = #reprise.label<{pick.choice(labels)}>}}{found.group(3)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def plans(name, model):
    """(title, file, flags) of each plan."""
    for policy in POLICIES:
        yield policy, model, [] if policy == "none" else [f"--policy={policy}"]
    text = tool("reprise-opt", model, "--mlir-print-op-generic")
    for seed in SEEDS:
        path = pathlib.Path(f"{name}.{seed}.mlir")
        path.write_text(label_by_chance(text, seed))
        yield f"labels {seed}", path, [f"--policy={POLICIES[1 + seed % 3]}"]


def compare_plans(name, sizes):
    model, zoo_name = f"{name}.mlir", name.removesuffix("-loop")
    loop = ["--loop"] if name != zoo_name else []
    write_model(model, zoo_name, sizes[zoo_name], "--dropout=0.1", "--optimizer=momentum", *loop)
    reference, replays = f"{name}.results", {}
    different, strayed = [], []
    for number, (title, path, flags) in enumerate(plans(name, model)):
        report = compile_model(path, "plan.rpb", f"--threads={max(THREADS)}", *flags)
        replays[title] = report["replayed_ops"]
        executed = int(tool("executed-arena", "plan.rpb", 1).split()[0])
        if executed != report["arena_bytes"]:
            strayed.append((title, executed, report["arena_bytes"]))
        for threads in THREADS if IS_WHOLE or number == 0 else (THREADS[number % 3],):
            folder = reference if title == "none" and threads == 1 else "results"
            run("plan.rpb", folder, "--seed=7", "--steps=2", f"--threads={threads}")
            if folder != reference and (file := first_difference(folder, reference)):
                different.append((title, threads, file))
    check(f"{name}: every plan and thread count gives the same folder", not different, str(different))
    check(f"{name}: the executed arenas are the predicted ones", not strayed, str(strayed))
    check(f"{name}: the plans differ", replays["save-all"] == 0 < replays["recompute-all"] and 2 * len(set(replays.values())) > len(replays),
          str(replays))


def main():
    sizes = LARGER_SIZES if "--larger" in sys.argv else SIZES
    models = [*sizes, *LOOPS]
    for name in [name for name in sys.argv[1:] if name in models] or models:
        compare_plans(name, sizes)
    finish()


if __name__ == "__main__":
    main()
