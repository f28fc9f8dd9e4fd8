"""Prints a step whose graph is N ops, blocks or calls deep: deep.py [gradient-]KIND N"""
import sys

kind, n = sys.argv[1].removeprefix("gradient-"), int(sys.argv[2])
TYPE = "tensor<4x4xf32>"
PARAMETER = '{reprise.role = "parameter", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>}'
lines, functions, result = [], [], f"%v{n}"
for i in range(n):
    before, after = f"%v{i}", f"%v{i + 1}"
    if kind == "tanh" or (kind == "mixed" and i % 4):
        lines.append(f"  {after} = reprise.tanh {before} : {TYPE}")
    elif kind == "mixed":
        lines.append(f"  {after} = reprise.dot_general {before}, %v0 contracting [1] x [0] : ({TYPE}, {TYPE}) -> {TYPE}")
    elif kind == "transpose":
        lines.append(f"  %t{i} = reprise.transpose {before} [1, 0] : ({TYPE}) -> {TYPE}\n  {after} = reprise.tanh %t{i} : {TYPE}")
    elif kind == "blocks":
        lines.insert(i, f"  %w{i} = reprise.block {{\n  {after} = reprise.tanh {before} : {TYPE}")
        lines.insert(i + 1, f"  reprise.yield {f'%w{i + 1}' if i + 1 < n else after} : {TYPE}\n  }} : {TYPE}")
        result = "%w0"
    elif kind == "calls":
        inner = f"  %c = call @g{i - 1}(%b) : ({TYPE}) -> {TYPE}\n  return %c" if i else "  return %b"
        functions.append(f"func.func private @g{i}(%a: {TYPE}) -> {TYPE} {{\n  %b = reprise.tanh %a : {TYPE}\n{inner} : {TYPE}\n}}")
if kind == "calls":
    lines = [f"  %v{n} = call @g{n - 1}(%v0) : ({TYPE}) -> {TYPE}"]
print("\n".join(functions))
if sys.argv[1].startswith("gradient-"):
    print(f"func.func private @loss(%v0: {TYPE}) -> tensor<f32> {{")
    print("\n".join(lines))
    print(f"  %l = reprise.sum {result} dims [0, 1] : ({TYPE}) -> tensor<f32>\n  return %l : tensor<f32>\n}}")
    print(f"func.func @train(%x: {TYPE} {PARAMETER}) -> (tensor<f32>, {TYPE}) {{")
    print(f"  %l, %g = reprise.value_and_grad @loss(%x) wrt [0] : ({TYPE}) -> (tensor<f32>, {TYPE})")
    print(f"  return %l, %g : tensor<f32>, {TYPE}\n}}")
else:
    print(f"func.func @train(%v0: {TYPE} {PARAMETER}) -> {TYPE} {{")
    print("\n".join(lines))
    print(f"  return {result} : {TYPE}\n}}")
