#!/usr/bin/env python3
"""Trains a step of many models of other packages with both backends at 100, 60 and 40 %, each in a process of its own.

Usage: torch_models.py [--models=NAME,…] [--backends=plan,whole] [--limit=SECONDS] [--output=FILE.json]
       torch_models.py --table=FILE.json
       torch_models.py --one=NAME --backend=plan|whole

Runs in the environment of `make test-frameworks`, on one thread. Models are those of test/Frameworks/models.py and
other_models.py. A row has, for each budget: whether loss, gradients and buffers have the bits of the run without a budget, the
peak of the step against the budget and against the prediction, seconds of a step as a share of eager's (medians, in turns),
and seconds of the first step as a share of that without a budget. The peak of "plan" is that of PyTorch's allocator, and that
of "whole" is the arenas' size.
"""
import argparse
import copy
import json
import statistics
import subprocess
import sys
import time
import traceback
import warnings

import other_models  # also finds test/Frameworks
import memory
import models
import torch

import reprise.torch

SHARES = ("60%", "40%")
ROUNDS = 5
BACKENDS = {"plan": ("reprise_plan", {"codegen": "eager"}), "whole": ("reprise", {})}


def build(name):
    return other_models.MODELS[name]() if name in other_models.MODELS else models.build(name)


def all_names():
    return list(models.CASES) + list(other_models.MODELS)


def timed(step):
    start = time.perf_counter()
    made = step()
    return time.perf_counter() - start, made


def unequal(left, right):
    return [name for name in sorted(left.keys() | right.keys()) if name not in left or name not in right
            or not torch.equal(left[name], right[name])]


class Run:
    """A model compiled with one backend and budget."""

    def __init__(self, case, buffers, backend, budget):
        self.case, self.buffers = case, buffers
        name, options = BACKENDS[backend]
        torch._dynamo.reset()
        self.before = list(reprise.torch.graphs())
        self.forward = torch.compile(case.model, backend=name, options=options | ({"budget": budget} if budget else {}))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.first, _ = timed(self.step)
            self.second, self.state = timed(self.step)
        self.least = any("least budget that was met" in str(each.message) for each in said)
        self.breaks = sum(torch._dynamo.utils.counters["graph_break"].values())

    def step(self):
        self.case.restore(self.buffers)
        loss = self.case.step(self.forward)
        return loss, *self.case.state()

    def differs(self, other):
        if not torch.equal(self.state[0], other.state[0]):
            return ["loss"]
        return unequal(self.state[1], other.state[1]) + unequal(self.state[2], other.state[2])


def ratio(case, run):
    """Returns seconds of a step as a share of eager's."""
    case.step()
    pairs = [(timed(run.step)[0], timed(case.step)[0]) for _ in range(ROUNDS)]
    return statistics.median(one / other for one, other in pairs)


def measure_plan(case, run):
    case.model.zero_grad(set_to_none=True)
    executed = memory.measure_peak(lambda: case.step(run.forward))
    steps, plans = reprise.torch.steps(), reprise.torch.plans()
    if not plans:
        raise SystemExit("Dynamo compiles nothing of this model")
    plan = steps[-1] if steps else plans[-1]
    return {"peak": executed, "predicted": plan.peak, "budget": plan.budget, "whole": plan.peak_without_replays}


def measure_whole(case, run):
    """Sums over the graphs of the run: Dynamo may cut a model into several."""
    reports = [each.report for each in reprise.torch.graphs() if all(each is not old for old in run.before)]
    return {"peak": sum(each.step_bytes for each in reports), "graphs": len(reports)}


def run_one(name, backend):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    case = build(name)
    case.step()  # lazy look-ups of a package would break the graph of a first call
    buffers = {each: value.clone() for each, value in case.model.named_buffers()}
    measure = {"plan": measure_plan, "whole": measure_whole}[backend]
    whole = Run(case, buffers, backend, None)
    result = {"name": name, "backend": backend, "breaks": whole.breaks, "first": whole.first, "seconds": ratio(case, whole),
              **{f"none_{key}": value for key, value in measure(case, whole).items()}}
    for share in SHARES:
        run = Run(case, buffers, backend, share)
        result[share] = {"differs": run.differs(whole)[:3], "least": run.least, "first": run.first / whole.first,
                         "again": run.second, "seconds": ratio(case, run), **measure(case, run)}
    return result


def run_apart(name, backend, limit):
    """Runs a model in a process of its own; an error is its last line."""
    command = [sys.executable, __file__, f"--one={name}", f"--backend={backend}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"name": name, "backend": backend, "error": f"more than {limit} seconds"}
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    return {"name": name, "backend": backend, "error": ((done.stderr.strip().splitlines() or ["?"])[-1])[:400], "text": done.stderr[-3000:]}


def describe(result, backend):
    """Returns the cells of a run with one backend."""
    runs = [result[share] for share in SHARES]
    whole = result["none_peak"]
    cells = [f"{whole / 1e3:,.0f}"]
    cells += [f"{100 * run['peak'] / whole:.0f} %{' *' if run['least'] else ''}" for run in runs] if whole else ["–", "–"]
    if backend == "plan":
        cells.append(max((f"{100 * (run['peak'] / run['predicted'] - 1):+.1f} %" for run in runs), key=lambda text: abs(float(text[:-2]))))
    cells.append(" / ".join(f"{run['seconds']:.2f}" for run in (result, *runs)))
    cells.append(" / ".join(f"{result['first'] * share:.1f}" for share in (1, *(run["first"] for run in runs))))
    return cells


def print_table(path):
    """Prints all models of a file of results, as a table of Markdown."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    rows = {}
    for result in results:
        rows.setdefault(result["name"], {})[result["backend"]] = result
    print("| model | reprise_plan, peak (kB) | at 60 % | at 40 % | prediction | step | first steps (s) "
          "| reprise, arena (kB) | at 60 % | at 40 % | step | first steps (s) | bits |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, made in rows.items():
        cells, differs = [name], []
        for backend in BACKENDS:
            result = made.get(backend, {"error": "not run"})
            if "error" in result:
                cells += [result["error"][:60], *["–"] * (5 if backend == "plan" else 4)]
                continue
            differs += [each for share in SHARES for each in result[share]["differs"]]
            cells += describe(result, backend)
        print("| " + " | ".join([*cells, ", ".join(differs) or "equal"]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models")
    parser.add_argument("--backends", default="plan,whole")
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--output", default="torch_models.json")
    parser.add_argument("--table", help="prints the table of a file of results")
    parser.add_argument("--one")
    parser.add_argument("--backend")
    given = parser.parse_args()
    if given.table:
        print_table(given.table)
        return
    if given.one:
        try:
            print(json.dumps(run_one(given.one, given.backend)))
        except Exception:
            traceback.print_exc()
            sys.exit(1)
        return
    results = []
    for name in given.models.split(",") if given.models else all_names():
        for backend in given.backends.split(","):
            results.append(run_apart(name, backend, given.limit))
            print(json.dumps({key: value for key, value in results[-1].items() if key != "text"}), flush=True)
            with open(given.output, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
