"""Chains whose first activation is added at the end, so that it is live all the time; widths and lengths are random."""

import random

ROWS = 256


def tensor(*shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


class Chain:
    def __init__(self):
        self.lines, self.weights = [], []

    def op(self, text):
        self.lines.append(f"    %v{len(self.lines)} = reprise.{text}")
        return f"%v{len(self.lines) - 1}"

    def dot(self, x, rows, columns):
        self.weights.append((rows, columns))
        return self.op(f"dot_general {x}, %w{len(self.weights) - 1} contracting [1] x [0] : "
                       f"({tensor(ROWS, rows)}, {tensor(rows, columns)}) -> {tensor(ROWS, columns)}")


def make_loss(layers, seed):
    """The chain and its last value. Elementwise ops between products may lie in each other's place."""
    choose, chain = random.Random(seed), Chain()
    width = outer = choose.choice([128, 256, 384])
    x = first = chain.dot("%x", 32, outer)
    for _ in range(layers):
        wider = choose.choice([32, 64, 96, 128, 192, 256])
        x, width = chain.dot(x, width, wider), wider
        for _ in range(choose.randint(1, 3)):
            x = chain.op(f"{choose.choice(['relu', 'sigmoid', 'tanh', 'gelu'])} {x} : {tensor(ROWS, width)}")
    x = chain.op(f"add {chain.dot(x, width, outer)}, {first} : {tensor(ROWS, outer)}")
    x = chain.op(f"mul {x}, {x} : {tensor(ROWS, outer)}")
    return chain, chain.op(f"mean {x} dims [0, 1] : ({tensor(ROWS, outer)}) -> tensor<f32>")


def write_wide_skip(path, layers, seed):
    chain, loss = make_loss(layers, seed)
    count = len(chain.weights)
    types = [tensor(*shape) for shape in chain.weights]
    weights = ", ".join(f"%w{i}: {types[i]}" for i in range(count))
    names = ", ".join(f"%w{i}" for i in range(count))
    arguments = ", ".join(f'%w{i}: {types[i]} {{reprise.role = "parameter", reprise.name = "w{i}", '
                          f'reprise.init = #reprise.normal<0.0, 0.05>}}' for i in range(count))
    results = ", ".join(f'{types[i]} {{reprise.name = "w{i}"}}' for i in range(count))
    gradients = ", ".join(f"%g{i}" for i in range(count))
    updates = "\n".join(f"    %n{i} = reprise.sub %w{i}, %g{i} : {types[i]}" for i in range(count))
    listed = ", ".join(types)
    with open(path, "w") as file:
        file.write(f"""module {{
  func.func private @loss(%x: {tensor(ROWS, 32)}, {weights}) -> tensor<f32> {{
{chr(10).join(chain.lines)}
    return {loss} : tensor<f32>
  }}
  func.func @train(%x: {tensor(ROWS, 32)} {{reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>}}, {arguments}) -> (tensor<f32> {{reprise.name = "loss"}}, {results}) {{
    %loss, {gradients} = reprise.value_and_grad @loss(%x, {names}) wrt {list(range(1, count + 1))} : ({tensor(ROWS, 32)}, {listed}) -> (tensor<f32>, {listed})
{updates}
    return %loss, {", ".join(f"%n{i}" for i in range(count))} : tensor<f32>, {listed}
  }}
}}
""")
