#!/usr/bin/env python3
"""Meshes that the search prints compile to the bytes and the makespan of its report.

Without an argument the test compiles some of the points. `mesh_search.py all` compiles every point of the reports.
"""

import pathlib

import checks
from checks import check, compile_model, estimate_model, finish, read_json, run, same_folder, tool, write_json, zoo

TEXT = ["--layers=1", "--width=32", "--heads=4", "--seq=8", "--batch=8", "--vocab=32"]
SEARCH = ["--devices=8", "--threads=2", "--time-limit=0"]
RULES = {"query": [None, "model", None], "key": [None, "model", None], "value": [None, "model", None],
         "projection": ["model", None, None], "up": [None, "model"], "down": ["model", None]}
DEVICE = {"version": 1, "name": "small", "flops": {"f32": 1e9}, "elementwise_flops": 1e9, "bytes_per_second": 1e9,
          "launch_seconds": 1e-6, "link_bytes_per_second": 1e8, "node_devices": 4, "network_bytes_per_second": 2e7}


def search(name, *flags, mesh="auto"):
    """Searches, and returns the report."""
    tool("reprise-compile", "gpt2.mlir", f"--mesh={mesh}", f"--report={name}.json", *SEARCH, *flags)
    return read_json(f"{name}.json")


def check_point(name, point, *flags):
    """Compares a point with the estimate of the same flags."""
    report = estimate_model("gpt2.mlir", *point["flags"], "--threads=2", "--time-limit=0", *flags)
    if "programs" not in report:
        return check(f"{name}: one device", [report["arena_bytes"] + report["workspace_bytes"] + report["persistent_bytes"]] == point["peaks"])
    programs = report["programs"]
    peaks = [p["arena_bytes"] + p["workspace_bytes"] + p["persistent_bytes"] for p in programs]
    check(f"{name}: peaks", peaks == point["peaks"] and max(peaks) == point["peak_bytes"], f"{peaks} instead of {point['peaks']}")
    if point["model_parts"] > 1:
        return None
    makespan = report["pipeline"]["makespan"]
    return check(f"{name}: makespan", makespan == point["makespan"], f"{makespan} instead of {point['makespan']}")


def check_points(name, report, numbers, *flags):
    best = report["best"]
    check(f"{name}: ten points in order", len(best) == 10 and best == sorted(best, key=lambda point: point["seconds"]))
    check(f"{name}: each point counts once", len(best) + sum(missed["points"] for missed in report["missed"]) == report["points"])
    for number, point in enumerate(best):
        check(f"{name}: point {number} is packed", point["packed"] and point["built"])
        if checks.everything or number in numbers:
            check_point(f"{name}, {' '.join(point['flags'])}", point, *flags)


def check_plain():
    report = search("plain", "--microbatches=8")
    search("again", "--microbatches=8")
    check("equal searches write equal bytes", pathlib.Path("plain.json").read_bytes() == pathlib.Path("again.json").read_bytes())
    check_points("plain", report, (0, 2))


def check_memory():
    """Devices of less memory have plans within it, and points that do not fit have a reason."""
    flags = ["--schedule=1f1b", "--microbatches=8", "--gathers=saved", "--device-file=device.json"]
    write_json("device.json", DEVICE)
    memory = min(point["peak_bytes"] for point in search("large", *flags)["best"])
    write_json("device.json", DEVICE | {"memory": memory})
    report = search("small", *flags)
    fitting = [point for point in report["best"] if point["peak_bytes"] <= memory]
    check("all points fit", report["best"] and fitting == report["best"], str(report))
    reasons = [missed["reason"] for missed in report["missed"]]
    check("others have too little memory", any(reason.startswith(("too little memory", "refused once packed")) for reason in reasons), str(report))
    check_point("small", report["best"][0], "--device-file=device.json")


def check_parts():
    rules = [{"match": {"name": f"layer/*/{name}/weight"}, "shard": dims} for name, dims in RULES.items()]
    write_json("shards.json", {"version": 1, "rules": rules})
    flags = ["--model-lanes=4", "--shards=shards.json", "--microbatches=4"]
    report = search("parts", *flags, mesh="auto,model=2")
    check("two parts only", {point["model_parts"] for point in report["best"]} == {2})
    reasons = {missed["reason"]: missed["points"] for missed in report["missed"]}
    check("what is not built is counted", reasons.get("unbuilt by the compiler", 0) > 0, str(reasons))
    check_point("parts", report["best"][0])
    unbuilt = search("unbuilt", "--unbuilt", *flags, mesh="auto,model=2")["best"]
    check("and listed with a mark", any(not point["built"] for point in unbuilt))


def check_bits():
    """Meshes of equal micro-batches and lanes have equal bits."""
    best = search("bits", "--microbatches=4", "--lanes=4", "--schedule=1f1b")["best"]
    for number in (0, 3):
        compile_model("gpt2.mlir", "mesh.rpb", *best[number]["flags"])
        run("mesh.rpb", f"mesh{number}", "--steps=2", "--seed=5")
    same_folder("two meshes", "mesh0", "mesh3")


def main():
    zoo("gpt2.mlir", "gpt2", "--dropout=0.1", "--optimizer=adamw", *TEXT)
    check_plain()
    check_memory()
    check_parts()
    check_bits()
    finish()


if __name__ == "__main__":
    main()
