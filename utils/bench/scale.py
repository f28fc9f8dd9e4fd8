"""Compile time and memory by the size of the graph: through every phase, from text to a bundle."""

from common import mebibytes, print_table

SIZES = [1000, 10000, 100000]
ARGUMENTS = ('%x: tensor<8x8xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.uniform<-1.0, 1.0>}, '
             '%w: tensor<8x8xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.uniform<-1.0, 1.0>}')


def chain(count):
    """Returns a training step whose loss is a chain of `count` ops, every fourth a contraction."""
    lines, last = ["func.func @loss(%x: !t, %w: !t) -> tensor<f32> {"], "%x"
    for i in range(count):
        op = f"dot_general {last}, %w contracting [1] x [0] : (!t, !t) -> !t" if i % 4 == 0 else f"tanh {last} : !t"
        lines.append(f"  %v{i} = reprise.{op}")
        last = f"%v{i}"
    return "\n".join(["!t = tensor<8x8xf32>", *lines, f"  %s = reprise.sum {last} dims [0, 1] : (!t) -> tensor<f32>",
                      "  return %s : tensor<f32>", "}",
                      f'func.func @train({ARGUMENTS}) -> (tensor<f32> {{reprise.name = "loss"}}, !t {{reprise.name = "w"}}) {{',
                      "  %l, %g = reprise.value_and_grad @loss(%x, %w) wrt [1] : (!t, !t) -> (tensor<f32>, !t)",
                      "  %n = reprise.sub %w, %g : !t", "  return %l, %n : tensor<f32>, !t", "}", ""])


def measure(bench, threads):
    rows = []
    for policy in ([], ["--policy=recompute-all"]):
        for count in SIZES:
            path = bench.out / "scale.mlir"
            path.write_text(chain(count))
            seconds, memory = bench.measure("reprise-compile", path, "-o", bench.out / "scale.rpb", f"--threads={threads}", *policy)
            rows.append({"ops": count, "policy": policy[0].split("=")[1] if policy else "none", "seconds": seconds, "peak_rss_bytes": memory})
    bench.save("scale", rows)
    print_table("Compile time by ops of the loss; the step has about three times as many (goal: time per op flat within 1.5 ×)",
                ["", "policy", "seconds", "µs per op", "resident MiB", "KiB per op"],
                [[f"{row['ops']:,}", row["policy"], f"{row['seconds']:.2f}", f"{1e6 * row['seconds'] / row['ops']:.0f}",
                  mebibytes(row["peak_rss_bytes"]), f"{row['peak_rss_bytes'] / row['ops'] / 1024:.1f}"] for row in rows], name="scale.ops")
