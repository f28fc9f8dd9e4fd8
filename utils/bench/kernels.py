"""Times kernels that memory or arithmetic bounds, each alone, and a copy of the same bytes in the same run."""

import json

from common import median, print_table
from rates import copy_rate

STEPS, ROUNDS = 20, 3
# A gpt2 step 6 × 384 with 8 × 128 tokens fits into the cache; with sixteen times as many tokens it does not.
TIMES = (1, 16)
# Name, shape at TIMES = 1, names of the full arguments, bytes that move per element, body over full type !t and row type !r.
CASES = [
    ("copy (neg)", (1024, 1536), ["x"], 8, "%y = reprise.neg %x : !t"),
    ("dropout", (1024, 1536), ["x"], 8, "%y = reprise.dropout %x {rate = 0.1 : f64} : !t"),
    ("bias + gelu", (1024, 1536), ["x"], 8, "%s = reprise.add %x, %w : (!t, !r) -> !t\n  %y = reprise.gelu %s : !t"),
    ("layer norm", (1024, 384), ["x"], 8, "%y, %m, %v = reprise.layer_norm %x, %w, %w {epsilon = 0.00001 : f64}"
     " : (!t, !r, !r) -> (!t, !s, !s)"),
    ("softmax", (6144, 128), ["x"], 8, "%y = reprise.softmax %x : !t"),
    ("adamw", (384, 1536), ["x", "g", "m", "v"], 28, """%a = reprise.constant dense<0.9> : tensor<f32>
  %b = reprise.constant dense<0.1> : tensor<f32>
  %0 = reprise.mul %m, %a : (!t, tensor<f32>) -> !t
  %1 = reprise.mul %g, %b : (!t, tensor<f32>) -> !t
  %mean = reprise.add %0, %1 : !t
  %2 = reprise.mul %g, %g : !t
  %3 = reprise.mul %v, %a : (!t, tensor<f32>) -> !t
  %4 = reprise.mul %2, %b : (!t, tensor<f32>) -> !t
  %variance = reprise.add %3, %4 : !t
  %5 = reprise.div %mean, %a : (!t, tensor<f32>) -> !t
  %6 = reprise.div %variance, %a : (!t, tensor<f32>) -> !t
  %7 = reprise.sqrt %6 : !t
  %8 = reprise.add %7, %b : (!t, tensor<f32>) -> !t
  %9 = reprise.div %5, %8 : !t
  %10 = reprise.mul %x, %a : (!t, tensor<f32>) -> !t
  %11 = reprise.mul %9, %b : (!t, tensor<f32>) -> !t
  %y = reprise.sub %10, %11 : !t"""),
]
RESULTS = {"adamw": {"x": "%y", "m": "%mean", "v": "%variance"}}


def program(name, rows, width, inputs, body):
    role = {key: "state" if key in "mv" else "parameter" for key in RESULTS.get(name, {})}
    argument = lambda key, type, init: (f'%{key}: {type} {{reprise.role = "{role.get(key, "input")}", '
                                        f'reprise.name = "{key}", reprise.init = #reprise.{init}}}')
    results = RESULTS.get(name, {"y": "%y"})
    arguments = [argument(key, "!t", "normal<0.0, 1.0>" if key != "v" else "fill<1.0>") for key in inputs]
    arguments.append(argument("w", "!r", "normal<0.0, 1.0>"))
    named = ", ".join(f'!t {{reprise.name = "{key}"}}' for key in results)
    return (f"!t = tensor<{rows}x{width}xf32>\n!r = tensor<{width}xf32>\n!s = tensor<{rows}xf32>\n"
            f"func.func @train({', '.join(arguments)}) -> ({named}) {{\n  {body}\n"
            f"  return {', '.join(results.values())} : {', '.join(['!t'] * len(results))}\n}}\n")


def measure_case(bench, case, times, threads):
    name, (rows, width), inputs, moved, body = case
    path, profile = bench.out / "kernel.mlir", bench.out / "profile.json"
    path.write_text(program(name, rows * times, width, inputs, body))
    bundle, _ = bench.compile(path, "kernel.rpb", f"--threads={threads}")
    count = moved * rows * times * width
    seconds, copies, flops = [], [], 0
    for _ in range(ROUNDS):
        bench.run(bundle, f"--threads={threads}", f"--steps={STEPS}", f"--profile-out={profile}")
        found = json.loads(profile.read_text())
        seconds.append(sum(kernel["seconds"] for kernel in found["kernels"]))
        copies.append(copy_rate(threads, count // 2))
        flops = sum(kernel["flops"] for kernel in found["kernels"]) / found["peak_flops"]
    return {"kernel": name, "bytes": count, "threads": threads, "seconds": median(seconds), "gbytes": count / median(seconds) / 1e9,
            "copy_gbytes": median(copies), "peak_seconds": flops}


def measure(bench, most_threads):
    rows = [measure_case(bench, case, times, threads)
            for times in TIMES for case in CASES for threads in range(1, most_threads + 1)]
    bench.save("kernels", rows)
    print_table("Kernels alone: GB/s beside those of a copy of as many bytes (goal: 0.8); their FLOPs at the machine's peak over their time",
                ["", "MB", "threads", "ms", "GB/s", "copy", "of a copy", "of peak"],
                [[row["kernel"], f"{row['bytes'] / 1e6:.1f}", row["threads"], f"{1e3 * row['seconds']:.3f}", f"{row['gbytes']:.1f}",
                  f"{row['copy_gbytes']:.1f}", f"{row['gbytes'] / row['copy_gbytes']:.2f}", f"{row['peak_seconds'] / row['seconds']:.2f}"]
                 for row in rows], name="kernels.alone")
