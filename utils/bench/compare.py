#!/usr/bin/env python3
"""Compares the speed of two builds: step times and compile times of the benchmark models, in turns in one call.

Prints the ratio of the medians (NEW / OLD) per model, and exits with 1 if a ratio is above --most. Compare a build with
a copy of itself first: that shows the ratio which this machine measures without any cause.
"""

import argparse
import sys

from common import Bench, geometric_mean, median, print_table
from models import MODELS
from steps import Model


def measure(benches, name, threads, turns):
    """Returns, per measure, the samples of each build: A B A B …"""
    models = [Model(bench, name, threads) for bench in benches]
    samples = {"step": ([], []), "compile": ([], [])}
    for _ in range(turns):
        for side, (bench, model) in enumerate(zip(benches, models)):
            samples["step"][side].extend(model.steps())
            source, bundle = bench.out / "steps.mlir", bench.out / "compare.rpb"
            samples["compile"][side].append(bench.measure("reprise-compile", source, "-o", bundle, f"--threads={threads}")[0])
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="build folder that is the measure")
    parser.add_argument("new", help="build folder that is judged; other than OLD, since results go to FOLDER/bench")
    parser.add_argument("--most", type=float, default=1.05, help="largest ratio that is no failure (1.05)")
    parser.add_argument("--turns", type=int, default=5, help="turns of each build (5)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a step (2)")
    parser.add_argument("--model", choices=list(MODELS), action="append", help="this model only; may be repeated")
    options = parser.parse_args()
    benches = [Bench(options.old), Bench(options.new)]
    if benches[0].out == benches[1].out:
        sys.exit("error: OLD and NEW are one folder: copy it, to compare a build with itself")
    rows = []
    for name in options.model or MODELS:
        for measured, (old, new) in measure(benches, name, options.threads, options.turns).items():
            rows.append((name, measured, median(old), median(new), median(new) / median(old)))
    print_table(f"{options.new} against {options.old}, medians of {options.turns} turns in ms", ["", "", "old", "new", "new / old"],
                [[name, measured, f"{1e3 * old:.1f}", f"{1e3 * new:.1f}", f"{ratio:.3f}"] for name, measured, old, new, ratio in rows])
    for measured in ("step", "compile"):
        mean = geometric_mean([row[4] for row in rows if row[1] == measured])
        print(f"{measured}: {mean:.3f} in the geometric mean")
    slower = [f"{name} ({measured}: {ratio:.3f})" for name, measured, _, _, ratio in rows if ratio > options.most]
    if slower:
        sys.exit(f"error: above {options.most}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
