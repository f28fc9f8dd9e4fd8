"""Compares schedules within budgets and packings by reprise-plan with published figures."""

import json
import os
import subprocess

import graphs
import packings
from common import median, print_table

# Keys are beginnings of the files of haoming-codes/moccasin (GPL-3.0, so not included here). Values are a name, and by
# budget the published percentages.
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
# MiniMalloc's buffers, with their capacity, and its seconds on one core of an EPYC.
PACKINGS = {"input.12": "", "A.1048576": "3.53", "C.1048576": "0.60", "F.1048576": "4.17", "I.1048576": "2.64"}
HEADS = ["", "ops", "budget", "cost", "bound", "gap", "seconds", "published"]


def answer(bench, *arguments):
    """Returns the answer of reprise-plan, with its seconds of CPU; `proved` if there is no plan at all."""
    command = [bench.build / "bin" / "reprise-plan", *map(str, arguments), "--json"]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"error: reprise-plan failed: {done.stderr.strip()}")
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    found = json.loads(done.stdout)
    return (found[0] if isinstance(found, list) else found) | {"seconds": seconds, "proved": "no schedule fits" in done.stderr}


def plan(bench, path, budget):
    return answer(bench, "checkpoint", path, f"--budget={budget}%")


def as_row(name, ops, budget, answer, published=""):
    if answer["cost_increase_percent"] is None:
        found = ["none, proved" if answer["proved"] else "none found", "", ""]
    else:
        found = [f"{max(0.0, answer[key]):.2f} %" for key in ("cost_increase_percent", "bound_percent", "gap_percent")]
    return [name, f"{ops:,}", f"{budget} %", *found, f"{answer['seconds']:.2f}", published]


def count_ops(path):
    return len(json.loads(path.read_text())["nodes"])


def measure_files(bench, folders):
    """The graphs that others publish figures for."""
    rows, saved = [], []
    for start, (name, figures) in PUBLISHED.items():
        for path in sorted(path for folder in folders for path in folder.glob(start + "_*.json")):
            for budget in BUDGETS:
                found = plan(bench, path, budget)
                rows.append(as_row(name, count_ops(path), budget, found, figures.get(budget, "")))
                saved.append({"graph": name, "share": budget} | found)
    if not rows:
        print("The graphs of RL1, RL3, FCN8, VGG16 and MobileNet left out: they are another project's, see --graphs")
        return []
    print_table("Extra cost within budgets, in percent of the cost without replays", HEADS, rows, name="planning.graphs")
    return saved


def measure_networks(bench):
    rows, saved = [], []
    for name, build in graphs.NETWORKS.items():
        path = bench.out / "network.json"
        path.write_text(json.dumps(build()))
        for budget in BUDGETS:
            found = plan(bench, path, budget)
            rows.append(as_row(name, count_ops(path), budget, found))
            saved.append({"graph": name, "share": budget} | found)
    print_table("Training steps built from the shapes of networks", HEADS[:-1], [row[:-1] for row in rows], name="planning.steps")
    return saved


def measure_layered(bench, seeds):
    """Plans random layered graphs; the gaps are uncertified, which does not mean lost."""
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
    print_table("Random layered graphs: points between cost and bound", ["ops", "budget", "met", "median gap", "largest", "median seconds"], rows, name="planning.layered")
    return saved


def plan_chain(bench, count):
    """Seconds of CPU and peak resident bytes."""
    path = bench.out / "chain.json"
    path.write_text(json.dumps(graphs.chain(count, 1)))
    before = os.times()
    _, memory = bench.measure("reprise-plan", "checkpoint", path, "--budget=80%")
    after = os.times()
    path.unlink()
    return after.children_user + after.children_system - before.children_user - before.children_system, memory


def measure_scale(bench):
    """Plans chains. Bytes are those above the program's bytes for ten operations."""
    rows, saved, (_, least) = [], [], plan_chain(bench, 10)
    for count in (10_000, 100_000, 1_000_000):
        seconds, memory = plan_chain(bench, count)
        rows.append([f"{count:,}", f"{seconds:.2f}", f"{1e6 * seconds / count:.1f}", f"{(memory - least) / count:,.0f}"])
        saved.append({"graph": f"chain {count}", "share": 80, "seconds": seconds, "peak_rss_bytes": memory, "least_rss_bytes": least})
    print_table("Training steps whose forward pass is a chain, at 80 % (goals: 1, 10, 120 s; 2,048 bytes; times within a factor of 2)",
                ["ops", "seconds", "us per op", "bytes per op"], rows, name="planning.chains")
    return saved


def measure_packings(bench, own, folders):
    """Packs MiniMalloc's buffers at their capacities, those of others as low as possible, and 62,000 of a training
    step."""
    step = bench.out / "step.csv"
    step.write_text(graphs.buffers(62_000, 1))
    problems = [(name.split(".")[0], own / (name + ".csv"), [f"--capacity={name.split('.')[1]}"], theirs) for name, theirs in PACKINGS.items()]
    problems += [(path.stem, path, [], "") for folder in folders for path in sorted(folder.glob("*.csv")) if path.stem not in PACKINGS]
    rows, saved = [], []
    for name, path, flags, theirs in [*problems, ("a training step", step, [], "")]:
        found = answer(bench, "offsets", path, *flags)
        above = 100 * (found["height"] / found["max_load"] - 1)
        rows.append([name, f"{found['buffers']:,}", f"{found['height']:,}", f"{found['max_load']:,}", f"+{above:.2f} %", f"{found['seconds']:.2f}", theirs])
        saved.append({"buffers": name} | found)
    print_table("Packings", ["", "buffers", "height", "max load", "above", "seconds", "MiniMalloc's"], rows, name="planning.packings")
    return saved


def measure_cuts(bench, first=5000, count=100):
    """Packs arenas cut into 200 to 500 buffers: counts those that are restored, with five seconds of CPU each."""
    rows, saved, path = [], [], bench.out / "cuts.csv"
    for seed in range(first, first + count):
        path.write_text(packings.as_csv(packings.build(seed)))
        found = answer(bench, "offsets", path, f"--capacity={packings.CAPACITY}")
        saved.append({"buffers": f"cuts {seed}", "style": packings.STYLES[seed % len(packings.STYLES)],
                      "packed": found["height"] <= packings.CAPACITY and found["seconds"] <= 5} | found)
    for style in packings.STYLES:
        few = [row for row in saved if row["style"] == style]
        seconds = [row["seconds"] for row in few]
        rows.append([style, f"{sum(row['packed'] for row in few)} of {len(few)}", f"{median(seconds):.2f}", f"{max(seconds):.2f}"])
    print_table("Arenas cut into buffers, packed again", ["", "packed within 5 s", "median seconds", "longest"], rows, name="planning.arenas")
    return saved


def measure(bench, root, folders, seeds=10):
    rows = measure_files(bench, folders)
    rows += measure_networks(bench)
    rows += measure_layered(bench, seeds)
    rows += measure_scale(bench)
    rows += measure_packings(bench, root / "test/data/minimalloc", folders)
    rows += measure_cuts(bench)
    bench.save("planning", rows)
