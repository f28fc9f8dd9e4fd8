"""Seconds that reprise-compile takes for the training step of the 124M gpt2."""

from common import mebibytes, print_table

MODEL = ["gpt2", "--layers=12", "--width=768", "--heads=12", "--vocab=50257", "--seq=1024", "--dropout=0.1",
         "--optimizer=adamw"]
CASES = [(batch, policy) for batch in (1, 4) for policy in (None, "recompute-all")]


def measure(bench):
    rows = []
    for batch, policy in CASES:
        model = bench.zoo("large.mlir", *MODEL, f"--batch={batch}")
        flags = [f"--policy={policy}"] if policy else []
        seconds, memory = bench.measure("reprise-compile", model, "-o", bench.out / "large.rpb", "--threads=2", *flags)
        rows.append({"batch": batch, "policy": policy, "seconds": seconds, "peak_rss_bytes": memory,
                     "bundle_bytes": (bench.out / "large.rpb").stat().st_size})
    bench.save("compile", rows)
    print_table("Compile time of the 124M gpt2 step (goal: 20 s)",
                ["batch", "policy", "seconds", "resident MiB", "bundle MiB"],
                [[row["batch"], row["policy"] or "none", f"{row['seconds']:.2f}", mebibytes(row["peak_rss_bytes"]),
                  mebibytes(row["bundle_bytes"])] for row in rows])
