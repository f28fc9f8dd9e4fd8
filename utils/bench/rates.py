"""The machine's rates, measured: GFLOP/s of matrix products, ours and oneDNN's, and GB/s of a copy."""

import ctypes
import threading
import time

from common import median
from products import run_tool

# Products of one layer of gpt2 (384 wide, 8 × 128 tokens), forward and backward, as bench-contraction names them.
SHAPES = ["1024x1152x384", "1024x384x1152 B", "384x1152x1024 A", "1024x1536x384", "384x1536x1024 A", "1024x384x1536"]


def flops_of(shape):
    m, n, k = map(int, shape.split()[0].split("x"))
    return 2 * m * n * k


def dot_program(shape):
    """Measures one product as a bundle's program, for machines without bench-contraction (it needs oneDNN)."""
    sizes, *transposed = shape.split()
    m, n, k = map(int, sizes.split("x"))
    lhs, rhs = ((k, m) if "A" in transposed else (m, k)), ((n, k) if "B" in transposed else (k, n))
    argument = lambda name, size: (f'%{name}: tensor<{size[0]}x{size[1]}xf32> {{reprise.role = "parameter", '
                                   f'reprise.name = "{name}", reprise.init = #reprise.normal<0.0, 1.0>}}')
    return (f'func.func @train({argument("a", lhs)}, {argument("b", rhs)}) -> (tensor<{m}x{n}xf32> {{reprise.name = "c"}}) {{\n'
            f'  %0 = reprise.dot_general %a, %b contracting [{int("A" not in transposed)}] x [{int("B" in transposed)}]'
            f' : (tensor<{lhs[0]}x{lhs[1]}xf32>, tensor<{rhs[0]}x{rhs[1]}xf32>) -> tensor<{m}x{n}xf32>\n'
            f'  return %0 : tensor<{m}x{n}xf32>\n}}\n')


def own_rate(bench, shape, threads):
    path = bench.out / "dot.mlir"
    path.write_text(dot_program(shape))
    bundle, _ = bench.compile(path, "dot.rpb", f"--threads={threads}")
    run = bench.run(bundle, "--steps=40", f"--threads={threads}")
    return flops_of(shape) / min(run["step_seconds"]) / 1e9


def product_rows(bench, most_threads):
    """Returns one row per shape: {shape, own_1, onednn_1, …}, oneDNN's only if it is installed."""
    rows = run_tool(bench, "contraction", most_threads)
    if rows is not None:
        rows = {row["shape"]: row for row in rows}
        return [rows[shape] for shape in SHAPES]
    return [{"shape": shape} | {f"own_{threads}": own_rate(bench, shape, threads) for threads in range(1, most_threads + 1)}
            for shape in SHAPES]


def product_rate(rows, threads):
    """GFLOP/s of all the shapes together, each by the better of the two."""
    flops = sum(flops_of(row["shape"]) for row in rows)
    better = lambda row: max(row[f"own_{threads}"], row.get(f"onednn_{threads}", 0.0))
    return flops / sum(flops_of(row["shape"]) / better(row) for row in rows)


def copy_rate(threads, size=256 << 20):
    """GB/s read and written by copying `size` bytes again and again, median of seven."""
    library = ctypes.CDLL(None)
    library.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    part, repeats = size // threads, max(1, (256 << 20) // size)

    def copy(begin):
        to, origin = ctypes.addressof(target) + begin, ctypes.addressof(source) + begin
        for _ in range(repeats):
            library.memcpy(to, origin, part)

    seconds = []
    for _ in range(8):
        workers = [threading.Thread(target=copy, args=(i * part,)) for i in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds.append(time.perf_counter() - start)
    return 2 * part * threads * repeats / median(seconds[1:]) / 1e9
