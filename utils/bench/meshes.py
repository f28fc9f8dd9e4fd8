#!/usr/bin/env python3
"""Compares the search for a mesh with published tables and configurations, on paper: nothing runs on a cluster.

Usage: meshes.py [zero] [activations] [plans] [published] [--pages]

Sections: `zero` is the table of ZeRO (arXiv 1910.02054, figure 1). `activations` and `plans` are those of Korthikanti et
al. (arXiv 2205.05198, sections 4 and 5). `published` prices configurations of Megatron-LM and Mist in our cost model.
`--pages` writes the tables into docs/reference/benchmarks/Meshes.md. Ends with an error if a figure is missed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pages
from common import machine as describe_machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN, DEVICES = ROOT / "build" / "bin", ROOT / "docs" / "reference" / "devices"
missed = []


def expect(name, good):
    """Notes a figure that does not hold."""
    if not good:
        missed.append(name)


def tool(name, *arguments, stdin=None):
    done = subprocess.run([str(BIN / name), *map(str, arguments)], input=stdin, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {name} {' '.join(map(str, arguments))} failed: {done.stderr[:400]}")
    return done.stdout


def search(folder, model, *flags):
    """Returns the report of a search, and its seconds."""
    begin = time.perf_counter()
    tool("reprise-compile", model, "--mesh=" + flags[0], f"--report={folder / 'mesh.json'}", *flags[1:])
    return json.loads((folder / "mesh.json").read_text()), time.perf_counter() - begin


# The table of ZeRO: 7.5 billion parameters on 64 devices, 2 bytes of weights and gradients, 12 of states.
LAYERS, WIDTH = 250, 5477
ZERO = [("replicas", 120, 1, ["--microbatches=1"]), ("ZeRO-1: several micro-batches", 31.4, 64, ["--microbatches=128", "--gathers=saved"]),
        ("ZeRO-2: --gathers=saved", 16.6, 64, ["--microbatches=64", "--gathers=saved"]),
        ("ZeRO-3: --gathers=replayed", 1.9, 64, ["--microbatches=64", "--gathers=replayed"])]


def write_zero(path):
    """Writes a step of linear layers, whose weights are bf16 with a copy and two moments in f32."""
    small, wide = f"tensor<{WIDTH}x{WIDTH}xbf16>", f"tensor<{WIDTH}x{WIDTH}xf32>"
    rows = f"tensor<128x{WIDTH}xbf16>"
    weights = [f"%w{i}: {small}" for i in range(LAYERS)]
    lines = [f"func.func private @loss(%x: {rows}, {', '.join(weights)}) -> tensor<bf16> {{"]
    for i in range(LAYERS):
        lines.append(f"%y{i} = reprise.dot_general {f'%y{i - 1}' if i else '%x'}, %w{i} contracting [1] x [0] : ({rows}, {small}) -> {rows}")
    lines += [f"%l = reprise.mean %y{LAYERS - 1} dims [0, 1] : ({rows}) -> tensor<bf16>", "return %l : tensor<bf16>", "}"]
    arguments, results, body, returned = [], [], [], []
    kinds = [("w", small, "parameter"), ("c", wide, "state"), ("m", wide, "state"), ("v", wide, "state")]
    for i in range(LAYERS):
        for name, kind, role in kinds:
            arguments.append(f'%{name}{i}: {kind} {{reprise.role = "{role}", reprise.name = "{name}{i}"}}')
            results.append(f'{kind} {{reprise.name = "{name}{i}"}}')
        body += [f"%g{i} = reprise.cast %r#{i + 1} : {small} to {wide}", f"%nm{i} = reprise.add %m{i}, %g{i} : {wide}",
                 f"%s{i} = reprise.mul %g{i}, %g{i} : {wide}", f"%nv{i} = reprise.add %v{i}, %s{i} : {wide}",
                 f"%u{i} = reprise.mul %nm{i}, %nv{i} : {wide}", f"%nc{i} = reprise.sub %c{i}, %u{i} : {wide}",
                 f"%nw{i} = reprise.cast %nc{i} : {wide} to {small}"]
        returned += [f"%n{name}{i}" for name in "wcmv"]
    of = ", ".join([rows] + [small] * LAYERS)
    lines.append(f'func.func @train(%x: {rows} {{reprise.batch_dim = 0 : i64, reprise.role = "input", reprise.name = "x"}}, {", ".join(arguments)})'
                 f' -> (tensor<bf16> {{reprise.name = "loss"}}, {", ".join(results)}) {{')
    lines.append(f"%r:{LAYERS + 1} = reprise.value_and_grad @loss(%x, {', '.join(f'%w{i}' for i in range(LAYERS))}) wrt "
                 f"{list(range(1, LAYERS + 1))} : ({of}) -> (tensor<bf16>, {', '.join([small] * LAYERS)})")
    lines += body + [f"return %r#0, {', '.join(returned)} : tensor<bf16>, {', '.join([small, wide, wide, wide] * LAYERS)}", "}"]
    path.write_text("\n".join(lines))


def compare_zero(folder):
    write_zero(folder / "zero.mlir")
    rows = []
    for name, paper, devices, flags in ZERO:
        report, _ = search(folder, folder / "zero.mlir", f"auto,data={devices}", f"--devices={devices}", "--unbuilt", *flags)
        gathered = LAYERS * 2 * WIDTH * WIDTH
        joined = gathered / LAYERS if "replayed" in name else gathered / devices if devices > 1 else 0
        bytes_ = report["best"][0]["peak_bytes"] - joined
        ours = bytes_ / 1e9
        expect(f"zero, {name}", abs(ours / paper - 1) < .01 or abs(ours - paper) < .05)
        rows.append([name, f"{paper} GB", f"{ours:.2f} GB", f"{ours / paper:.3f}"])
    return ["7.5B parameters on 64 devices", "paper", "ours", "ratio"], rows


# A layer of GPT-3 175B, one sample of 2,048 tokens, t = 8.
TOKENS, HEADS, HIDDEN, PARTS = 2048, 96, 12288, 8
ACTIVATIONS = [("one device", 2.672, 1, 1, ()), ("parts of the model", .539, PARTS, 1, ()), ("and of the sequence", .334, PARTS, PARTS, ()),
               ("and attention again", .0996, PARTS, PARTS, ("softmax", "mask", "dropped")), ("the whole layer again", .0469, PARTS, 1, None)]


def list_layer(parts, rows):
    """Returns forward ops as (name, FLOPs, operands, {value: bytes}), and backward ops as (name, FLOPs, values read). `parts` divides what a
    tensor parallel layer divides, `rows` also what only a sequence parallel one does."""
    s, h = TOKENS, HIDDEN
    row, own, square = 2 * s * h // rows, 2 * s * h // parts, HEADS * s * s // parts
    forward = [("input", 0, [], {"x": row}), ("ln1", 10 * s * h // rows, ["x"], {"n1": row}),
               ("qkv", 6 * s * h * h // parts, ["n1"], {"q": own, "k": own, "v": own}), ("scores", 2 * s * s * h // parts, ["q", "k"], {"z": 2 * square}),
               ("softmax", 5 * square, ["z"], {"softmax": 2 * square}), ("draw", square, [], {"mask": square}),
               ("dropout", square, ["softmax", "mask"], {"dropped": 2 * square}), ("context", 2 * s * s * h // parts, ["dropped", "v"], {"context": own}),
               ("projection", 2 * s * h * h // parts, ["context"], {"p": row}), ("draw2", s * h // rows, [], {"mask2": row // 2}),
               ("add1", 2 * s * h // rows, ["x", "p", "mask2"], {"a": row}), ("ln2", 10 * s * h // rows, ["a"], {"n2": row}),
               ("up", 8 * s * h * h // parts, ["n2"], {"up": 4 * own}), ("gelu", 40 * s * h // parts, ["up"], {"gelu": 4 * own}),
               ("down", 8 * s * h * h // parts, ["gelu"], {"d": row}), ("draw3", s * h // rows, [], {"mask3": row // 2}),
               ("add2", 2 * s * h // rows, ["a", "d", "mask3"], {"out": row})]
    reads = [("add2", ["mask3"]), ("down", ["gelu"]), ("gelu", ["up"]), ("up", ["n2"]), ("ln2", ["a"]), ("add1", ["mask2"]), ("projection", ["context"]),
             ("context", ["dropped", "v"]), ("dropout", ["mask"]), ("softmax", ["softmax"]), ("scores", ["q", "k"]), ("qkv", ["n1"]), ("ln1", ["x"])]
    flops = {name: cost for name, cost, _, _ in forward}
    return forward, [(f"d {name}", 2 * flops[name], values) for name, values in reads]


def count_saved(parts, rows, without):
    forward, backward = list_layer(parts, rows)
    bytes_ = {value: size for _, _, _, made in forward for value, size in made.items()}
    read = {value for _, _, values in backward for value in values}
    if without is None:
        return bytes_["x"]
    return sum(bytes_[value] for value in read if value not in without)


def plan_layer(share):
    """Lets the planner save a share of the bytes. Returns the share of the FLOPs that it computes again, and that of the bytes that it saves."""
    forward, backward = list_layer(PARTS, PARTS)
    numbers, operations = {}, []
    for name, cost, operands, made in forward:
        operations.append({"name": name, "cost": cost, "kind": "other", "launch": len(operations), "operands": [numbers[each] for each in operands],
                           "results": [{"bytes": size, **({"label": "must_save"} if value == "x" else {})} for value, size in made.items()]})
        for value in made:
            numbers[value] = len(numbers)
    border = len(operations)
    for name, cost, values in backward:
        operations.append({"name": name, "cost": cost, "kind": "other", "backward": True, "launch": len(operations) + 2,
                           "operands": [numbers[value] for value in values], "results": [{"bytes": 1}]})
    most = sum(result["bytes"] for op in operations for result in op["results"])
    saved = count_saved(PARTS, PARTS, ())
    problem = {"version": 1, "launches": len(operations) + 2, "operations": operations,
               "other_buffers": [{"first": border, "last": border + 1, "bytes": most}]}
    done = tool("reprise-plan", "checkpoint", "-", f"--budget={most + int(share * saved)}", "--json", stdin=json.dumps(problem))
    plan = json.loads(done)[0]
    return plan["cost"] / sum(op["cost"] for op in operations), (plan["peak"] - most) / saved


def compare_activations(_):
    rows = []
    for name, paper, parts, sequence, without in ACTIVATIONS:
        ours = count_saved(parts, sequence, without) / 2 ** 30
        expect(f"activations, {name}", abs(ours / paper - 1) < .01)
        rows.append([name, f"{paper} GiB", f"{ours:.4f} GiB", f"{ours / paper:.3f}"])
    return ["layer of GPT-3 175B, t = 8", "paper", "ours", "ratio"], rows


def compare_plans(_):
    """The paper saves 30 % of the bytes for 2.7 % more FLOPs."""
    rows = []
    for share in (.5, .3, .2):
        flops, saved = plan_layer(share)
        expect(f"plans, {share}", saved <= share and (share < .3 or flops <= .027))
        rows.append([f"{100 * share:.0f} %", f"{100 * saved:.1f} %", f"{100 * flops:.2f} %", "2.7 %" if share == .3 else ""])
    return ["most saved", "saved", "FLOPs again", "paper"], rows


# (name, source, sizes of the zoo's gpt2, device file, devices, axes, flags of the published configuration, seconds published)
SMALL = ["--layers=48", "--width=6144", "--heads=64"]
PUBLISHED = [("GPT-3 22B, batch 4 x 2,048", "Megatron-LM", [*SMALL, "--seq=2048", "--batch=4", "--vocab=51200"], "a100-cluster", 8, "model=8",
              ["--microbatches=1"], "1.10 s"),
             ("GPT-3 175B, batch 64 x 2,048", "Megatron-LM", ["--layers=96", "--width=12288", "--heads=96", "--seq=2048", "--batch=64", "--vocab=51200"],
              "a100-cluster", 64, "data=1,model=8", ["--stages=8", "--schedule=interleaved-1f1b", "--chunks=3", "--microbatches=64"], "13.75 s"),
             ("GPT-3 22B, batch 512 x 4,096", "Megatron-LM, Mist", [*SMALL, "--seq=4096", "--batch=512", "--vocab=50304"], "a100-40gb-cluster", 32,
              "data=4,model=2", ["--stages=4", "--schedule=1f1b", "--microbatches=512"], "")]
RULES = {"query": [None, "model", None], "key": [None, "model", None], "value": [None, "model", None], "projection": ["model", None, None],
         "up": [None, "model"], "down": ["model", None]}


def describe_point(report, limit):
    """Returns the seconds and the flags of the best point, or what is missing for it."""
    if report["best"]:
        point = report["best"][0]
        flags = [flag for flag in point["flags"] if not flag.startswith(("--model-lanes", "--shards"))]
        return point["seconds"], f"`{' '.join(flags)}`" + ("" if point["built"] else " (unbuilt)")
    return None, limit


def compare_published(folder):
    rules = [{"match": {"name": f"layer/*/{name}/weight"}, "shard": dims} for name, dims in RULES.items()]
    (folder / "shards.json").write_text(json.dumps({"version": 1, "rules": rules}))
    rows = []
    for name, source, sizes, device, devices, axes, flags, measured in PUBLISHED:
        model = folder / "model.mlir"
        model.write_text(tool("reprise-zoo", "gpt2", "--optimizer=adamw", "--precision=bf16", *sizes))
        unlimited = json.loads((DEVICES / f"{device}.json").read_text())
        del unlimited["memory"]
        (folder / "unlimited.json").write_text(json.dumps(unlimited))
        common = [f"--devices={devices}", "--target=cuda:sm_80", "--contractions=library", "--model-lanes=8", f"--shards={folder / 'shards.json'}"]
        ours, seconds = search(folder, model, "auto", f"--device-file={DEVICES / device}.json", *common)
        theirs, _ = search(folder, model, f"auto,{axes}", f"--device-file={DEVICES / device}.json", *flags, *common)
        free, _ = search(folder, model, f"auto,{axes}", f"--device-file={folder / 'unlimited.json'}", *flags, *common)
        best, text = describe_point(ours, "")
        their, _ = describe_point(theirs, "")
        expect(f"published, {name}: a mesh", best is not None)
        expect(f"published, {name}: as fast as theirs", best is None or their is None or best <= their)
        expect(f"published, {name}: 60 s", seconds < 60)
        rows.append([name, source, f"{devices} x {unlimited['name'].split(',')[0]}", measured, show(their), show(free["best"][0]["seconds"]), show(best), text])
    return ["model", "configuration of", "devices", "measured by them", "theirs", "theirs without a limit of memory", "ours", "flags of ours"], rows


def show(seconds):
    return "does not fit" if seconds is None else f"{seconds:.2f} s"


def main():
    sections = {"zero": compare_zero, "activations": compare_activations, "plans": compare_plans, "published": compare_published}
    wanted = [each for each in sys.argv[1:] if not each.startswith("--")] or list(sections)
    tables = {}
    with tempfile.TemporaryDirectory() as name:
        for section in wanted:
            tables[f"meshes.{section}"] = sections[section](pathlib.Path(name))
            print(pages.make_table(*tables[f"meshes.{section}"]), "\n")
    if "--pages" in sys.argv:
        pages.write(tables, pages.make_stamp(describe_machine()))
    for each in missed:
        print(f"missed: {each}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
