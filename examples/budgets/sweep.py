"""Trains one model within ever smaller budgets, and draws memory against time.

Usage: sweep.py MODEL.mlir [--shares=100,80,60,40] [--steps=5]      writes sweep.csv and sweep.svg

All losses are equal, whatever the budget: a row with another loss would be an error.
"""

import argparse
import csv
import json
import statistics
import subprocess


def measure(model, share, steps):
    """Bytes, seconds and loss of a step within a share, or None if no plan fits."""
    command = ["reprise-compile", model, "-o", "sweep.rpb", f"--budget={share}%", "--report=sweep.json"]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        return None
    with open("sweep.json") as stream:
        report = json.load(stream)
    text = subprocess.run(["reprise-run", "sweep.rpb", f"--steps={steps}", "--seed=1", "--json"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    run = json.loads(text)
    return {"share": share, "bytes": report["step_bytes"], "modelled": report["cost_increase"],
            "seconds": statistics.median(run["step_seconds"]), "loss": run["loss"][-1]}


def draw(rows, path):
    """Points in a square of 400 by 300, with axes from 0."""
    most_bytes, most_seconds = (max(row[key] for row in rows) for key in ("bytes", "seconds"))
    place = lambda row: (60 + 320 * row["bytes"] / most_bytes, 260 - 220 * row["seconds"] / most_seconds)
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/><text x="{x:.1f}" y="{y - 8:.1f}">{row["share"]} %</text>'
                    for row in rows for x, y in [place(row)])
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, rows))
    with open(path, "w") as stream:
        stream.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" font-family="sans-serif" font-size="11" '
                     f'text-anchor="middle"><path d="M60 20V260H390" fill="none" stroke="gray"/>'
                     f'<polyline points="{line}" fill="none" stroke="steelblue"/><g fill="steelblue">{marks}</g>'
                     f'<text x="225" y="285">arena and workspace, to {most_bytes:,} bytes</text>'
                     f'<text x="15" y="140" transform="rotate(-90 15 140)">step, to {1e3 * most_seconds:.2f} ms</text></svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the model, an MLIR file")
    parser.add_argument("--shares", default="100,80,60,40", help="budgets in percent of the step without replays (100,80,60,40)")
    parser.add_argument("--steps", type=int, default=5, help="number of steps to measure per budget (5)")
    options = parser.parse_args()
    rows = [row for share in options.shares.split(",") if (row := measure(options.model, int(share), options.steps))]
    if not rows:
        raise SystemExit("error: no share has a plan")
    with open("sweep.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, "sweep.svg")
    for row in rows:
        print(f"{row['share']} %: {row['bytes']:,} bytes, {1e3 * row['seconds']:.2f} ms, loss {row['loss']:.6f}")
    if len({row["loss"] for row in rows}) != 1:
        raise SystemExit("error: losses differ")


if __name__ == "__main__":
    main()
