#!/usr/bin/env python3
"""Parts of a model: the order of lanes, runs that continue on other meshes, gradients, shares, errors.

matrix.py compares their bits with those of one device.
"""

import filecmp
import re
from fnmatch import fnmatch

import checks
from checks import check, compile_model, finish, refuses, run, same_folder, tool, write_json, zoo
from matrix import RULES, write_rules
from meshes import count_bytes
from processes import MPIRUN, need_mpi

GPT2 = ["gpt2", "--dropout=0.1", "--optimizer=adamw", "--layers=2", "--width=64", "--heads=8", "--seq=8", "--batch=8", "--vocab=64"]
ROWS, HEADS = ["model", None], [None, "model", None]
FLAGS = ["--steps=2", "--seed=5"]
CUT = ["--microbatches=4", "--lanes=4"]


def flags_of(parts=1, replicas=1):
    return ["--model-lanes=8", "--shards=gpt2.json", f"--mesh=data={replicas},model={parts}"]


def check_order():
    """Lanes are another order of sums, so a test of bits can fail."""
    compile_model("gpt2.mlir", "one.rpb", *flags_of())
    one = run("one.rpb", "one-gpt2", *FLAGS)["hash"]
    compile_model("gpt2.mlir", "chain.rpb")
    chain = run("chain.rpb", "chain", *FLAGS)["hash"]
    check("lanes change bits", chain != one, chain)


def write_module(model, name, mesh):
    """Writes the module with the shardings of the rules as ops of MLIR's dialect shard."""
    lines = []
    for line in open(model, encoding="utf-8"):
        if line.startswith("module"):
            line += f"  shard.grid @mesh(shape = {mesh})\n"
        elif "func.func @train(" in line:
            for i, (argument, attributes) in enumerate(re.findall(r"(%arg\d+): tensor<[^>]*> {(.*?)} loc", line)):
                found = [dims for pattern, dims in RULES["gpt2"].items() if fnmatch(re.search(r'reprise.name = "(.*?)"', attributes)[1], pattern)]
                if found:
                    kind = re.search(rf"{argument}: (tensor<[^>]*>)", line)[1]
                    axes = ", ".join("[1]" if axis else "[]" for axis in found[0])
                    line += f"    %sharding{i} = shard.sharding @mesh split_axes = [{axes}] : !shard.sharding\n"
                    line += f"    %shard{i} = shard.shard {argument} to %sharding{i} : {kind}\n"
        lines.append(line)
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(lines)


def check_module():
    """A module with a grid and shardings has the bundle of the flags and the rules."""
    zoo("one.mlir", *[flag for flag in GPT2 if flag != "--layers=2"], "--layers=1")
    write_module("one.mlir", "module.mlir", "1x2")
    flags = flags_of(2)
    compile_model("one.mlir", "rules.rpb", *flags)
    compile_model("module.mlir", "module.rpb", *[flag for flag in flags if not flag.startswith(("--mesh", "--shards"))])
    check("a bundle of shardings in the module is that of the rules", filecmp.cmp("rules.rpb", "module.rpb", shallow=False))
    write_json("other.json", {"version": 1, "rules": [{"match": {"name": "layer/0/up/weight"}, "shard": ROWS}]})
    refuses("a mesh beside another grid", "but the options request 4",
            "reprise-compile", "module.mlir", "-o", "no.rpb", "--model-lanes=8", "--mesh=model=4", code=1)
    refuses("rules beside other shardings", "expected dimension 1 of 'layer/0/up/weight', which the module cuts",
            "reprise-compile", "module.mlir", "-o", "no.rpb", "--model-lanes=8", "--shards=other.json", code=1)
    write_module("one.mlir", "whole.mlir", "1x1")
    refuses("shardings without lanes", "the model has shardings, which need lanes of contractions: add --model-lanes=2 or more",
            "reprise-compile", "whole.mlir", "-o", "no.rpb", code=2)


def check_elastic():
    """Steps on parts, then on stages, then on one device equal as many steps on one device."""
    folder = []
    for flags in (flags_of(4), [*flags_of(2, 2), "--stages=2"], flags_of()):
        compile_model("gpt2.mlir", "part.rpb", *CUT, *flags)
        run("part.rpb", "elastic", "--steps=2", *(folder or ["--seed=5"]))
        folder = ["--input-dir=elastic"]
    run("part.rpb", "six", "--steps=6", "--seed=5")
    same_folder("2 steps on 4 parts, 2 on 2 x 2 x 2 and 2 on 1", "six", "elastic")


def check_entries():
    """Gradients, and gradients of gradients, which have four passes."""
    for entry in ("grad", "hvp") if checks.everything else ("grad",):
        for parts in (1, 2):
            compile_model("gpt2.mlir", "entry.rpb", *flags_of(parts), f"--entry={entry}")
            run("entry.rpb", f"{entry}{parts}", "--seed=5")
        same_folder(f"{entry} on 2 parts", f"{entry}1", f"{entry}2")


def check_processes():
    """Four processes write the folder of one device."""
    compile_model("gpt2.mlir", "parts.rpb", *flags_of(4), "--threads=1")
    tool(*MPIRUN, "-n", 4, "reprise-run", "parts.rpb", *FLAGS, "--output-dir=ranks")
    same_folder("4 parts in four processes", "one-gpt2", "ranks")


def check_shares():
    """Each part holds its share of parameters and states."""
    held = {}
    for parts in (1, 4):
        report = compile_model("gpt2.mlir", "parts.rpb", *flags_of(parts))
        held[parts] = [program["persistent_bytes"] for program in report.get("programs", [report])]
    check("4 parts hold a quarter each", max(held[4]) < 0.4 * held[1][0] and sum(held[4]) < 1.05 * held[1][0], str(held))


def check_wire():
    """A device sends what sequence parallelism sends: per layer 12 activations, less its own part of each.

    Two inputs of contractions are joined in the forward pass, and again in the backward pass, with the gradients of two
    outputs. Two sums are shared in the forward pass, and four in the backward pass. Gradients of six vectors add whole
    columns of parts.
    """
    parts, sends = 4, {}
    for layers in (1, 3):
        zoo("wire.mlir", "gpt2", *[flag for flag in GPT2[3:] if not flag.startswith("--layers")], f"--layers={layers}")
        text = tool("reprise-opt", "wire.mlir", f"--reprise-to=partition model-lanes=8 shards=gpt2.json model-parts={parts}")
        for name, program in enumerate(text.split("reprise.program @")[1:]):
            for shape in ("2x8x64xf32", "2x8x16xf32"):
                sends[layers, name, shape] = len(re.findall(rf"exec\.send .*: tensor<{shape}>", program))
    for name in range(parts):
        for shape, count in (("2x8x64xf32", 12), ("2x8x16xf32", 6)):
            more = sends[3, name, shape] - sends[1, name, shape]
            check(f"device {name} sends {count} parts {shape} per layer to each other device", more == 2 * count * (parts - 1), str(more))


def check_replays():
    """All parts replay layers together, with their exchanges, if --checkpoint, a policy or a budget asks for it."""
    zoo("deep.mlir", "gpt2", "--dropout=0.1", "--layers=6", "--width=32", "--heads=4", "--seq=64", "--batch=4", "--vocab=64")
    cut = ["--model-lanes=4", "--shards=gpt2.json", "--threads=1"]
    compile_model("deep.mlir", "deep.rpb", *cut)
    run("deep.rpb", "deep", *FLAGS)
    taken, sent = {}, {}
    for name, flags in (("never", ["--checkpoint=never"]), ("always", ["--checkpoint=always"]),
                        ("policy", ["--policy=recompute-all"]), ("budget", ["--budget=36%", "--time-limit=0", "--plan-out=deep.json"])):
        report = compile_model("deep.mlir", "part.rpb", *cut, "--mesh=model=2", *flags)
        taken[name] = max(each["arena_bytes"] + each["workspace_bytes"] for each in report["programs"])
        sent[name] = report["programs"][0]["replayed_percent"]
        run("part.rpb", f"deep-{name}", *FLAGS)
        same_folder(f"replays by {name}", "deep", f"deep-{name}")
    check("replays take less memory", max(taken["always"], taken["budget"]) < 0.5 * taken["never"] and taken["policy"] < 0.6 * taken["never"], str(taken))
    check("the budget needs replays of parts", sent == {"never": 0, "always": 0, "policy": 0, "budget": sent["budget"]} and sent["budget"] > 0, str(sent))
    report = compile_model("deep.mlir", "again.rpb", *cut, "--mesh=model=2", "--plan-in=deep.json")
    check("the plan file knows replays of parts", max(each["arena_bytes"] + each["workspace_bytes"] for each in report["programs"]) == taken["budget"],
          str(taken))


def find_lag(programs):
    """Returns how far a device is ahead when it sends a value that another device waits for, in shares of its contractions."""
    def share(text, place):
        return text.count("dot_general", 0, place) / text.count("dot_general")
    sends, lags = {}, []
    for maker, text in enumerate(programs):
        for send in re.finditer(r"exec\.send \S+ to @train_(\d+) tag (\d+) ", text):
            sends.setdefault((maker, int(send[1]), send[2]), []).append(share(text, send.start()))
    for reader, text in enumerate(programs):
        waits = {wait[1]: share(text, wait.start()) for wait in re.finditer(r"exec\.wait (%event\w*)", text)}
        for receive in re.finditer(r"(%event\w*) = exec\.receive from @train_(\d+) tag (\d+) ", text):
            lags.append(sends[int(receive[2]), reader, receive[3]].pop(0) - waits[receive[1]])
    return max(lags)


def check_replicas():
    """Replicas of parts send each part of a weight and of its gradient R - 1 times, from even numbers of devices."""
    zoo("wire.mlir", *GPT2)
    for replicas in (2, 4):
        text = tool("reprise-opt", "wire.mlir", "--reprise-to=partition model-lanes=8 shards=gpt2.json model-parts=2 "
                    f"microbatches=8 lanes=8 replicas={replicas}")
        programs = text.split("reprise.program @")[1:]
        for shape in ("64x128xf32", "128x64xf32"):  # two weights of two layers
            sends = [len(re.findall(rf"exec\.send .*: tensor<{shape}>", program)) for program in programs]
            check(f"{replicas} replicas of 2 parts send parts {shape} as often as replicas without parts",
                  sum(sends) == 2 * 2 * 2 * (replicas - 1) and max(sends) <= 4, str(sends))
        sends = [text.count("exec.send") for text in programs]
        check(f"{replicas} replicas of 2 parts send evenly", max(sends) < 1.3 * min(sends), str(sends))
    # All lookups of the embedding run on one device, so the flat step mixes ops of several replicas.
    rules = [{"match": {"name": f"layer/*/{name}/weight"}, "shard": dims} for name, dims in (("up", ROWS[::-1]), ("down", ROWS))]
    write_json("table.json", {"version": 1, "rules": rules})
    for replicas in (2, 4):
        text = tool("reprise-opt", "wire.mlir", "--reprise-to=partition model-lanes=2 shards=table.json model-parts=2 "
                    f"microbatches=8 lanes=8 replicas={replicas}")
        lag = find_lag(text.split("reprise.program @")[1:])
        check(f"{replicas} replicas of 2 parts wait for no pass of each other", lag < 0.1, str(lag))


def check_report():
    """The report lists transfers of each kind, whose counts and bytes are those of the programs."""
    flags = ["--model-lanes=8", "--shards=gpt2.json"]
    report = compile_model("one.mlir", "parts.rpb", *flags, "--mesh=model=4", "--report=parts.txt")
    text = tool("reprise-opt", "one.mlir", "--reprise-to=checkpoint model-lanes=8 shards=gpt2.json model-parts=4")
    sends = [re.findall(r"exec\.send ", program) for program in text.split("reprise.program @")[1:]]
    programs = report["programs"]
    totals = [sum(sum_["bytes"] for sum_ in program["sent"].values()) for program in programs]
    check("the report has the bytes of all sends", totals == count_bytes(text) and min(totals) > 0, f"{totals}, {count_bytes(text)}")
    check("the report has all sends", [sum(each["count"] for each in program["transfers"]) for program in programs] == [len(each) for each in sends])
    shown = re.findall(r"sent to other devices, sum .*\(([\d,]+) bytes\)", open("parts.txt", encoding="utf-8").read())
    check("the text has the same sums", [int(each.replace(",", "")) for each in shown] == [program["sent"]["sum"]["bytes"] for program in programs], str(shown))
    for key in ("count", "bytes", "seconds"):
        sums = [{kind: sum(each[key] for each in program["transfers"] if each["kind"] == kind) for kind in program["sent"]} for program in programs]
        check(f"kinds add up in {key}", all(abs(sums[i][kind] - total[key]) <= 1e-9 * total[key] for i, program in enumerate(programs)
                                            for kind, total in program["sent"].items()))
    kinds = {(each["kind"], each["part"]) for program in programs for each in program["transfers"]}
    check("gathers and sums of both passes", {(kind, part) for kind in ("gather", "sum") for part in ("forward", "backward")} <= kinds, str(kinds))
    sum_ = [each for each in programs[0]["transfers"] if each["kind"] == "sum" and each["part"] == "forward" and each["value"].endswith(" in layer/0/mlp")]
    check("the sum of the second contraction of the MLP, by samples", [(each["dimension"], each["count"], each["bytes"]) for each in sum_] ==
          [(0, 3, 3 * 2 * 8 * 64 * 4)], str(sum_))


def check_refusals():
    def refused(name, message, *flags, code=2):
        refuses(name, message, "reprise-compile", "gpt2.mlir", "-o", "no.rpb", *flags, code=code)

    def refused_rules(name, message, rule):
        write_json("bad.json", {"version": 1, "rules": [rule]})
        refused(name, message, "--model-lanes=8", "--shards=bad.json", code=1)

    refused("three lanes", "expected 1, 2, 4, … lanes up to 1024 in --model-lanes, got 3", "--model-lanes=3")
    refused("no rules", "--model-lanes needs shardings: add --shards=RULES.json, or shard.shard to the model", "--model-lanes=2")
    refused("no lanes", "--shards needs lanes of contractions", "--shards=gpt2.json")
    refused("too few lanes", "--mesh=model=4 needs a multiple of 4 lanes, got --model-lanes=2", "--model-lanes=2",
            "--shards=gpt2.json", "--mesh=model=4")
    refused("a schedule with weights", "expected the schedule gpipe, 1f1b or interleaved-1f1b, got 'zb-h1'", *flags_of(2), "--microbatches=4",
            "--stages=2", "--schedule=zb-h1", code=1)
    name = {"name": "layer/0/up/weight"}
    refused_rules("a rule without a match", "no argument of the step matches", {"match": {"name": "layer/9/*"}, "shard": ROWS})
    refused_rules("another rank", "expected 2 dimensions of 'layer/0/up/weight', got 3", {"match": name, "shard": HEADS})
    refused_rules("two cuts", "expected the axis \"model\" for one dimension", {"match": name, "shard": ["model", "model"]})
    refused_rules("another axis", "expected null or the axis \"model\"", {"match": name, "shard": [None, "data"]})
    write_json("bad.json", {"version": 1, "rules": [{"match": name, "shard": ROWS}]})
    refused("too many lanes", "expected a dimension that 128 lanes divide, dimension 0 of 'layer/0/up/weight' has 64",
            "--model-lanes=128", "--shards=bad.json", code=1)


def main():
    zoo("gpt2.mlir", *GPT2)
    write_rules("gpt2")
    check_order()
    check_module()
    check_elastic()
    check_entries()
    check_shares()
    check_wire()
    check_replicas()
    check_replays()
    check_report()
    check_refusals()
    need_mpi()
    check_processes()
    finish()


if __name__ == "__main__":
    main()
