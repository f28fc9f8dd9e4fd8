"""Measures the seconds of reprise-compile for large training steps, and of PyTorch's first compiled step."""

from common import mebibytes, peer, print_table

LARGE = ["gpt2", "--layers=12", "--width=768", "--heads=12", "--vocab=50257", "--seq=1024", "--dropout=0.1", "--optimizer=adamw"]
RESNET = ["resnet50", "--width=64", "--image=224", "--classes=1000", "--optimizer=momentum"]
DEEP = ["gpt2", "--layers=96", "--width=384", "--heads=6", "--seq=128", "--dropout=0.1", "--optimizer=adamw"]
# Name, flags, policies, the peer's name for the model.
CASES = [
    ("gpt2 124M, batch 1", [*LARGE, "--batch=1"], (None, "recompute-all"), "gpt2 124M"),
    ("gpt2 124M, batch 4", [*LARGE, "--batch=4"], (None, "recompute-all"), None),
    ("resnet50, batch 8", [*RESNET, "--batch=8"], (None, "recompute-all"), "resnet50"),
    ("gpt2, 96 layers", [*DEEP, "--batch=1"], (None, "recompute-all"), "gpt2 96 layers"),
    ("the same as one loop", [*DEEP, "--batch=1", "--loop"], (None, "recompute-all"), "gpt2 96 layers"),
]


def measure(bench, threads, compiled=True):
    rows = []
    models = {model for _, _, _, model in CASES if model} if compiled else ()
    peers = {model: peer("torch_steps.py", model, threads, "compiled", 1) for model in sorted(models)}
    for name, flags, policies, model in CASES:
        found = peers.get(model)
        for policy in policies:
            path = bench.zoo("large.mlir", *flags)
            extra = [f"--policy={policy}"] if policy else []
            seconds, memory = bench.measure("reprise-compile", path, "-o", bench.out / "large.rpb", f"--threads={threads}", *extra)
            rows.append({"case": name, "policy": policy, "seconds": seconds, "peak_rss_bytes": memory,
                         "bundle_bytes": (bench.out / "large.rpb").stat().st_size,
                         "torch_first_seconds": found["first"] if found else None})
    bench.save("compile", rows)
    first = lambda value: "–" if value is None else f"{value:.1f}"
    share = lambda row: "–" if row["torch_first_seconds"] is None else f"{row['seconds'] / row['torch_first_seconds']:.2f}"
    print_table("Compile time (goal: 20 s, a fifth of PyTorch's first compiled step)",
                ["model", "policy", "seconds", "resident (MiB)", "bundle (MiB)", "PyTorch's first step (s)", "ours / PyTorch's"],
                [[row["case"], row["policy"] or "none", f"{row['seconds']:.2f}", mebibytes(row["peak_rss_bytes"]),
                  mebibytes(row["bundle_bytes"]), first(row["torch_first_seconds"]), share(row)] for row in rows], name="compile.time")
