"""Compares stages with one device, simulations with runs, plans per stage with one mode for all, and PyTorch's
pipelining."""

import collections
import json

from common import median, mebibytes, peer, print_table

WARM_UP, STEPS, ROUNDS = 1, 4, 3
# Flags of reprise-zoo, and micro-batches.
MODELS = {
    "gpt2": (["gpt2", "--layers=6", "--width=384", "--heads=6", "--batch=16", "--seq=128", "--vocab=256", "--dropout=0.1"], 8),
    "unet": (["unet", "--layers=3", "--width=32", "--batch=16", "--image=64", "--classes=10"], 8),
}
LARGE = ["gpt2", "--layers=12", "--width=768", "--heads=12", "--batch=16", "--seq=128", "--vocab=50257"]
SMALL = ["gpt2", "--layers=4", "--width=64", "--heads=4", "--batch=16", "--seq=32", "--vocab=256"]


def seconds(bench, bundle, threads):
    return bench.run(bundle, f"--threads={threads}", "--seed=1", f"--steps={WARM_UP + STEPS}")["step_seconds"][WARM_UP:]


def turns(bench, bundles):
    """Returns the median step seconds of bundles, which take turns; each is (path, threads)."""
    times = [[] for _ in bundles]
    for _ in range(ROUNDS):
        for own, (bundle, threads) in zip(times, bundles):
            own += seconds(bench, bundle, threads)
    return [median(own) for own in times]


def arenas(report):
    programs = report.get("programs", [report])
    return [program["arena_bytes"] + program["workspace_bytes"] for program in programs]


def measure_stages(bench, name):
    """Compares two stages on two cores with one device with both, with the batch whole and in as many parts."""
    flags, parts = MODELS[name]
    model = bench.zoo("pipelines.mlir", *flags)
    whole = bench.compile(model, "whole.rpb", "--threads=2")[0]
    one = bench.compile(model, "one.rpb", "--threads=2", f"--microbatches={parts}")[0]
    two, report = bench.compile(model, "two.rpb", "--threads=1", f"--microbatches={parts}", "--stages=2", "--schedule=auto")
    times = turns(bench, [(whole, 2), (one, 2), (two, 2)])
    return {"model": name, "microbatches": parts, "schedule": report["pipeline"]["schedule"], "whole_seconds": times[0],
            "one_device_seconds": times[1], "two_stages_seconds": times[2]}


def read_trace(path):
    """Per device and step: when its commands begin and end, and the seconds of its kernels and of its transfers."""
    runs = collections.defaultdict(lambda: {"begin": float("inf"), "end": 0.0, "busy": 0.0, "sends": []})
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] != "X" or event["tid"] != 0:
            continue
        run = runs[event["args"]["step"], event["pid"] - 1]
        run["begin"] = min(run["begin"], event["ts"] * 1e-6)
        run["end"] = max(run["end"], (event["ts"] + event["dur"]) * 1e-6)
        if event["name"] == "send":
            run["sends"].append(event["dur"] * 1e-6)
        elif event["name"] not in ("receive", "wait", "record"):
            run["busy"] += event["dur"] * 1e-6
    return runs


def measure_bubble(bench, name, schedule):
    """Compares the idle time of a run with a simulation by the measured seconds of its stages."""
    flags, parts = MODELS[name]
    bundle, report = bench.compile(bench.zoo("pipelines.mlir", *flags), "bubble.rpb", "--threads=1", f"--microbatches={parts}",
                                   "--stages=2", f"--schedule={schedule}")
    trace, problem = bench.out / "bubble.trace.json", bench.out / "bubble.problem.json"
    bench.run(bundle, "--threads=2", "--seed=1", f"--steps={WARM_UP + STEPS}", f"--trace={trace}")
    runs = read_trace(trace)
    measured, simulated = [], []
    pipeline = report["pipeline"]
    for step in range(WARM_UP, WARM_UP + STEPS):
        devices = [runs[step, device] for device in range(2)]
        span = max(run["end"] for run in devices) - min(run["begin"] for run in devices)
        measured.append(1 - sum(run["busy"] for run in devices) / (span * len(devices)))
        units = []
        for number, stage in enumerate(pipeline["stages"]):
            own = [other for other in pipeline["stages"] if other["rank"] == stage["rank"]]
            modelled = sum(other[key] for other in own for key in ("forward", "backward", "weight"))
            scale = devices[stage["rank"]]["busy"] / parts / modelled
            units.append({key: scale * stage[key] for key in ("forward", "backward", "weight")})
        send = median([seconds for run in devices for seconds in run["sends"]])
        values = [{"unit": unit, "readers": [unit + 1], "forward": send, "backward": send} for unit in range(len(units) - 1)]
        problem.write_text(json.dumps({"version": 1, "ranks": 2, "microbatches": parts, "chunks": max(2, pipeline["chunks"]),
                                       "units": units, "values": values}))
        found = json.loads(bench.tool("reprise-plan", "pipeline", problem, f"--schedule={schedule}", "--json"))
        simulated.append(found["schedules"][0]["bubble_of_total_percent"] / 100)
    return {"model": name, "schedule": schedule, "measured": median(measured), "simulated": median(simulated),
            "modelled": pipeline["bubble_of_total_percent"] / 100}


def measure_plans(bench, name, flags, parts, stages):
    """Compares plans per stage with `--checkpoint=always`, within the latter's peak on its fullest device."""
    model = bench.zoo("pipelines.mlir", *flags)
    common = ["--threads=1", f"--microbatches={parts}", f"--stages={stages}", "--schedule=1f1b"]
    always, report = bench.compile(model, "always.rpb", *common, "--checkpoint=always")
    budget = max(arenas(report))
    planned, within = bench.compile(model, "planned.rpb", *common, f"--budget={budget}")
    never, free = bench.compile(model, "never.rpb", *common, "--checkpoint=never")
    times = turns(bench, [(always, 2), (planned, 2), (never, 2)])
    return {"model": name, "stages": stages, "budget": budget, "planned_bytes": max(arenas(within)), "never_bytes": max(arenas(free)),
            "always_seconds": times[0], "planned_seconds": times[1], "never_seconds": times[2]}


def measure_peer(bench, name, flags):
    """Runs four stages, sixteen micro-batches, 1f1b: peaks per device and step time in comparison with
    torch.distributed.pipelining."""
    bundle, report = bench.compile(bench.zoo("pipelines.mlir", *flags), "peer.rpb", "--threads=1", "--microbatches=16", "--stages=4",
                                   "--schedule=1f1b")
    ours = []
    for _ in range(ROUNDS):
        ours += seconds(bench, bundle, 4)
    options = dict(flag.lstrip("-").split("=") for flag in flags[1:])
    theirs = peer("torch_pipeline.py", *(options[key] for key in ("layers", "width", "heads", "batch", "seq", "vocab")), 16, STEPS)
    persistent = [program["persistent_bytes"] for program in report["programs"]]
    return {"model": name, "seconds": median(ours), "peaks": [rank["peak"] for rank in report["pipeline"]["ranks"]],
            "arenas": arenas(report), "persistent": persistent, "torch": theirs}


def measure(bench, is_full):
    rows = {"stages": [measure_stages(bench, name) for name in MODELS],
            "bubble": [measure_bubble(bench, name, schedule) for name in MODELS for schedule in ("gpipe", "1f1b")],
            "plans": [measure_plans(bench, name, *MODELS[name], 2) for name in MODELS], "peers": []}
    if is_full:
        rows["plans"].append(measure_plans(bench, "gpt2 124M", LARGE, 16, 4))
    rows["peers"].append(measure_peer(bench, *(("gpt2 124M", LARGE) if is_full else ("gpt2", SMALL))))
    print_table("Two stages on two cores, seconds of one device over those of two stages", ["model", "schedule", "batch whole on one device / two stages", "8 micro-batches on one device / two stages"],
                [(row["model"], row["schedule"], f"{row['whole_seconds'] / row['two_stages_seconds']:.3f}",
                  f"{row['one_device_seconds'] / row['two_stages_seconds']:.3f}") for row in rows["stages"]], name="pipelines.stages")
    print_table("Bubble of the total", ["model", "schedule", "measured", "simulated with measured stages", "by the cost model"],
                [(row["model"], row["schedule"], *(f"{100 * row[key]:.1f} %" for key in ("measured", "simulated", "modelled")))
                 for row in rows["bubble"]], name="pipelines.bubble")
    print_table("Plans per stage beside --checkpoint=always at its peak", ["model", "stages", "MiB", "time saved", "time saved by `never`, which takes more"],
                [(row["model"], row["stages"], mebibytes(row['budget']), f"{100 * (1 - row['planned_seconds'] / row['always_seconds']):.1f} %",
                  f"{100 * (1 - row['never_seconds'] / row['always_seconds']):.1f} %") for row in rows["plans"]], name="pipelines.plans")
    for row in rows["peers"]:
        if row["torch"]:
            print_table(f"{row['model']}, 4 stages, 16 micro-batches, 1f1b; PyTorch {row['torch']['version']} beside it",
                        ["device", "peak MiB", "PyTorch's"], [(device, mebibytes(own), mebibytes(other)) for device, (own, other)
                                                             in enumerate(zip(row["peaks"], row["torch"]["peaks"]))])
            print(f"PyTorch's step takes {row['torch']['seconds'] / row['seconds']:.2f} times as long")
    print(f"wrote {bench.save('pipelines', rows)}")
