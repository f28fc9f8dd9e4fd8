"""GFLOP/s of convolutions and their gradients: ours, oneDNN's and PyTorch's, shape by shape."""

import json
import math
import subprocess
import time


def torch_rate(row, threads):
    """GFLOP/s of PyTorch on [n, c, y, x], the best of several runs."""
    import torch
    torch.set_num_threads(threads)
    samples, channels, size, outputs, window, stride, padding, groups = row["sizes"]
    image = torch.rand(samples, channels, size, size)
    filters = torch.rand(outputs, channels // groups, window, window)
    attributes = [stride, stride], [padding, padding], [1, 1], False, [0, 0], groups
    run = lambda: torch.ops.aten.convolution(image, filters, None, *attributes)
    output = run()
    if row["direction"] != "forward":
        wanted = [row["direction"] == "image", row["direction"] == "filter", False]
        run = lambda: torch.ops.aten.convolution_backward(output, image, filters, None, *attributes, wanted)
    calls = max(1, int(1e8 / row["flops"]))
    best = math.inf
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        best = min(best, (time.perf_counter() - start) / calls)
    return row["flops"] / best / 1e9


def measure(bench, most_threads):
    built = subprocess.run(["cmake", "--build", str(bench.build), "--target", "bench-convolution"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not built:
        print("convolutions: oneDNN is missing (Debian: libdnnl-dev), nothing is compared")
        return
    try:
        import torch
    except ImportError:
        torch = None
        print("convolutions: PyTorch is missing")
    path = bench.out / "convolution.json"
    bench.tool("bench-convolution", f"--threads={most_threads}", f"--json={path}")
    rows = json.loads(path.read_text())
    peers = ["onednn"] + (["torch"] if torch else [])
    print("\nconvolutions, GFLOP/s: ours" + "".join(f", {peer}" for peer in peers) + f", for 1 to {most_threads} threads")
    for row in rows:
        cells = []
        for threads in range(1, most_threads + 1):
            if torch:
                row[f"torch_{threads}"] = torch_rate(row, threads)
            cells.append(" ".join(f"{row[f'{name}_{threads}']:7.1f}" for name in ["own"] + peers))
        print(f"{row['shape']:30} | " + " | ".join(cells))
    for peer in peers:
        for threads in range(1, most_threads + 1):
            ratios = [row[f"own_{threads}"] / row[f"{peer}_{threads}"] for row in rows]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"against {peer}, {threads} threads: geometric mean {mean:.2f}, least {min(ratios):.2f}")
    path.write_text(json.dumps(rows, indent=1) + "\n")
