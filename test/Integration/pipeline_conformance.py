#!/usr/bin/env python3
"""Requirements of torchgpipe's tests of a pipeline, group by group, and cases that they leave out (docs/explanation/PipelinePeers.md).

Models are chains of small layers, cut where a list says, with skips between any two layers.
"""

import filecmp
import json
import pathlib
import re
import subprocess

from checks import check, finish, run, same_folder, tool, zoo

BATCH, WIDTH = 7, 4
MODES = ["always", "except-last", "never"]


def chain(path, cuts, skips=(), layers=5, tied=0, frozen=0, dtype="f32", batch=BATCH):
    """Writes a model of layers × tanh(dot) with dropout; a skip (i, j) adds the result of layer i to the input of layer
    j; stages begin at the layers `cuts`; layer `tied` has the weight of layer 0. Results: the loss, the last rows, and
    gradients except those of the first `frozen` weights."""
    rows, square = f"tensor<{batch}x{WIDTH}x{dtype}>", f"tensor<{WIDTH}x{WIDTH}x{dtype}>"
    count = layers - (tied > 0)
    weights = list(range(count))
    if tied:
        weights.insert(tied, 0)
    body, made = [], {}
    for i in range(layers):
        mark = f" {{reprise.stage = {sum(cut <= i for cut in cuts)} : i64}}" if i == 0 or i in cuts else ""
        read = made.get(i - 1, "%x")
        for source, target in skips:
            if target == i:
                body.append(f"%s{source}_{i} = reprise.add {read}, {made[source]} : {rows}")
                read = f"%s{source}_{i}"
        body += [f"%d{i} = reprise.dot_general {read}, %w{weights[i]} contracting [1] x [0]{mark} : ({rows}, {square}) -> {rows}",
                 f"%t{i} = reprise.tanh %d{i} : {rows}",
                 f"%y{i} = reprise.dropout %t{i} {{rate = 0.5 : f64}} : {rows}"]
        made[i] = f"%y{i}"
    last, scalar = made[layers - 1], f"tensor<{dtype}>"
    body.append(f"%loss = reprise.mean {last} dims [0, 1] : ({rows}) -> {scalar}")
    types = ", ".join([rows] + [square] * count)
    arguments = ", ".join([f"%x: {rows}"] + [f"%w{i}: {square}" for i in range(count)])
    normal = "#reprise.normal<0.0, 1.0>"
    inputs = ", ".join([f'%x: {rows} {{reprise.batch_dim = 0 : i64, reprise.init = {normal}, reprise.name = "x", reprise.role = "input"}}']
                       + [f'%w{i}: {square} {{reprise.init = {normal}, reprise.name = "w{i}", reprise.role = "parameter"}}' for i in range(count)])
    trained = range(frozen, count)
    results = [(scalar, "loss"), (rows, "y")] + [(square, f"gradient{i}") for i in trained]
    given = ", ".join(f"%0#{i}" for i in range(len(results)))
    kinds = ", ".join(kind for kind, _ in results)
    named = ", ".join(f'{kind} {{reprise.name = "{name}"}}' for kind, name in results)
    operands = ", ".join(["%x"] + [f"%w{i}" for i in range(count)])
    lines = "\n    ".join(body)
    pathlib.Path(path).write_text(f"""
  func.func private @loss({arguments}) -> ({scalar}, {rows}) {{
    {lines}
    return %loss, {last} : {scalar}, {rows}
  }}
  func.func @grad({inputs}) -> ({named}) {{
    %0:{len(results)} = reprise.value_and_grad @loss({operands}) wrt {[i + 1 for i in trained]} : ({types}) -> ({kinds})
    return {given} : {kinds}
  }}
  func.func @forward({inputs}) -> ({rows} {{reprise.name = "y"}}) {{
    %0:2 = func.call @loss({operands}) : ({types}) -> ({scalar}, {rows})
    return %0#1 : {rows}
  }}
""")


def train(bundle, model, folder, *flags, entry="grad", steps=1):
    report = tool("reprise-compile", model, "-o", bundle, f"--entry={entry}", "--report=r.json", *flags) or json.loads(
        pathlib.Path("r.json").read_text())
    run(bundle, folder, "--seed=5", f"--steps={steps}")
    return report


def same(name, model, devices, microbatches=4, modes=("never",), entry="grad", schedule="1f1b"):
    """Checks that, on the given numbers of devices, in all modes, the files are those of one device."""
    batches = f"--microbatches={microbatches}"
    train("one.rpb", model, "one", batches, entry=entry)
    reports = {}
    for mode in modes:
        reports[mode] = train("cut.rpb", model, "cut", batches, f"--stages={devices}", f"--checkpoint={mode}", f"--schedule={schedule}",
                              entry=entry)
        same_folder(f"{name}, {mode}", "one", "cut")
    return reports


def refused(name, command, text):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    check(name, done.returncode == 1 and len(errors) == 1 and text in errors[0], done.stderr[:400])


def check_checkpoints():
    """Checks that replays draw the words of their originals, and that frozen weights ask for no backward pass below
    them."""
    chain("m.mlir", [2])
    reports = same("dropout in checkpoints", "m.mlir", 2, modes=MODES, schedule="gpipe")
    replays = {mode: [program["replayed_ops"] for program in report["programs"]] for mode, report in reports.items()}
    check("always replays the most, never nothing", not any(replays["never"])
          and all(a > b > 0 for a, b in zip(replays["always"], replays["except-last"])), str(replays))
    chain("m.mlir", [2], frozen=2)
    same("weights without a gradient in the first stage", "m.mlir", 2, modes=MODES)
    chain("m.mlir", [1, 3], frozen=4)
    same("a gradient in the last stage only", "m.mlir", 3, modes=["always"])


def check_evaluation():
    """Checks that no value is replayed without a backward pass, in any mode."""
    chain("m.mlir", [1, 3])
    for mode, report in same("forward", "m.mlir", 3, modes=MODES, entry="forward").items():
        check(f"forward, {mode}: no replays", not any(program["replayed_ops"] for program in report["programs"]))


def check_batches():
    """Checks 7 samples in 4 micro-batches, as many micro-batches as samples, and fewer samples than micro-batches."""
    chain("m.mlir", [2])
    same("7 samples one by one", "m.mlir", 2, microbatches=7)
    chain("two.mlir", [2], batch=2)
    chain("none.mlir", [2], batch=0)
    command = ["reprise-compile", "--entry=grad", "--stages=2", "-o", "no.rpb"]
    refused("2 samples in 4", [*command, "two.mlir", "--microbatches=4"], "4 micro-batches are too many for a batch of 2 samples")
    refused("an empty batch", [*command, "none.mlir", "--microbatches=2"], "2 micro-batches are too many for a batch of 0 samples")
    check("nothing is written", not pathlib.Path("no.rpb").exists())


def check_masks():
    """Checks that rows behind five dropouts are equal for every number of micro-batches, devices and mode."""
    chain("m.mlir", [1, 3])
    train("one.rpb", "m.mlir", "whole")
    for microbatches in (1, 2, 4, 7):
        for flags in ([], ["--stages=3"], ["--stages=3", "--schedule=gpipe", "--checkpoint=always"]):
            train("cut.rpb", "m.mlir", "cut", f"--microbatches={microbatches}", *flags)
            check(f"masks of {microbatches} micro-batches {' '.join(flags)}", filecmp.cmp("whole/y.npy", "cut/y.npy", shallow=False))


def check_skips():
    """Checks layouts of skips: none, inner, adjacent, far, two sources, two readers; over four balances."""
    layouts = {"none": [], "inner": [(0, 2)], "adjacent": [(1, 3)], "far": [(0, 4)], "two sources": [(0, 4), (1, 4)],
               "two readers": [(0, 2), (0, 4)], "nested": [(0, 4), (1, 3)]}
    for layout, skips in layouts.items():
        chain("m.mlir", [1, 3], skips)
        same(f"skips {layout} on 3", "m.mlir", 3)
    for cuts in ([1], [3], [1, 2], [1, 2, 3, 4]):
        chain("m.mlir", cuts, [(0, 2)])
        same(f"a skip from 1 to 3 cut at {cuts}", "m.mlir", len(cuts) + 1, modes=MODES)


def check_values():
    """Types that cross a cut, several inputs, tied weights, and a model without ops."""
    for dtype in ("f64", "bf16"):
        chain("m.mlir", [2], [(0, 3)], dtype=dtype)
        same(dtype, "m.mlir", 2)
    chain("m.mlir", [1, 3], tied=4)
    same("a tied weight in the first and the last stage", "m.mlir", 3, modes=MODES)
    chain("m.mlir", [2], tied=1)
    same("a tied weight within a stage", "m.mlir", 2)
    zoo("bert.mlir", "bert", "--layers=2", "--width=16", "--heads=2", "--seq=8", "--vocab=32", "--batch=4")
    same("four inputs", "bert.mlir", 2, entry="train")
    rows = 'tensor<4x2xf32>'
    pathlib.Path("m.mlir").write_text(f"""func.func @forward(%x: {rows} {{reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>,
      reprise.name = "x", reprise.role = "input"}}) -> ({rows} {{reprise.name = "y"}}) {{
  return %x : {rows}
}}""")
    refused("a model without ops", ["reprise-compile", "m.mlir", "--entry=forward", "-o", "no.rpb", "--stages=2"], "the forward pass can be cut into at most 0 stages, got 2")


def check_errors():
    """Checks that a failure on one stage ends all, with one error, at once, in any step."""
    text = ["--layers=4", "--width=16", "--heads=2", "--seq=8", "--vocab=32", "--batch=4"]
    zoo("m.mlir", "gpt2", *text)
    tool("reprise-compile", "m.mlir", "-o", "cut.rpb", "--microbatches=4", "--stages=4")
    run("cut.rpb", "good", "--seed=5")
    for name, stage in (("tokens", "first"), ("labels", "last")):
        header = (b"\x93NUMPY\x01\x00" + b"v\x00"
                  + b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 4, 8), }".ljust(117) + b"\n")
        wrong = bytearray(2 * 4 * 8 * 4)
        wrong[-4:] = (99).to_bytes(4, "little")  # the last sample of step 1
        pathlib.Path("wrong.npy").write_bytes(header + wrong)
        command = ["reprise-run", "cut.rpb", "--steps=2", "--check-indices", "--output-dir=bad", f"--input={name}=wrong.npy"]
        refused(f"an index out of range on the {stage} stage", command, "step 1")
        check(f"no folder of a run that failed on the {stage} stage", not pathlib.Path("bad").exists())


def check_names():
    """Checks that a folder has the names of one device, and that a run continues on any number of devices."""
    zoo("m.mlir", "mlp", "--layers=4", "--width=8", "--batch=4", "--optimizer=momentum")
    batches = "--microbatches=2"
    for devices in (1, 2, 3):
        train(f"{devices}.rpb", "m.mlir", f"of-{devices}", batches, *([f"--stages={devices}"] if devices > 1 else []), entry="train", steps=3)
    run("3.rpb", "a", "--seed=5")
    run("1.rpb", "b", "--input-dir=a")
    run("2.rpb", "c", "--input-dir=b")
    for folder in ("of-2", "of-3", "c"):
        same_folder(f"three steps of one device: {folder}", "of-1", folder)
    names = {re.sub(r"\W+", "/", path.stem) for path in pathlib.Path("c").glob("*.npy")}
    check("files have the names of parameters", "layer/0/weight" in names, str(sorted(names)))


def main():
    for group in (check_checkpoints, check_evaluation, check_batches, check_masks, check_skips, check_values, check_errors, check_names):
        group()
    finish()


if __name__ == "__main__":
    main()
