#!/usr/bin/env python3
"""Prints a step of row-wise ops whose rows have many sizes, types and layouts."""

ROWS = [("f32", 3072), ("f32", 132), ("bf16", 2048), ("f16", 1001), ("f64", 300), ("bf16", 6145), ("f32", 4100)]


def main():
    arguments, results, body = [], [], []

    def argument(name, kind):
        arguments.append(f'%{name}: {kind} {{reprise.role = "input", reprise.name = "{name}", '
                         "reprise.init = #reprise.normal<0.0, 1.0>}")
        return "%" + name

    def result(text, kind):
        value = f"%r{len(results)}"
        body.append(f"  {value} = {text}")
        results.append((value, kind))
        return value

    def norm(name, shape, dtype):
        """Multiplies the rest of a product above its mean by its sum: three passes over two operands."""
        rows, columns = shape
        kind, sums = f"tensor<{rows}x{columns}x{dtype}>", f"tensor<{rows}x{dtype}>"
        x, y = argument(name + "x", kind), argument(name + "y", kind)
        body.append(f"  %{name}m = reprise.mul {x}, {y} : {kind}")
        body.append(f"  %{name}a = reprise.mean %{name}m dims [1] : ({kind}) -> {sums}")
        body.append(f"  %{name}b = reprise.broadcast %{name}a dims [0] : ({sums}) -> {kind}")
        body.append(f"  %{name}s = reprise.sub {x}, %{name}b : {kind}")
        body.append(f"  %{name}q = reprise.sum %{name}s dims [1] : ({kind}) -> {sums}")
        body.append(f"  %{name}c = reprise.broadcast %{name}q dims [0] : ({sums}) -> {kind}")
        body.append(f"  %{name}d = reprise.mul %{name}s, %{name}c : {kind}")
        result(f"reprise.add %{name}d, {y} : {kind}", kind)

    kind = "tensor<9x3072xf32>"
    result(f"reprise.softmax {argument('first', kind)} : {kind}", kind)
    norm("two", (5, 3072), "f32")
    kind = "tensor<3x25600xf32>"
    result(f"reprise.softmax {argument('long', kind)} : {kind}", kind)
    for i, (dtype, columns) in enumerate(ROWS):
        kind = f"tensor<37x{columns}x{dtype}>"
        result(f"reprise.softmax {argument(f'x{i}', kind)} : {kind}", kind)
        norm(f"n{i}", (6, columns), dtype)
    turned, kind = "tensor<300x7xf32>", "tensor<7x300xf32>"
    body.append(f"  %turned = reprise.transpose {argument('turn', turned)} [1, 0] : ({turned}) -> {kind}")
    result(f"reprise.softmax %turned : {kind}", kind)
    whole, sums = "tensor<5x12x40xf32>", "tensor<5xf32>"
    cube = argument("cube", whole)
    body.append(f"  %cubesum = reprise.sum {cube} dims [1, 2] : ({whole}) -> {sums}")
    body.append(f"  %cuberows = reprise.broadcast %cubesum dims [0] : ({sums}) -> {whole}")
    result(f"reprise.sub {cube}, %cuberows : {whole}", whole)

    print("func.func @train(" + ",\n                 ".join(arguments) + ")")
    print("    -> (" + ", ".join(f'{kind} {{reprise.name = "{name[1:]}"}}' for name, kind in results) + ") {")
    print("\n".join(body))
    print("  return " + ", ".join(name for name, _ in results) + " : " + ", ".join(kind for _, kind in results) + "\n}")


if __name__ == "__main__":
    main()
