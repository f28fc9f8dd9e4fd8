#!/usr/bin/env python3
"""Trains a character-level GPT on a text under several policies and prints one table.

The parameters' hashes are equal and the plans differ: that is what Reprise promises. Needs nothing but Python's own
library and the tools in the build folder.
"""

import argparse
import array
import json
import math
import pathlib
import random
import statistics
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_TEXT = "/usr/share/common-licenses/GPL-3"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path(DEFAULT_TEXT), help="the text to train on")
parser.add_argument("--steps", type=int, default=500, help="number of training steps (500)")
ARGUMENTS = parser.parse_args()
BIN, OUT, STEPS = ARGUMENTS.build / "bin", ARGUMENTS.build / "demo", ARGUMENTS.steps
BATCH, SEQ, LAYERS, WIDTH, HEADS = 16, 64, 4, 128, 4
PEAK_RATE, WARM_UP = 1.5e-3, 100
POLICIES = [None, "save-all", "dots-saveable", "recompute-all"]
BUDGET = "40%"
SAMPLE_LENGTH = 240
TIMED_ROUNDS, TIMED_STEPS = 5, min(20, STEPS)
INPUTS = [f"{argument}={OUT / file}" for argument, file in
          (("tokens", "tokens.npy"), ("labels", "labels.npy"), ("learning_rate", "rate.npy"))]


def tool(name, *arguments, capture=True):
    """Runs one of our tools; its progress bar and its errors go to the terminal."""
    command = [str(BIN / name), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE if capture else None, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} failed with exit code {done.returncode}")
    return done.stdout


def write_npy(path, kind, shape, values):
    """Version 1.0 of the format, little endian, row-major; `kind` is 'i4' or 'f4'."""
    data = array.array({"i4": "i", "f4": "f"}[kind], values)
    if sys.byteorder == "big":
        data.byteswap()
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data.tobytes())


def read_npy(path):
    """The values of a float32 array."""
    raw = pathlib.Path(path).read_bytes()
    length = struct.unpack("<H", raw[8:10])[0]
    values = array.array("f")
    values.frombytes(raw[10 + length:])
    return values


def bigram_entropy(codes, vocab):
    """Returns H(next | current) of the text itself, in nats: the best that a table of pairs could reach."""
    pairs = [[0] * vocab for _ in range(vocab)]
    for current, following in zip(codes, codes[1:]):
        pairs[current][following] += 1
    total = len(codes) - 1
    entropy = 0.0
    for row in pairs:
        seen = sum(row)
        entropy -= sum(count / total * math.log(count / seen) for count in row if count)
    return entropy


def write_batches(codes):
    """Returns one batch per step: tokens, the tokens that follow, and the learning rate."""
    pick = random.Random(1)
    tokens, labels, rates = [], [], []
    for step in range(STEPS):
        for _ in range(BATCH):
            start = pick.randrange(len(codes) - SEQ - 1)
            tokens += codes[start:start + SEQ]
            labels += codes[start + 1:start + SEQ + 1]
        fall = 0.5 * (1 + math.cos(math.pi * step / STEPS))
        rates.append(PEAK_RATE * min(1, (step + 1) / WARM_UP) * fall)
    write_npy(OUT / "tokens.npy", "i4", (STEPS, BATCH, SEQ), tokens)
    write_npy(OUT / "labels.npy", "i4", (STEPS, BATCH, SEQ), labels)
    write_npy(OUT / "rate.npy", "f4", (STEPS,), rates)


def write_model(path, vocab, batch, dropout):
    path.write_text(tool("reprise-zoo", "gpt2", f"--layers={LAYERS}", f"--width={WIDTH}", f"--heads={HEADS}",
                         f"--vocab={vocab}", f"--batch={batch}", f"--seq={SEQ}", f"--dropout={dropout}",
                         "--optimizer=adamw"))


def train(policy, budget=None, stages=1):
    """Compiles and runs the step under one policy, within a budget, or in stages; returns the row of the table."""
    name = f"{stages} stages, 1f1b" if stages > 1 else f"budget {budget}" if budget else policy or "none"
    bundle, report = OUT / f"{name}.rpb", OUT / f"{name}.json"
    flags = [f"--budget={budget}"] if budget else [f"--policy={policy}"] if policy else []
    flags += [f"--stages={stages}", "--schedule=1f1b"] if stages > 1 else []
    tool("reprise-compile", OUT / "model.mlir", "-o", bundle, f"--report={report}", f"--report={OUT / name}.html", *flags)
    print(f"training under {'no policy' if name == 'none' else name} …", file=sys.stderr)
    run = json.loads(tool("reprise-run", bundle, "--seed=1", f"--steps={STEPS}", f"--output-dir={OUT / name}", "--json",
                          *[f"--input={given}" for given in INPUTS]))
    planned = json.loads(report.read_text())
    executed = sum(map(int, tool("executed-arena", bundle, 1, *INPUTS).split()))
    programs = planned.get("programs", [planned])
    total = {key: sum(program[key] for program in programs)
             for key in ("replayed_ops", "arena_bytes", "workspace_bytes", "saved_bytes")}
    return {"policy": name, "loss": run["loss"][-1], "hash": run["hash"], "replayed_ops": total["replayed_ops"],
            "commands": run["commands"], "arena_predicted": total["arena_bytes"], "arena_executed": executed,
            "saved_bytes": total["saved_bytes"], "memory": total["arena_bytes"] + total["workspace_bytes"]}


def time_steps(rows):
    """The median seconds of a step of each plan, in turns, since other programs come and go."""
    seconds = {row["policy"]: [] for row in rows}
    for _ in range(TIMED_ROUNDS):
        for name, found in seconds.items():
            run = tool("reprise-run", OUT / f"{name}.rpb", "--seed=1", f"--steps={TIMED_STEPS}", "--json",
                       *[f"--input={given}" for given in INPUTS])
            found += json.loads(run)["step_seconds"][1:]
    for row in rows:
        row["step_seconds"] = statistics.median(seconds[row["policy"]])


def sample(alphabet, vocab):
    """Text from the trained model, one token per run of the forward pass."""
    write_model(OUT / "forward.mlir", vocab, 1, 0)
    tool("reprise-compile", OUT / "forward.mlir", "--entry=forward", "-o", OUT / "forward.rpb")
    pick = random.Random(2)
    start = [alphabet.index(c) for c in "\nThe " if c in alphabet]
    text = start or [0]
    while len(text) < SAMPLE_LENGTH:
        window = text[-SEQ:]
        write_npy(OUT / "window.npy", "i4", (1, SEQ), window + [0] * (SEQ - len(window)))
        tool("reprise-run", OUT / "forward.rpb", f"--input-dir={OUT / 'none'}", "--input",
             f"tokens={OUT / 'window.npy'}", f"--output-dir={OUT / 'sampled'}")
        logits = read_npy(OUT / "sampled" / "logits.npy")[(len(window) - 1) * vocab:len(window) * vocab]
        highest = max(logits)
        weights = [math.exp((logit - highest) / 0.8) for logit in logits]
        text.append(pick.choices(range(vocab), weights)[0])
    return "".join(alphabet[code] for code in text)


def print_table(rows, entropy):
    heads = ("policy", "loss", "hash", "replayed", "commands", "arena predicted", "arena executed", "time")
    cells = [heads] + [(row["policy"], f"{row['loss']:.4f}", row["hash"], str(row["replayed_ops"]),
                        str(row["commands"]), f"{row['arena_predicted']:,}", f"{row['arena_executed']:,}",
                        f"{row['relative_time']:.2f}") for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    for line in cells:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(line, widths))))
    print(f"\nbigram conditional entropy of the text: {entropy:.4f} nats; bytes; time relative to save-all")
    staged = next(row for row in rows if "stages" in row["policy"])
    print(f"{staged['policy']}: without micro-batches each stage waits for the other, so that the stages share memory out and no "
          "time. --microbatches=4 overlaps them, and changes the order of sums, and so the hash.")


def check(rows, entropy):
    """Checks the promises of the demo; the message names the broken promise."""
    if len({row["hash"] for row in rows}) != 1:
        sys.exit("error: the hashes of the parameters differ")
    if any(row["arena_predicted"] != row["arena_executed"] for row in rows):
        sys.exit("error: the executed arena is not the predicted one")
    if len({(row["replayed_ops"], row["arena_predicted"]) for row in rows}) < 3:
        sys.exit("error: the plans do not differ")
    most = next(row for row in rows if row["policy"] == "save-all")
    within = next(row for row in rows if row["policy"].startswith("budget"))
    if within["memory"] > float(BUDGET.rstrip("%")) / 100 * most["memory"]:
        sys.exit("error: the step takes more than its budget")
    if STEPS >= 300 and not rows[0]["loss"] < entropy:
        sys.exit("error: the loss did not fall below the bigram conditional entropy")


def main():
    source = ARGUMENTS.text
    try:
        text = source.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        sys.exit(f"error: cannot read '{source}': {error.strerror}")
    if len(text) < 4 * SEQ:
        sys.exit(f"error: '{source}' is too short to train on")
    OUT.mkdir(parents=True, exist_ok=True)
    alphabet = sorted(set(text))
    vocab = len(alphabet)
    code = {letter: index for index, letter in enumerate(alphabet)}
    codes = [code[letter] for letter in text]
    entropy = bigram_entropy(codes, vocab)
    print(f"{source}: {len(text):,} characters, {vocab} different; gpt2 {LAYERS} layers × {WIDTH}, {STEPS} steps of "
          f"{BATCH} × {SEQ} characters", file=sys.stderr)
    write_batches(codes)
    write_model(OUT / "model.mlir", vocab, BATCH, 0.1)
    rows = [train(policy) for policy in POLICIES] + [train(None, BUDGET), train(None, stages=2)]
    time_steps(rows)
    base = next(row for row in rows if row["policy"] == "save-all")["step_seconds"]
    for row in rows:
        row["relative_time"] = row["step_seconds"] / base
        row["bigram_entropy"] = entropy
    (OUT / "summary.json").write_text(json.dumps(rows, indent=2) + "\n")
    print_table(rows, entropy)
    print("\nsample:\n" + sample(alphabet, vocab))
    print(f"\nmemory over the step: {OUT / 'recompute-all.html'}")
    check(rows, entropy)


if __name__ == "__main__":
    main()
