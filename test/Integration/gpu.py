#!/usr/bin/env python3
"""Every model of the zoo gives on GPUs the output folder of the CPU: under every plan, on one device and in a pipeline of four.

Usage: gpu.py [all] [MODEL]...      each in a process and a folder of its own, unless there is one

Pipelines of some models run one plan each; with `all`, they run all plans.

The emulated driver replaces GPUs. It checks every access, and each plan runs in another order of warps, blocks and
streams. The steps are in f32, for which the contracts promise the CPU's bits. For contractions by libraries, in 16
bits, all plans give one folder, and a loss near the CPU's.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from checks import check, compile_fitting, compile_model, everything, finish, run, same_folder, tool
from zoo_models import write_model

BUILD = os.environ["REPRISE_BUILD"]
TEXT = {"width": 16, "heads": 2, "batch": 2, "seq": 12, "vocab": 37}
# The cost of an emulated step is the instructions of its lanes, so models are small. There are still several blocks,
# warps and tiles.
SIZES = {
    "bert": {"layers": 2, **TEXT},
    "gpt2": {"layers": 4, **TEXT},
    "llama": {"layers": 2, **TEXT},
    "lstm": {"layers": 2, "width": 8, "batch": 2, "seq": 6, "vocab": 37},
    "mlp": {"layers": 4, "width": 40, "batch": 16, "classes": 10},
    "moe": {"layers": 2, **TEXT},
    "resnet18": {"width": 4, "batch": 4, "image": 16, "classes": 10},
    "resnet50": {"width": 4, "batch": 4, "image": 16, "classes": 10},
    "unet": {"layers": 2, "width": 4, "batch": 4, "image": 16, "classes": 5},
    "vit": {"layers": 2, "width": 16, "heads": 2, "batch": 2, "image": 16, "seq": 16, "classes": 10},
}
PLANS = {"save-all": ["--policy=save-all"], "recompute-all": ["--policy=recompute-all"], "half": ["--budget=50%"]}
ORDERS = ["forwards", "backwards", "shuffled"]
RUN = ["--seed=7", "--steps=2"]
# The batch of a moe can be cut where each sample has its room by itself.
FLAGS = {"moe": ["--dropout=0.1", "--route-samples"], "resnet18": [], "resnet50": []}
LIBRARIES = {"gpt2": "bf16", "resnet18": "bf16"}
# Sizes of models whose contractions and convolutions have sides of at least 16.
LIBRARY_SIZES = {"gpt2": {"layers": 2, "width": 32, "heads": 2, "batch": 2, "seq": 16, "vocab": 40},
                 "resnet18": {"width": 16, "batch": 4, "image": 16, "classes": 16}}
CALLED = {"gpt2": ["cublasLtMatmul"],
          "resnet18": ["cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter", "cudnnConvolutionForward"]}
LIBRARY_PLANS = {"save-all": ["--policy=save-all"], "recompute-all": ["--policy=recompute-all"], "60%": ["--budget=60%"]}
STAGES = {"bert": "gpipe", "gpt2": "zb-v", "resnet18": "1f1b", "unet": "zb-h1"}


def run_emulated(bundle, folder, order, devices):
    path = os.pathsep.join(filter(None, [os.path.join(BUILD, "gpu-emulator"), os.environ.get("LD_LIBRARY_PATH")]))
    variables = [f"LD_LIBRARY_PATH={path}", f"REPRISE_EMULATED_ORDER={order}", f"REPRISE_EMULATED_DEVICES={devices}"]
    command = ["env", *variables, "reprise-run", bundle, "--device=cuda", f"--output-dir={folder}", "--json", *RUN]
    return json.loads(tool(*command))


def compile_plan(model, bundle, plan, *flags):
    error = compile_fitting(model, bundle, flags, PLANS[plan])
    check(f"{model}, {plan}: compiles", not error, error)


def compare_plans(name):
    model = f"{name}.mlir"
    write_model(model, name, SIZES[name], "--optimizer=momentum", *FLAGS.get(name, ["--dropout=0.1"]))
    compile_model(model, "cpu.rpb")
    cpu = run("cpu.rpb", f"{name}.cpu", *RUN)
    for plan, order in zip(PLANS, ORDERS):
        compile_plan(model, "gpu.rpb", plan, "--target=cuda:sm_90")
        gpu = run_emulated("gpu.rpb", "gpu", order, 1)
        same_folder(f"{name}, {plan}, {order}: the folder of the CPU", f"{name}.cpu", "gpu")
        check(f"{name}, {plan}: the hash of the CPU", gpu["hash"] == cpu["hash"])


def plans_of_stages(name):
    """Returns the plans, each with an order. The models without a schedule of their own share the plans out."""
    plans = list(zip(PLANS, reversed(ORDERS)))
    return plans if everything or name in STAGES else [plans[list(SIZES).index(name) % len(plans)]]


def compare_stages(name, schedule):
    flags = ["--microbatches=2", "--stages=4", f"--schedule={schedule}"]
    compile_model(f"{name}.mlir", "cpu.rpb", "--microbatches=2")
    run("cpu.rpb", f"{name}.cpu", *RUN)
    for plan, order in plans_of_stages(name):
        compile_plan(f"{name}.mlir", "gpu.rpb", plan, "--target=cuda:sm_90", *flags)
        run_emulated("gpu.rpb", "gpu", order, 4)
        same_folder(f"{name}, {plan}, four stages by {schedule}, {order}: the folder of one CPU", f"{name}.cpu", "gpu")


def compare_libraries(name, precision):
    model = f"{name}.{precision}.mlir"
    write_model(model, name, LIBRARY_SIZES[name], "--optimizer=momentum", f"--precision={precision}")
    compile_model(model, "cpu.rpb")
    cpu = run("cpu.rpb", f"{name}.cpu", *RUN)
    for (plan, flags), order in zip(LIBRARY_PLANS.items(), ORDERS):
        bundle = f"{name}.{plan}.rpb"
        compile_model(model, bundle, *flags, "--target=cuda:sm_90", "--contractions=library", f"--report={name}.json")
        calls = json.loads(pathlib.Path(f"{name}.json").read_text())["library_calls"]
        gpu = run_emulated(bundle, f"{name}.{plan}", order, 1)
        same_folder(f"{name}, {precision}, {plan}, libraries: the folder of save-all", f"{name}.save-all", f"{name}.{plan}")
        run_emulated(bundle, "again", ORDERS[0], 1)
        same_folder(f"{name}, {precision}, {plan}, libraries: the folder of the run before", f"{name}.{plan}", "again")
        near = all(abs(one - other) <= abs(other) / 64 for one, other in zip(gpu["loss"], cpu["loss"]))
        check(f"{name}, {precision}, {plan}, libraries: a loss near the CPU's", near, f"{gpu['loss']}, {cpu['loss']}")
    check(f"{name}, {precision}: {', '.join(CALLED[name])} are called", sorted(calls) == CALLED[name], calls)


def run_alone(name):
    pathlib.Path(name).mkdir()
    done = subprocess.run([sys.executable, __file__, name], cwd=name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    return name, [line for line in lines if line.startswith("ok: ")], lines, done.returncode


def main():
    names = [name for name in sys.argv[1:] if name in SIZES] or list(SIZES)
    if len(names) == 1:
        compare_plans(names[0])
        compare_stages(names[0], STAGES.get(names[0], "1f1b"))
        if names[0] in LIBRARIES:
            compare_libraries(names[0], LIBRARIES[names[0]])
        finish()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, good, lines, code in pool.map(run_alone, names):
            print(*lines[:-1] if lines else [], sep="\n")
            wanted = 9 + 2 * len(plans_of_stages(name)) + 10 * (name in LIBRARIES)
            check(f"{name}: {len(good)} of {wanted} checks passed", code == 0 and len(good) == wanted, lines[-1] if lines else "no output")
    finish()


if __name__ == "__main__":
    main()
