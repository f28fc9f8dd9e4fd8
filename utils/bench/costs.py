"""Compares the cost model with the clock: the order of save-all, no policy and recompute-all, for every model of the
zoo.

The programs of a model run in turns. The noise of a pair is half the distance between the quartiles of the ratios of
its turns; closer times count as equal.
"""

import statistics

from common import median, print_table

ZOO = ["bert", "gpt2", "llama", "lstm", "mlp", "moe", "resnet18", "resnet50", "unet", "vit"]
POLICIES = {"save-all": ["--policy=save-all"], "no policy": [], "recompute-all": ["--policy=recompute-all"]}
PAIRS = [("save-all", "no policy"), ("no policy", "recompute-all"), ("save-all", "recompute-all")]
WARM_UP, TURNS, TURN_SECONDS = 3, 7, 0.2


def step_seconds(bench, bundle, threads, steps):
    found = bench.run(bundle, f"--threads={threads}", "--seed=1", f"--steps={WARM_UP + steps}")["step_seconds"]
    return median(found[WARM_UP:])


def compare(measured, modelled, pair):
    """Compares a pair of programs, and the model's prediction."""
    ratios = [second / first for first, second in zip(measured[pair[0]], measured[pair[1]])]
    low, middle, high = statistics.quantiles(ratios, n=4)
    noise = (high - low) / 2
    predicted = modelled[pair[1]] / modelled[pair[0]]
    is_equal = abs(middle - 1) <= noise
    return {"pair": pair, "measured": middle, "modelled": predicted, "noise": noise, "equal": is_equal,
            "same": is_equal or (middle > 1) == (predicted > 1)}


def prepare(bench, name, threads):
    """Compiles a bundle per policy, and returns the model's seconds."""
    model = bench.zoo("costs.mlir", name)
    bundles, modelled = {}, {}
    for i, (policy, flags) in enumerate(POLICIES.items()):
        bundles[policy], report = bench.compile(model, f"costs-{name}-{threads}-{i}.rpb", f"--threads={threads}", *flags)
        modelled[policy] = sum(report["cost"].values())
    return bundles, modelled


def measure_model(bench, name, threads, bundles, modelled):
    first = step_seconds(bench, bundles["no policy"], threads, 2)
    steps = max(3, round(TURN_SECONDS / first))
    measured = {policy: [] for policy in POLICIES}
    for _ in range(TURNS):
        for policy, bundle in bundles.items():
            measured[policy].append(step_seconds(bench, bundle, threads, steps))
    return {"model": name, "threads": threads, "measured": {policy: median(turns) for policy, turns in measured.items()},
            "modelled": modelled, "pairs": [compare(measured, modelled, pair) for pair in PAIRS]}


def describe(row):
    milliseconds = lambda seconds: f"{1e3 * seconds:.2f}"
    beside = lambda pair, key: f"{100 * (pair[key] - 1):+.1f}"
    cells = [row["model"], row["threads"], *(milliseconds(row[key]["no policy"]) for key in ("measured", "modelled"))]
    for pair in row["pairs"][:2]:
        cells += [beside(pair, "measured"), beside(pair, "modelled"), f"{100 * pair['noise']:.1f}"]
    return [*cells, "yes" if all(pair["same"] for pair in row["pairs"]) else "NO"]


def measure(bench, most_threads=2, only=None):
    prepared = [(name, threads, *prepare(bench, name, threads)) for threads in range(1, most_threads + 1)
                for name in ([only] if only in ZOO else ZOO)]
    rows = [measure_model(bench, *each) for each in prepared]
    bench.save("costs", rows)
    print_table("A step without a policy in ms; no policy beside save-all, and recompute-all beside no policy, in percent: measured, by the "
                "cost model, noise; whether the order of all three is the same", ["step", "threads", "ms", "model", "none", "model", "noise",
                "recompute", "model", "noise", "same"], [describe(row) for row in rows], name="costs.zoo")
