"""GFLOP/s of contractions and convolutions: ours, oneDNN's and PyTorch's, shape by shape."""

import json
import math
import subprocess
import time


def torch_contraction(row):
    """The product of a row, as a call without arguments."""
    import torch
    sizes, *transposed = row["shape"].split()
    m, n, k = map(int, sizes.split("x"))
    lhs = torch.rand(k, m).t() if "A" in transposed else torch.rand(m, k)
    rhs = torch.rand(n, k).t() if "B" in transposed else torch.rand(k, n)
    result = torch.empty(m, n)
    return lambda: torch.mm(lhs, rhs, out=result)


def torch_convolution(row):
    """Computes a convolution, or a gradient, on [n, c, y, x]."""
    import torch
    samples, channels, size, outputs, window, stride, padding, groups = row["sizes"]
    image = torch.rand(samples, channels, size, size)
    filters = torch.rand(outputs, channels // groups, window, window)
    attributes = [stride, stride], [padding, padding], [1, 1], False, [0, 0], groups
    forward = lambda: torch.ops.aten.convolution(image, filters, None, *attributes)
    if row["direction"] == "forward":
        return forward
    output, wanted = forward(), [row["direction"] == "image", row["direction"] == "filter", False]
    return lambda: torch.ops.aten.convolution_backward(output, image, filters, None, *attributes, wanted)


def torch_rate(call, flops, threads):
    """GFLOP/s of PyTorch, the best of several runs."""
    import torch
    torch.set_num_threads(threads)
    calls = max(1, int(1e8 / flops))
    best = math.inf
    call()
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return flops / best / 1e9


def run_tool(bench, kind, most_threads):
    """The rows of bench-contraction or bench-convolution; None where oneDNN is not installed."""
    built = subprocess.run(["cmake", "--build", str(bench.build), "--target", f"bench-{kind}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not built:
        return None
    path = bench.out / f"{kind}.json"
    # Without this setting oneDNN's workers would spin during our turns.
    bench.tool(f"bench-{kind}", f"--threads={most_threads}", f"--json={path}", OMP_WAIT_POLICY="passive")
    return json.loads(path.read_text())


def measure(bench, kind, most_threads):
    """`kind` is contraction or convolution."""
    rows = run_tool(bench, kind, most_threads)
    if rows is None:
        print(f"{kind}s: oneDNN is missing (Debian: libdnnl-dev), nothing is compared")
        return
    try:
        import torch
    except ImportError:
        torch = None
        print(f"{kind}s: PyTorch is missing")
    peers = ["onednn"] + (["torch"] if torch else [])
    print(f"\n{kind}s, GFLOP/s: ours" + "".join(f", {peer}" for peer in peers) + f", for 1 to {most_threads} threads")
    for row in rows:
        cells = []
        call = (torch_contraction if kind == "contraction" else torch_convolution)(row) if torch else None
        for threads in range(1, most_threads + 1):
            if torch:
                row[f"torch_{threads}"] = torch_rate(call, row["flops"], threads)
            cells.append(" ".join(f"{row[f'{name}_{threads}']:7.1f}" for name in ["own"] + peers))
        print(f"{row['shape']:30} | " + " | ".join(cells))
    for peer in peers:
        for threads in range(1, most_threads + 1):
            ratios = [row[f"own_{threads}"] / row[f"{peer}_{threads}"] for row in rows]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"against {peer}, {threads} threads: geometric mean {mean:.2f}, least {min(ratios):.2f}")
    (bench.out / f"{kind}.json").write_text(json.dumps(rows, indent=1) + "\n")
