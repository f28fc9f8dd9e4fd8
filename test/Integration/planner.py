#!/usr/bin/env python3
"""The planner alone: its plans, packings and pipelines are judged in Python, and what is wrong in a file is refused."""

import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from checks import check, finish, read_json, refuses, same_file, tool, write_json, zoo

SOURCE = pathlib.Path(os.environ["REPRISE_SOURCE"])
sys.path.insert(0, str(SOURCE / "utils" / "bench"))
import graphs  # noqa: E402
import packings  # noqa: E402


def node(i, **other):
    return {"id": i, "cost_cpu": 1, "cost_ram": 1, **other}


def problem(*operations, **members):
    return {"version": 1, "operations": list(operations), **members}


def plan_checkpoint(given, *flags):
    """Returns the rows of a plan that must be found."""
    write_json("problem.json", given)
    return json.loads(tool("reprise-plan", "checkpoint", "problem.json", "--json", *flags))


def measure(runs, reads, size, counts_unread):
    """Returns the largest number of bytes that are live at once; each run reads what it must."""
    last = list(range(len(runs)))
    for place, run in enumerate(runs):
        sources = [runs[source]["operation"] for source in run["sources"]]
        assert sources == reads[run["operation"]] and all(source < place for source in run["sources"]), (place, run)
        for source in run["sources"]:
            last[source] = place
    live = [sum(size[run["operation"]] for i, run in enumerate(runs) if i <= place <= last[i] and (counts_unread or i < last[i])) for place in range(len(runs))]
    return max(live)


def check_graph():
    """A graph with a long edge."""
    costs, sizes, links = (5, 1, 1, 1, 1), (8, 4, 6, 1, 1), [(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)]
    nodes = [node(i, cost_cpu=cost, cost_ram=size) for i, (cost, size) in enumerate(zip(costs, sizes))]
    plan_checkpoint({"nodes": nodes, "links": [{"source": a, "target": b} for a, b in links]}, "--budget=70%", "-o", "plan.json")
    plan, reads = read_json("plan.json"), [sorted(a for a, b in links if b == i) for i in range(5)]
    peak = measure(plan["executions"], reads, sizes, True)
    check("a graph: the peak", peak == plan["peak"] <= 12 and {run["operation"] for run in plan["executions"]} == set(range(5)), peak)


def check_chain():
    """Each operation is a launch and reads memory; the budgets compete, so that cost falls as they rise."""
    size = [100, 120, 100, 80, 100, 100, 100, 80, 100, 120, 100]
    reads = [[], [0], [1], [2], [3], [4], [4, 5], [3, 6], [2, 7], [1, 8], [0, 9]]
    cost = [1, 1, 2, 1, 1, 3, 2, 2, 2, 2, 2]
    chain = problem(*({"cost": cost[i], "backward": i > 5, "operands": reads[i], "results": [size[i]]} for i in range(11)))
    costs, budgets = [], range(360, 720, 20)
    for budget in budgets:
        row, = plan_checkpoint(chain, f"--budget={budget}", "-o", "plan.json")
        plan = read_json("plan.json")
        peak = measure(plan["executions"], reads, size, False)
        order = [run["operation"] for run in plan["executions"] if not run["replay"]]
        replayed = sum(cost[run["operation"]] for run in plan["executions"] if run["replay"])
        check(f"a chain within {budget}", peak == row["peak"] == plan["peak"] <= budget and replayed == row["cost"] and order == list(range(11)) and
              row["gap_percent"] >= -1e-9, f"{peak} {replayed} {row}")
        costs.append(replayed)
    best = [row["cost"] for row in plan_checkpoint(chain, *(f"--budget={budget}" for budget in budgets))]
    check("a chain: all budgets together", best == sorted(best, reverse=True) and all(a <= b for a, b in zip(best, costs)) and best[-1] == 0 < best[0], f"{best} {costs}")


def check_launches():
    """400 forward operations of 10 ns, of which half are small enough to be computed again, and a launch of 500 ns."""
    forward = [{"cost": 1e-8, "kind": "other", "operands": [i - 1] if i else [None], "results": [64]} for i in range(400)]
    backward = [{"cost": 1e-8, "kind": "other", "backward": True, "operands": [399 - i] + ([399 + i] if i else []), "results": [64]} for i in range(400)]
    for prices in {}, {"launch_cost": 5e-7}:
        row, = plan_checkpoint(problem(*forward, *backward, total_cost=800 * 5.1e-7, **prices), "--budget=50%", "-o", "plan.json")
        replays, cost = sum(run["replay"] > 0 for run in read_json("plan.json")["executions"]), row["cost_increase_percent"]
        good = abs(cost - 100 * replays / 800) < 0.1 if prices else cost < 1
        check(f"replays of tiny launches, {prices}", replays > 150 and good, f"{cost} % for {replays}")


def check_graphs():
    """Budgets of one call know what the others met; the search from the end serves graphs that are too large for annealing."""
    write_json("hundred.json", graphs.layered(100, 1))
    shares = [f"--budget={share}%" for share in range(90, 45, -5)]
    done = subprocess.run(["reprise-plan", "checkpoint", "hundred.json", "--time-limit=0", *shares], capture_output=True, text=True)
    peaks, lowest = ([int(number.replace(",", "")) for number in re.findall(pattern, text)]
                     for pattern, text in ((r"peak .*?\(([0-9,]+) bytes\)", done.stdout), (r"a schedule within .*?\(([0-9,]+) bytes\) was", done.stderr)))
    check("budgets of one call", done.returncode == 1 and peaks and lowest and max(lowest) <= min(peaks), f"{peaks} {lowest}")
    check("a large graph", plan_checkpoint(graphs.layered(8210, 1), "--budget=90%")[0]["cost_increase_percent"] > 0)


def check_model(model, share):
    """The problem of a real step: no dearer than what the compiler finds for the same bytes, with the same bound."""
    target = ["--target=cpu:x86-64-v3", "--threads=2"]
    tool("reprise-opt", model, "--reprise-to=autodiff", "--reprise-export-problem=target=cpu:x86-64-v3 threads=2 output=step.json", "-o", os.devnull)
    tool("reprise-compile", model, *target, "--estimate", f"--budget={share}%", "--report=report.json")
    report = read_json("report.json")
    budget = report["budget"]["bytes"] - report["workspace_bytes"]
    row, = json.loads(tool("reprise-plan", "checkpoint", "step.json", f"--budget={budget}", "--json", "-o", "plan.json"))
    check(f"{model}: reordered, within the budget", report["budget"]["reordered"] and row["reordered"] and row["peak"] <= budget, str(row))
    # The compiler's plan leaves room for its packing, so the planner's is no dearer.
    check(f"{model}: the cost", row["cost_increase_percent"] <= 100 * report["budget"]["cost_increase"] + 1e-9, f"{row} {report['budget']}")
    check(f"{model}: the bound", abs(row["bound_percent"] - 100 * report["bound"]) < 1e-9, f"{row} {report['bound']}")
    return budget


def check_models():
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=64", "--seq=32", "--vocab=64")
    budget = check_model("gpt2.mlir", 60)
    check("gpt2: replays", any(value["decision"] == "replayed" for value in read_json("plan.json")["values"]))
    tool("reprise-plan", "checkpoint", "step.json", f"--budget={budget}", "-o", "again.json")
    same_file("gpt2: the same plan again", "plan.json", "again.json")
    zoo("resnet18.mlir", "resnet18")
    check_model("resnet18.mlir", 70)
    order = read_json("plan.json")["order"]
    check("resnet18: another order", sorted(order) == list(range(len(order))) and order != sorted(order))


def long_buffers(count):
    """Buffers that live 10 to 60 % of the time, any size up to 100,000."""
    pick, end = random.Random(4), 1000000
    for _ in range(count):
        life = int(end * pick.uniform(0.1, 0.6))
        lower = pick.randrange(1 - life, end)
        yield max(0, lower), min(end, lower + life), pick.randrange(1, 100001)


def pack(buffers, *flags):
    """Packs (lower, upper, size) into packed.csv; returns the row."""
    lines = ["id,lower,upper,size"] + [f"{i},{lower},{upper},{size}" for i, (lower, upper, size) in enumerate(buffers)]
    return pack_text("\n".join(lines) + "\n", *flags)


def pack_text(text, *flags):
    pathlib.Path("buffers.csv").write_text(text)
    return json.loads(tool("reprise-plan", "offsets", "buffers.csv", "--json", "-o", "packed.csv", *flags))


def judge_packing(name, capacity):
    given, packed = (list(csv.DictReader(open(path))) for path in ("buffers.csv", "packed.csv"))
    rows = [tuple(int(row[key]) for key in ("lower", "upper", "size", "offset")) for row in packed]
    clashes = [(i, k) for i, (lower, upper, size, offset) in enumerate(rows) for k, (l, u, s, o) in enumerate(rows[:i])
               if upper > l and u > lower and offset + size > o and o + s > offset]
    check(f"{name}: buffers as they were given", [{key: row[key] for key in given[0]} for row in packed] == given)
    check(f"{name}: apart within {capacity} bytes", not clashes and all(0 <= offset <= capacity - size for _, _, size, offset in rows), str(clashes[:3]))


def check_packings():
    """Arenas that were cut into buffers, with no room to spare, are put together again; others come near the largest load."""
    pack([(0, 3, 4), (3, 9, 4), (0, 9, 4), (9, 21, 4), (0, 21, 4)], "--capacity=12")
    judge_packing("five buffers", 12)
    pieces = packings.cut(random.Random(5), 120, 1000, 1)
    row = pack([(first, last, high - low) for first, last, low, high in pieces], f"--capacity={packings.CAPACITY}")
    check("120 pieces: no byte is wasted", (row["buffers"], row["height"], row["max_load"]) == (120, packings.CAPACITY, packings.CAPACITY), str(row))
    judge_packing("120 pieces", packings.CAPACITY)
    os.rename("packed.csv", "first.csv")
    tool("reprise-plan", "offsets", "buffers.csv", f"--capacity={packings.CAPACITY}", "-o", "packed.csv")
    same_file("120 pieces: the same way twice", "first.csv", "packed.csv")
    for seed in (10, 41, 12, 8, 9):
        # A search from the bottom up loses its way in these, one of each style of the benchmark.
        pack_text(tool(sys.executable, packings.__file__, seed), f"--capacity={packings.CAPACITY}")
        judge_packing(f"cut arena {seed}", packings.CAPACITY)
    for name, buffers, most in ("a step's 62,000", graphs.step_buffers(62000, 1), 1.001), ("6,500 long", long_buffers(6500), 1.018):
        row = pack(buffers)
        check(f"{name} buffers", row["height"] <= most * row["max_load"], str(row))


def check_pipeline():
    """The fastest schedule of a step of equal units, as the page and the trace draw it."""
    unit = {"forward": 0.5, "backward": 0.5, "weight": 0.5, "saved_for_weight": 1000}
    write_json("table.json", {"version": 1, "ranks": 4, "microbatches": 12, "units": [unit] * 8})
    tool("reprise-plan", "pipeline", "table.json", "-o", "best.json", "--gantt=best.html", "--trace=trace.json")
    text = pathlib.Path("best.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1))["pipeline"]
    check("the page has the schedule", read_json("best.json")["ranks"] == [[each["piece"] for each in rank["passes"]] for rank in data["ranks"]])
    check("the page has the figures", (data["microbatches"], data["makespan"], round(data["bubble_of_total_percent"], 9)) == (12, 37.5, 4))
    check("the page has times", data["ranks"][0]["passes"][0] == {"piece": "0F0", "begin": 0, "end": 0.5})
    check("the page has peaks", all(rank["peak"] == 8000 for rank in data["ranks"]))
    check("the trace has all pieces", sum(event["ph"] == "X" for event in read_json("trace.json")["traceEvents"]) == 8 * 12 * 3)
    write_json("pieces.json", {"version": 1, "ranks": 4096, "microbatches": 1048576, "units": [{**unit, "forward": 1, "backward": 1, "weight": 1}] * 4096})
    said = refuses("too many pieces", "error: no schedule can run", "reprise-plan", "pipeline", "pieces.json")
    check("too many pieces: how many", "zb-h1: the schedule would have 12884901888 pieces: at most 67108864 are allowed" in said, said)


def main():
    check_graph()
    check_chain()
    check_launches()
    check_graphs()
    check_models()
    check_packings()
    check_pipeline()
    finish()


main()
