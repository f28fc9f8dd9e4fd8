"""Peak resident memory of reprise-run above an empty bundle's and the persistent bytes, against arena + workspace."""

from common import mebibytes, print_table

LEAST_ARENA = 256 << 20
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


def measure(bench):
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
                     "empty_rss_bytes": base, "above_bytes": above, "ratio": above / expected,
                     "large": run["arena_bytes"] >= LEAST_ARENA})
    bench.save("memory", rows)
    print_table("Memory in MiB: resident above an empty bundle and the persistent bytes, against arena + workspace (goal: 1.05)",
                ["", "arena", "workspace", "persistent", "resident", "ratio", ""],
                [[row["case"], mebibytes(row["arena_bytes"]), mebibytes(row["workspace_bytes"]),
                  mebibytes(row["persistent_bytes"]), mebibytes(row["above_bytes"]), f"{row['ratio']:.3f}",
                  "" if row["large"] else "arena below 256 MiB"] for row in rows])
