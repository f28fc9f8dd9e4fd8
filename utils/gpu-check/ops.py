"""Steps of one op, which gpu-check.sh runs with PyTorch's equivalent: MLIR, and the PyTorch op."""

# The goal is a share of the rate of the peer: a contraction's in cuBLAS without TF32, the best attention's, or a copy's
# of as many bytes. Contractions are those of gpt2's and llama's layers, forwards and for both gradients.
GOALS = {"matmul": 0.9, "attention": 0.7}
ROW_GOALS = {"dropout": 0.9, "elementwise": 0.9, "layer_norm": 0.85, "softmax": 0.85}
SMALL = {
    "matmul": [(64, 48, 40, "nn"), (48, 64, 40, "tn"), (64, 40, 48, "nt")],
    "attention": [(1, 2, 64, 32, "bf16"), (1, 2, 64, 32, "f32")],
    "rows": [(64, 96)],
}
LARGE = {
    "matmul": [(8192, 768, 2304, "nn"), (8192, 768, 3072, "nn"), (8192, 3072, 768, "nn"), (8192, 3072, 768, "nt"), (768, 8192, 3072, "tn"),
               (8192, 2048, 5632, "nn"), (2048, 8192, 5632, "tn"), (8192, 768, 50257, "nn")],
    "attention": [(8, 12, 1024, 64, "bf16"), (4, 32, 2048, 64, "bf16"), (8, 12, 1024, 64, "f32"), (4, 32, 2048, 128, "f32")],
    "rows": [(8192, 3072)],
}
DRAWN = "reprise.init = #reprise.normal<0.0, 1.0>"


def function(operands, results, body):
    arguments = ", ".join(f'%{name}: {kind} {{reprise.role = "parameter", reprise.name = "{name}", {DRAWN}}}' for name, kind in operands)
    named = ", ".join(f'{kind} {{reprise.name = "{name}"}}' for name, kind in results)
    values, kinds = ", ".join(f"%{name}" for name, _ in results), ", ".join(kind for _, kind in results)
    return f"func.func @train({arguments}) -> ({named}) {{\n  {body}\n  return {values} : {kinds}\n}}\n"


def matmul(m, k, n, form):
    """Returns a matmul [m, n] over k; the letters say which operand lies transposed."""
    left = f"tensor<{k}x{m}xf32>" if form[0] == "t" else f"tensor<{m}x{k}xf32>"
    right = f"tensor<{n}x{k}xf32>" if form[1] == "t" else f"tensor<{k}x{n}xf32>"
    dims = f"[{int(form[0] == 'n')}] x [{int(form[1] == 't')}]"
    result = f"tensor<{m}x{n}xf32>"
    return function([("a", left), ("b", right)], [("c", result)],
                    f"%c = reprise.dot_general %a, %b contracting {dims} : ({left}, {right}) -> {result}")


def attention(batch, heads, tokens, size, dtype):
    """Forwards and backwards, causal."""
    kind, sums = f"tensor<{batch}x{heads}x{tokens}x{size}x{dtype}>", f"tensor<{batch}x{heads}x{tokens}xf32>"
    form = f"{{scale = {size ** -0.5} : f64, causal}}"
    body = (f"%out, %lse = reprise.attention %q, %k, %v {form} : ({kind}, {kind}, {kind}) -> ({kind}, {sums})\n"
            f"  %dq, %dk, %dv = reprise.attention_backward %q, %k, %v, %out, %lse, %dout {form}"
            f" : ({kind}, {kind}, {kind}, {kind}, {sums}, {kind}) -> ({kind}, {kind}, {kind})")
    return function([(name, kind) for name in ("q", "k", "v", "dout")], [(name, kind) for name in ("out", "dq", "dk", "dv")], body)


def rows(op, count, width):
    kind, row, sums = f"tensor<{count}x{width}xf32>", f"tensor<{width}xf32>", f"tensor<{count}xf32>"
    bodies = {
        "dropout": f"%y = reprise.dropout %x {{rate = 0.1 : f64}} : {kind}",
        "elementwise": f"%0 = reprise.gelu %x {{form = #reprise<gelu_form tanh>}} : {kind}\n  %y = reprise.add %0, %w : ({kind}, {row}) -> {kind}",
        "layer_norm": f"%y, %mean, %rstd = reprise.layer_norm %x, %w, %b {{epsilon = 1.0e-05 : f64}} : ({kind}, {row}, {row}) -> ({kind}, {sums}, {sums})",
        "softmax": f"%y = reprise.softmax %x : {kind}",
    }
    return function([("x", kind), ("w", row), ("b", row)], [("y", kind)], bodies[op])


def list_ops(sizes):
    """Yields (name, MLIR, PyTorch's op, its sizes, goal), the last three for beside_torch.py."""
    for shape in sizes["matmul"]:
        yield f"matmul-{'x'.join(map(str, shape))}", matmul(*shape), "matmul", shape, GOALS["matmul"]
    for shape in sizes["attention"]:
        yield f"attention-{'x'.join(map(str, shape))}", attention(*shape), "attention", shape, GOALS["attention"]
    for op, goal in ROW_GOALS.items():
        for shape in sizes["rows"]:
            yield f"{op}-{'x'.join(map(str, shape))}", rows(op, *shape), "copy", shape, goal
