#!/usr/bin/env python3
"""Reads changed files of every kind in one process per job, which is far faster than a tool per file.

Usage: fuzz-files.py BUILD [--count=N] [--seed=S | --seed=day] [--jobs=J] [--save=FOLDER] [KIND]...

Writes the originals into BUILD/fuzz/originals, KIND/FILE: those of mutate-inputs.py, the modules of the tests of the
dialect and of StableHLO, the device files of the documentation, and problems of the planner. Then `reprise-fuzz files`
reads N changed files of each kind (1,000). The same seed gives the same files. `day` is the number of the day times
1,000,000, so that each night continues where no other night has been. Files that fail are kept in FOLDER
(BUILD/fuzz/failed). The last line is "N passed, N failed".
"""
import argparse
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
GRAPH = {"nodes": [{"id": i, "cost_cpu": 1 + i % 3, "cost_ram": 1 + i % 4} for i in range(8)],
         "links": [{"source": i, "target": i + 1} for i in range(7)] + [{"source": 1, "target": 6}, {"source": 0, "target": 7}]}
NAMED_GRAPH = {"graph": {"order": [7, 1, 2, 0]}, "links": [{"0": 7, "1": 1}, {"0": 1, "1": 2}, {"0": 7, "1": 0}, {"0": 2, "1": 0}],
               "nodes": [{"name": name, "duration": 1, "out_cost": 4} for name in (7, 1, 2, 0)]}
UNIT = {"forward": 2, "backward": 2, "weight": 1, "saved": 100, "saved_for_weight": 20}
PIPELINES = [{"version": 1, "ranks": 2, "microbatches": 4, "units": [UNIT] * 4},
             {"version": 1, "microbatches": 3, "devices": [{"speed": 2, "memory": 1000}, {}], "units": [UNIT] * 4,
              "values": [{"unit": 0, "readers": [1, 3]}, {"unit": 2, "readers": [3], "forward": 0, "backward": 0}]}]


def load_corpus():
    specification = importlib.util.spec_from_file_location("mutate_inputs", os.path.join(HERE, "mutate-inputs.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.Corpus


def write(folder, kind, name, text):
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    with open(os.path.join(folder, kind, name), "w") as stream:
        stream.write(text)


def write_modules(folder):
    """Writes every module of the tests of the dialects and of StableHLO."""
    for room in ("Dialect/Reprise", "Dialect/Pipe", "StableHlo", "Fuzz"):
        for path in sorted(glob.glob(os.path.join(SOURCE, "test", room, "**", "*.mlir"), recursive=True)):
            with open(path) as stream:
                chunks = re.split(r"^// -----.*$", stream.read(), flags=re.M)
            for number, chunk in enumerate(chunks):
                name = f"{os.path.basename(path)[:-5]}-{number}.mlir"
                write(folder, "model", name, re.sub(r"^ *// .*\n", "", chunk, flags=re.M))


def write_originals(tools, folder):
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        for kind, cases in load_corpus()(tools, made).cases.items():
            for number, path in enumerate(sorted({path for path, _ in cases})):
                os.makedirs(os.path.join(folder, kind), exist_ok=True)
                name = os.path.basename(path)
                shutil.copy(path, os.path.join(folder, kind, f"{number}-{name}" if name == "run.json" else name))
    write_modules(folder)
    for path in glob.glob(os.path.join(SOURCE, "docs", "reference", "devices", "*.json")):
        shutil.copy(path, os.path.join(folder, "device"))
    write(folder, "problem", "graph.json", json.dumps(GRAPH))
    write(folder, "problem", "named-graph.json", json.dumps(NAMED_GRAPH))
    for number, problem in enumerate(PIPELINES):
        write(folder, "pipeline", f"{number}.json", json.dumps(problem))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("kinds", nargs="*", help="kinds of files (all)")
    parser.add_argument("--count", type=int, default=1000, help="number of files per kind (1000)")
    parser.add_argument("--seed", default="1", help="first seed, or day (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes (one per core)")
    parser.add_argument("--save", help="folder for files that fail (BUILD/fuzz/failed)")
    options = parser.parse_intermixed_args()
    build = os.path.abspath(options.build)
    seed = int(time.time()) // 86400 * 1000000 if options.seed == "day" else int(options.seed)
    folder = os.path.join(build, "fuzz", "originals")
    write_originals(os.path.join(build, "bin"), folder)
    print(f"seeds {seed} to {seed + options.count - 1}", flush=True)
    command = [os.path.join(build, "bin", "reprise-fuzz"), "files", folder, f"--seed={seed}", f"--count={options.count}",
               f"--jobs={options.jobs}", "--save=" + (options.save or os.path.join(build, "fuzz", "failed"))]
    if options.kinds:
        command.append("--kinds=" + ",".join(options.kinds))
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
