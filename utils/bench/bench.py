#!/usr/bin/env python3
"""Measures memory, step times and compile time; prints tables and writes build/bench/*.json.

Nothing here passes or fails: figures depend on the machine. What is compared runs in turns in one call.
"""

import argparse
import os
import pathlib

import budgets
import compile_time
import costs
import kernels
import labels
import memory
import models
import pages
import pipelines
import planning
import products
import saved
import scale
import steps
from common import TABLES, Bench, machine

SECTIONS = ["memory", "steps", "compile", "contractions", "convolutions", "kernels", "scale", "labels", "planning", "budgets", "costs", "pipelines"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--build", default=root / "build", help="the build folder")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="a section; may be repeated")
    parser.add_argument("--model", choices=list(models.MODELS), help="memory, steps, budgets and costs: this model only")
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))), help="steps and costs: from 1 to this many; memory: this many")
    parser.add_argument("--no-compiled", action="store_true", help="steps and compile: leave torch.compile out (it takes a minute per model)")
    parser.add_argument("--graphs", type=pathlib.Path, metavar="FOLDER", action="append", default=[],
                        help="planning: the graphs of haoming-codes/moccasin or buffers as CSV, which are not ours to copy; may be repeated")
    parser.add_argument("--full", action="store_true", help="pipelines: with GPT-2 of 124M parameters, which takes minutes and GiB")
    parser.add_argument("--pages", action="store_true", help="write the tables into docs/reference/benchmarks, with commit, machine and date")
    options = parser.parse_args()
    bench = Bench(options.build)
    host = machine()
    print(f"{host['cpu']} (family {host['family']}, model {host['model']}), {host['cores']} cores, {host['vectors']}")
    if host["load"] > 0.5:
        print(f"warning: other programs are running (load {host['load']:.1f}); the figures will suffer")
    for section in options.only or SECTIONS:
        if section == "memory":
            memory.measure(bench, options.threads, options.model)
        elif section == "steps":
            steps.measure(bench, options.threads, not options.no_compiled, options.model)
        elif section in ("contractions", "convolutions"):
            products.measure(bench, section[:-1], options.threads)
        elif section == "kernels":
            kernels.measure(bench, options.threads)
        elif section == "scale":
            scale.measure(bench, options.threads)
        elif section == "labels":
            labels.measure(bench, root)
        elif section == "pipelines":
            pipelines.measure(bench, options.full)
        elif section == "planning":
            planning.measure(bench, root, options.graphs)
        elif section == "budgets":
            budgets.measure(bench, options.model)
            saved.measure(bench, options.model)
        elif section == "costs":
            costs.measure(bench, options.threads, options.model)
        else:
            compile_time.measure(bench, options.threads, not options.no_compiled)
    if options.pages:
        for name in pages.write(TABLES, pages.make_stamp(host)):
            print(f"note: no page has marks for the table '{name}'")


if __name__ == "__main__":
    main()
