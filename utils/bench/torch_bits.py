#!/usr/bin/env python3
"""Measures what one set of bits costs, and the time of first steps: one row for each model.

Usage: torch_bits.py [--rounds=15] [--limit=600] [--codes=Inductor,60%] [--save=FILE] [MODEL]...
       torch_bits.py --table FILE        prints the rows of a file of --save
       MODEL: of test/Frameworks/models.py, or gpt2-384, a GPT-2 of 6 layers of width 384; default: all
       CODE: Inductor, bits=inductor, bits=plan, or a budget of bits=plan; default: all four, with budgets of 100% and 60%

Runs in the environment of `make test-frameworks` (build/frameworks-venv/bin/python). Each code has a process with one thread
and caches of its own. The processes run their steps in turns. Step times are medians of CPU time. A first step is the CPU
time of the first forward and backward pass with that of the C++ compiler, after a tiny function has compiled the headers.
--save adds a line of JSON for each figure as soon as it is measured.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "test", "Frameworks"))
#: Steps before the first round.
WARM = 3


#: Codes that are measured; the first one is what others are compared with.
CODES = ("Inductor", "bits=inductor", "bits=plan", "100%", "60%")


def variant(code):
    """Returns the backend and the options of a code."""
    known = {"Inductor": ("inductor", None), "bits=inductor": ("reprise_plan", {"bits": "inductor"}), "bits=plan": ("reprise_plan", {})}
    return known.get(code, ("reprise_plan", {"budget": code}))


def build(name):
    import models
    import torch
    models.prepare()
    if name != "gpt2-384":
        return models.build(name)
    from transformers import GPT2Config, GPT2LMHeadModel
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_layer=6, n_embd=384, n_head=6, vocab_size=1024, n_positions=128, bos_token_id=1, eos_token_id=2))
    tokens = torch.randint(3, 1024, (4, 128))
    return models.Case(model.train(), (), {"input_ids": tokens, "labels": tokens}, lambda out: out.loss)


def cpu_seconds():
    """Returns the CPU time of this process and of the compilers that it has run."""
    return sum(os.times()[:4])


def serve(name, backend, options):
    """Runs as a process of one code: tells the time of the first step, then of one step for each line that it reads."""
    import warnings

    import torch
    warnings.simplefilter("ignore")
    case = build(name)
    torch.compile(lambda x: (x.sin().sum() * 2).cos())(torch.randn(64, 64, requires_grad=True)).backward()
    torch._dynamo.reset()
    start = cpu_seconds()
    forward = torch.compile(case.model, backend=backend, options=options)
    case.step(forward)
    print(cpu_seconds() - start, flush=True)
    for _ in range(WARM):
        case.step(forward)
    for _ in sys.stdin:
        start = time.process_time()
        case.step(forward)
        print(time.process_time() - start, flush=True)


def start(name, code, folder):
    """Starts a process of one code."""
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder, TORCHINDUCTOR_COMPILE_THREADS="1", OMP_NUM_THREADS="1",
                       HF_HUB_OFFLINE="1")
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve", repr((name, *variant(code)))], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def read_first(process, limit):
    """Returns the time of the first step, or None if the process ends before or takes longer than the limit."""
    import select
    if not select.select([process.stdout], [], [], limit)[0]:
        process.kill()
        return None
    line = process.stdout.readline()
    return float(line) if line else None


def take_turns(processes, rounds):
    """Returns the median time of a step of each process."""
    times = {name: [] for name in processes}
    for _ in range(rounds):
        for name, process in processes.items():
            process.stdin.write("step\n")
            process.stdin.flush()
            times[name].append(float(process.stdout.readline()))
    return {name: statistics.median(each) for name, each in times.items()}


def measure(name, options):
    """Yields the figures of one model as they come: (code, kind, seconds). Codes are made one after the other."""
    processes = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number, code in enumerate(options.codes):
                process = start(name, code, os.path.join(folder, str(number)))
                first = read_first(process, options.limit)
                yield code, "first", first
                if first is not None:
                    processes[code] = process
            for code, step in take_turns(processes, options.rounds).items() if options.rounds else ():
                yield code, "step", step
        finally:
            for process in processes.values():
                process.stdin.close()
                process.wait()


def show(figures, codes, kind, form, unit):
    """Returns the cells of one kind of figures: seconds of the first code, and multiples of them."""
    base = figures.get(CODES[0], {}).get(kind)
    cells = [form.format(base * unit) if base else "–"]
    for code in codes[1:]:
        found = figures.get(code, {}).get(kind)
        cells.append(f"{found / base:.2f}" if base and found else "–")
    return cells


def print_table(lines):
    """Prints the rows of lines of JSON; the last line of a figure counts."""
    rows, codes = {}, [CODES[0]]
    for line in lines:
        each = json.loads(line)
        rows.setdefault(each["model"], {}).setdefault(each["code"], {})[each["kind"]] = each["seconds"]
        codes += [each["code"]] if each["code"] not in codes else []
    codes.sort(key=lambda code: (CODES.index(code) if code in CODES else len(CODES)))
    names = [code if "=" in code else f"bits=plan, {code}" for code in codes[1:]]
    heads = ["model", "Inductor's step", *names, "Inductor's first step", *names]
    print("| " + " | ".join(heads) + " |\n|" + "---|" + "---:|" * (len(heads) - 1))
    for name, figures in rows.items():
        cells = show(figures, codes, "step", "{:.2f} ms", 1e3) + show(figures, codes, "first", "{:.1f} s", 1)
        print(f"| {name} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="steps of each code (15)")
    parser.add_argument("--limit", type=float, default=600, help="seconds until a first step is given up (600)")
    parser.add_argument("--codes", type=lambda text: text.split(","), default=CODES, help="codes, with commas (all)")
    parser.add_argument("--save", help="file that gets a line of JSON for each figure")
    parser.add_argument("--table", help="file of --save whose rows are printed")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="model of test/Frameworks/models.py (all)")
    options = parser.parse_args()
    if options.serve:
        import ast
        return serve(*ast.literal_eval(options.serve))
    if options.table:
        with open(options.table) as stream:
            return print_table(stream)
    import models
    lines = []
    for name in options.models or ["gpt2-384", *models.CASES]:
        for code, kind, seconds in measure(name, options):
            lines.append(json.dumps({"model": name, "code": code, "kind": kind, "seconds": seconds}))
            if options.save:
                with open(options.save, "a") as stream:
                    stream.write(lines[-1] + "\n")
    print_table(lines)


if __name__ == "__main__":
    main()
