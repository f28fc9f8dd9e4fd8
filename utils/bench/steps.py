"""Step times against the machine's rates and against PyTorch, and where the time goes."""

import json
import re

from common import geometric_mean, median, peer, print_table, write_random
from models import MODELS
from rates import copy_rate, product_rate, product_rows

WARM_UP, STEPS, ROUNDS = 3, 10, 2


class Model:
    """A model of ours, compiled for a number of threads."""

    def __init__(self, bench, name, threads, *policy):
        flags, inputs = MODELS[name]
        self.bench, self.threads = bench, threads
        bundle = f"steps{len(policy)}.rpb"
        self.bundle, self.report = bench.compile(bench.zoo("steps.mlir", *flags), bundle, f"--threads={threads}", *policy)
        self.flags = [f"--threads={threads}", "--seed=1"]
        for argument, spec in inputs.items():
            path = bench.out / f"{argument}.npy"
            write_random(path, *spec)
            self.flags += ["--input", f"{argument}={path}"]

    def steps(self):
        return self.bench.run(self.bundle, *self.flags, f"--steps={WARM_UP + STEPS}")["step_seconds"][WARM_UP:]

    def profile(self):
        path = self.bench.out / "profile.json"
        self.bench.run(self.bundle, *self.flags, f"--steps={WARM_UP + STEPS}", f"--profile-out={path}")
        return json.loads(path.read_text())


def launches(profile):
    """The kernels of one launch together: a product is packing and multiplying; by falling seconds."""
    groups = {}
    for kernel in profile["kernels"]:
        stem = re.match(r".*?_\d+", kernel["kernel"])
        group = groups.setdefault(stem.group(0) if stem else kernel["kernel"], dict.fromkeys(("seconds", "share", "flops", "bytes", "calls"), 0))
        for key in group:
            group[key] = max(group[key], kernel[key]) if key == "calls" else group[key] + kernel[key]
    return sorted(({"launch": name, **group} for name, group in groups.items()), key=lambda row: -row["seconds"])


def by_op(rows):
    """Groups by the op that leads the launch."""
    ops = {}
    for row in rows:
        group = ops.setdefault(re.sub(r"_\d+$", "", row["launch"]), dict.fromkeys(("seconds", "share", "flops", "bytes", "calls"), 0))
        for key in group:
            group[key] += row[key]
    return sorted(({"op": name, **group} for name, group in ops.items()), key=lambda row: -row["seconds"])


def measure_model(bench, name, threads, gemm, compiled):
    model = Model(bench, name, threads)
    ours, eager = [], []
    for _ in range(ROUNDS):
        ours += model.steps()
        found = peer("torch_steps.py", name, threads, "eager", STEPS)
        eager += found["steps"] if found else []
    fast = peer("torch_steps.py", name, threads, "compiled", STEPS) if compiled and eager else None
    profile = model.profile()
    flops = sum(kernel["flops"] for kernel in profile["kernels"])
    return {"model": name, "threads": threads, "seconds": median(ours), "best": min(ours), "flops": flops,
            "gemm_gflops": gemm, "gemm_seconds": flops / gemm / 1e9, "of_gemm_rate": flops / gemm / 1e9 / median(ours),
            "eager_seconds": median(eager) if eager else None, "compiled_seconds": median(fast["steps"]) if fast else None,
            "compiled_first_seconds": fast["first"] if fast else None, "torch": fast["version"] if fast else None,
            "launches": launches(profile), "ops": by_op(launches(profile))}


def faster_peer(row):
    """Seconds of the faster of PyTorch's two, or None."""
    return min(filter(None, (row["eager_seconds"], row["compiled_seconds"])), default=None)


def print_means(rows):
    """The geometric mean over the models of PyTorch's time over ours, for each number of threads."""
    for threads in sorted({row["threads"] for row in rows}):
        ratios = [faster_peer(row) / row["seconds"] for row in rows if row["threads"] == threads and faster_peer(row)]
        if ratios:
            print(f"{threads} threads: the faster of PyTorch's takes {geometric_mean(ratios):.2f} × our time in the geometric mean "
                  f"of {len(ratios)} models, {min(ratios):.2f} × at least")


def print_shares(row, copy):
    percent = lambda part: f"{100 * part:.1f} %"
    cells = [[part.get("op") or part["launch"], f"{1e3 * part['seconds']:.2f}", percent(part["share"]), f"{part['calls']:.0f}",
              f"{part['flops'] / part['seconds'] / 1e9:.1f}", percent(part["flops"] / part["seconds"] / 1e9 / row["gemm_gflops"]),
              f"{part['bytes'] / part['seconds'] / 1e9:.1f}", percent(part["bytes"] / part["seconds"] / 1e9 / copy)]
             for part in [*row["ops"], *row["launches"][:10]] if part["seconds"]]
    print_table(f"{row['model']}, {row['threads']} threads: by leading op, then the ten longest launches", ["", "ms", "share", "calls", "GFLOP/s",
                "of products", "GB/s", "of a copy"], cells)


def measure(bench, most_threads=2, compiled=True, only=None):
    products = product_rows(bench, most_threads)
    copies = {threads: copy_rate(threads) for threads in range(1, most_threads + 1)}
    rows = []
    for name in MODELS if only is None else [only]:
        for threads in range(1, most_threads + 1):
            rows.append(measure_model(bench, name, threads, product_rate(products, threads), compiled))
            rows[-1]["copy_gbytes"] = copies[threads]
    bench.save("steps", rows)
    bench.save("products", products)
    milliseconds = lambda value: "–" if value is None else f"{1e3 * value:.1f}"
    times = lambda value, row: "–" if value is None else f"{value / row['seconds']:.2f}"
    print_table("A training step, medians in ms; the products' time is the step's FLOPs at the rate of the better of our products and oneDNN's",
                ["", "threads", "GFLOP", "GFLOP/s", "at that rate", "ours", "of rate", "eager", "× ours", "compiled", "× ours"],
                [[row["model"], row["threads"], f"{row['flops'] / 1e9:.1f}", f"{row['gemm_gflops']:.0f}",
                  milliseconds(row["gemm_seconds"]), milliseconds(row["seconds"]), f"{row['of_gemm_rate']:.2f}",
                  milliseconds(row["eager_seconds"]), times(row["eager_seconds"], row),
                  milliseconds(row["compiled_seconds"]), times(row["compiled_seconds"], row)] for row in rows], name="steps.time")
    print_means(rows)
    for row in rows:
        print_shares(row, row["copy_gbytes"])
