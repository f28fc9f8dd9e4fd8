"""Schedules within budgets and packings by reprise-plan, beside published figures."""

import json
import pathlib
import subprocess

import graphs
from common import median, print_table

# Beginnings of the files of haoming-codes/moccasin (GPL-3.0, so not here): a name, and by budget what others print, in percent.
PUBLISHED = {
    "random_layered_n100": ("RL1", {90: "FastSA 0.0, Moccasin 0.8", 80: "FastSA 0.3, Moccasin 2.3"}),
    "random_layered_n250": ("RL2", {90: "FastSA 0.0, Moccasin 0.9", 80: "FastSA 0.0, Moccasin 4.9"}),
    "random_layered_n500": ("RL3", {90: "FastSA 0.03, Moccasin 0.7", 80: "FastSA 2.3, Moccasin 3.4"}),
    "random_layered_n1000": ("RL4", {90: "FastSA 0.4, Moccasin 0.7", 80: "FastSA 2.5, Moccasin 3.4", 70: "FastSA 7.4"}),
    "fcn_8_vgg": ("FCN8", {90: "Checkmate 0.0, FastSA 0.1", 80: "Checkmate 0.1, FastSA 0.1", 70: "FastSA 3.0"}),
    "ResNet50": ("ResNet50", {90: "Checkmate 0.1, FastSA 0.2", 80: "Checkmate 0.3, FastSA 0.4", 70: "FastSA 0.8"}),
    "VGG16": ("VGG16", {}),
    "MobileNet": ("MobileNet", {}),
}
BUDGETS = [90, 80, 70, 60, 50]
# Seconds that MiniMalloc took on one core of an EPYC; its buffers go into an arena of `CAPACITY` bytes.
PACKINGS = {"A.1048576": 3.53, "C.1048576": 0.60, "F.1048576": 4.17}
CAPACITY = 1048576
HEADS = ["", "ops", "budget", "cost", "bound", "gap", "seconds", "published"]


def plan(bench, path, budget):
    """One budget's answer, and whether it was refuted if there is none."""
    command = [bench.build / "bin" / "reprise-plan", "checkpoint", path, f"--budget={budget}%", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"error: reprise-plan failed: {done.stderr.strip()}")
    return json.loads(done.stdout)[0] | {"proved": "no schedule fits" in done.stderr}


def as_row(name, ops, budget, answer, published=""):
    if answer["cost_increase_percent"] is None:
        found = ["none, proved" if answer["proved"] else "none found", "", ""]
    else:
        found = [f"{max(0.0, answer[key]):.2f} %" for key in ("cost_increase_percent", "bound_percent", "gap_percent")]
    return [name, f"{ops:,}", f"{budget} %", *found, f"{answer['seconds']:.2f}", published]


def count_ops(path):
    return len(json.loads(path.read_text())["nodes"])


def measure_files(bench, folder):
    """The graphs that others publish figures for."""
    if folder is None:
        print("The graphs of RL1, RL3, FCN8, VGG16 and MobileNet left out: they are another project's, see --graphs")
        return []
    rows, saved = [], []
    for start, (name, figures) in PUBLISHED.items():
        for path in sorted(pathlib.Path(folder).glob(start + "_*.json")):
            for budget in BUDGETS:
                answer = plan(bench, path, budget)
                rows.append(as_row(name, count_ops(path), budget, answer, figures.get(budget, "")))
                saved.append({"graph": name, "share": budget} | answer)
    print_table("Extra cost within budgets, in percent of the cost without replays", HEADS, rows)
    return saved


def measure_networks(bench):
    rows, saved = [], []
    for name, build in graphs.NETWORKS.items():
        path = bench.out / "network.json"
        path.write_text(json.dumps(build()))
        for budget in BUDGETS:
            answer = plan(bench, path, budget)
            rows.append(as_row(name, count_ops(path), budget, answer))
            saved.append({"graph": name, "share": budget} | answer)
    print_table("Training steps built from the shapes of networks", HEADS[:-1], [row[:-1] for row in rows])
    return saved


def measure_layered(bench, seeds):
    """Random layered graphs; the gaps are what is certified, not what is lost."""
    rows, saved = [], []
    for count in (100, 250, 1000, 5000):
        for budget in (90, 80):
            answers = []
            for seed in range(1, seeds + 1):
                path = bench.out / "layered.json"
                path.write_text(json.dumps(graphs.layered(count, seed)))
                answers.append(plan(bench, path, budget))
            found = [answer["gap_percent"] for answer in answers if answer["gap_percent"] is not None]
            saved += [{"graph": f"layered {count}", "seed": seed + 1, "share": budget} | answer for seed, answer in enumerate(answers)]
            gaps = [f"{median(found):.2f}", f"{max(found):.2f}"] if found else ["", ""]
            rows.append([f"{count:,}", f"{budget} %", f"{len(found)} of {seeds}", *gaps, f"{median([a['seconds'] for a in answers]):.2f}"])
    print_table("Random layered graphs: points between cost and bound", ["ops", "budget", "met", "median gap", "largest", "median seconds"], rows)
    return saved


def measure_scale(bench):
    rows, saved = [], []
    for count in (10_000, 100_000, 1_000_000):
        path = bench.out / "chain.json"
        path.write_text(json.dumps(graphs.chain(count, 1)))
        seconds, memory = bench.measure("reprise-plan", "checkpoint", path, "--budget=80%")
        rows.append([f"{count:,}", f"{seconds:.2f}", f"{memory / count:,.0f}"])
        saved.append({"graph": f"chain {count}", "share": 80, "seconds": seconds, "peak_rss_bytes": memory})
        path.unlink()
    print_table("Training steps whose forward pass is a chain, at 80 % (goals: 1, 10, 120 s, 2,048 bytes)", ["ops", "seconds", "bytes per op"], rows)
    return saved


def measure_packings(bench, folder):
    rows, saved = [], []
    for name, theirs in PACKINGS.items():
        answer = json.loads(bench.tool("reprise-plan", "offsets", folder / (name + ".csv"), f"--capacity={CAPACITY}", "--json"))
        rows.append([name.split(".")[0], answer["buffers"], f"{answer['height']:,}", f"{answer['max_load']:,}", f"{answer['seconds']:.2f}", f"{theirs:.2f}"])
        saved.append({"buffers": name} | answer)
    print_table(f"MiniMalloc's buffers, packed into {CAPACITY:,} bytes", ["", "buffers", "height", "max load", "seconds", "MiniMalloc's"], rows)
    return saved


def measure(bench, root, folder, seeds=10):
    rows = measure_files(bench, folder)
    rows += measure_networks(bench)
    rows += measure_layered(bench, seeds)
    rows += measure_scale(bench)
    rows += measure_packings(bench, root / "test/data/minimalloc")
    bench.save("planning", rows)
