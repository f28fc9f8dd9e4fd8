"""Peak resident memory of reprise-run above an empty bundle's and the persistent bytes, against arena + workspace; bytes
saved and arenas against PyTorch's."""

from common import mebibytes, median, peer, print_table
from models import MODELS
from steps import Model

GPT2 = ["gpt2", "--layers=6", "--width=384", "--heads=6", "--seq=128", "--vocab=256", "--dropout=0.1", "--optimizer=adamw"]
MLP = ["mlp", "--layers=6", "--width=1024", "--classes=10", "--dropout=0.1", "--optimizer=momentum"]
CASES = [
    ("gpt2, batch 32", [*GPT2, "--batch=32"], []),
    ("gpt2, batch 32, save-all", [*GPT2, "--batch=32"], ["--policy=save-all"]),
    ("gpt2, batch 96, recompute-all", [*GPT2, "--batch=96"], ["--policy=recompute-all"]),
    ("mlp, batch 16384", [*MLP, "--batch=16384"], []),
]
EMPTY = """func.func @train(%x: tensor<f32> {reprise.role = "parameter", reprise.name = "x", reprise.init = #reprise.fill<1.0>})
    -> (tensor<f32> {reprise.name = "x"}) {
  %0 = reprise.neg %x : tensor<f32>
  return %0 : tensor<f32>
}
"""


def measure_resident(bench):
    empty = bench.out / "empty.mlir"
    empty.write_text(EMPTY)
    bundle, _ = bench.compile(empty, "empty.rpb", "--threads=2")
    base = bench.run(bundle)["peak_rss_bytes"]
    rows = []
    for name, flags, policy in CASES:
        model = bench.zoo("memory.mlir", *flags)
        bundle, _ = bench.compile(model, "memory.rpb", "--threads=2", *policy)
        run = bench.run(bundle, "--seed=1", "--steps=2")
        expected = run["arena_bytes"] + run["workspace_bytes"]
        above = run["peak_rss_bytes"] - base - run["persistent_bytes"]
        rows.append({"case": name, "arena_bytes": run["arena_bytes"], "workspace_bytes": run["workspace_bytes"],
                     "persistent_bytes": run["persistent_bytes"], "peak_rss_bytes": run["peak_rss_bytes"],
                     "empty_rss_bytes": base, "above_bytes": above, "ratio": above / expected})
    bench.save("memory", rows)
    print_table("Memory in MiB: resident above an empty bundle and the persistent bytes, against arena + workspace (goal: 1.05)",
                ["model", "arena (MiB)", "workspace", "persistent", "resident above", "ratio"],
                [[row["case"], mebibytes(row["arena_bytes"]), mebibytes(row["workspace_bytes"]),
                  mebibytes(row["persistent_bytes"]), mebibytes(row["above_bytes"]), f"{row['ratio']:.3f}"] for row in rows], name="memory.resident")


def compare(bench, name, threads):
    """Measures saved bytes and arena of the default plan and of recompute-all, and the time of replays, for comparison
    with PyTorch's."""
    plain, least = Model(bench, name, threads), Model(bench, name, threads, "--policy=recompute-all")
    seconds = [[], []]
    for _ in range(2):
        for model, times in zip((plain, least), seconds):
            times += model.steps()
    row = {"model": name, "threads": threads, "replay_share": median(seconds[1]) / median(seconds[0]) - 1}
    for suffix, report in (("", plain.report), ("_recompute_all", least.report)):
        row |= {key + suffix: report[key] for key in ("saved_bytes", "arena_bytes", "workspace_bytes")}
    found = peer("torch_memory.py", name, threads)
    if found:
        row |= {"torch_" + key: value for key, value in found.items()}
        row["torch_replay_share"] = found["seconds_checkpointed"] / found["seconds"] - 1
    return row


def compare_models(bench, threads, only):
    rows = [compare(bench, name, threads) for name in (MODELS if only is None else [only])]
    bench.save("saved", rows)
    megabytes = lambda value: "–" if value is None else f"{value / 1e6:.1f}"
    ratio = lambda one, other: "–" if not other else f"{one / other:.2f}"
    percent = lambda value: "–" if value is None else f"{100 * value:+.0f} %"
    print_table("Bytes saved for the backward pass with no policy, MB (goal: 0.8 of PyTorch's compiled step, 0.5 on gpt2)",
                ["model", "ours", "PyTorch eager", "compiled", "ours / compiled"],
                [[row["model"], megabytes(row["saved_bytes"]), megabytes(row.get("torch_saved_eager")),
                  megabytes(row.get("torch_saved_compiled")), ratio(row["saved_bytes"], row.get("torch_saved_compiled"))] for row in rows], name="memory.saved")
    print_table("Arena (activations, gradients, temporaries) and PyTorch's peak of activations and temporaries, MB; time that replays add",
                ["model", "no policy", "PyTorch", "ratio", "recompute-all", "PyTorch checkpoint", "ratio", "our time", "PyTorch's"],
                [[row["model"], megabytes(row["arena_bytes"]), megabytes(row.get("torch_peak")), ratio(row["arena_bytes"], row.get("torch_peak")),
                  megabytes(row["arena_bytes_recompute_all"]), megabytes(row.get("torch_peak_checkpointed")),
                  ratio(row["arena_bytes_recompute_all"], row.get("torch_peak_checkpointed")), percent(row["replay_share"]),
                  percent(row.get("torch_replay_share"))] for row in rows], name="memory.arena")


def measure(bench, threads, only=None):
    if only is None:
        measure_resident(bench)
    compare_models(bench, threads, only)
