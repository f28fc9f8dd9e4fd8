#!/usr/bin/env python3
"""Prints a step of contractions and convolutions, each with elementwise ops behind it, drawn by chance.

Usage: epilogues.py SEED COUNT TYPE...

Operands are small integers, so that sums are the same in every order.
"""
import random
import sys


def tensor(shape, dtype):
    return f"tensor<{'x'.join(map(str, [*shape, dtype]))}>"


class Step:
    def __init__(self, rng):
        self.rng = rng
        self.arguments, self.body, self.results = [], [], []

    def new(self, text):
        name = f"%v{len(self.body)}"
        self.body.append(f"  {name} = reprise.{text}")
        return name

    def argument(self, kind, init, role="input"):
        name = f"a{len(self.arguments)}"
        self.arguments.append(f'%{name}: {kind} {{reprise.role = "{role}", reprise.name = "{name}", reprise.init = #reprise.{init}}}')
        return "%" + name

    def operand(self, shape, dtype):
        whole = self.argument(tensor(shape, "i32"), "uniform_int<-2, 3>")
        return self.new(f"cast {whole} : {tensor(shape, 'i32')} to {tensor(shape, dtype)}")

    def result(self, value, kind, name=None):
        self.results.append((value, kind, name or f"r{len(self.results)}"))

    def dot(self, dtype):
        rng = self.rng
        batch = rng.choice([[], [], [3], [2, 2]])
        rows = rng.choice([[1], [16], [33], [64], [5, 13], [128], [200]])
        columns = rng.choice([[2], [16], [4, 8], [36], [3, 12], [64], [129], [2, 65], [256]])
        depth = rng.choice([8, 16, 17, 64] + ([2048, 8192] if len(batch) == 0 and max(rows + columns) < 64 else []))
        lhs, rhs = batch + rows + [depth], batch + [depth] + columns
        dims = list(range(len(batch)))
        shared = f"batch {dims} x {dims} " if batch else ""
        shape = batch + rows + columns
        return shape, self.new(f"dot_general {self.operand(lhs, dtype)}, {self.operand(rhs, dtype)} {shared}contracting "
                               f"[{len(lhs) - 1}] x [{len(batch)}] : ({tensor(lhs, dtype)}, {tensor(rhs, dtype)}) -> {tensor(shape, dtype)}")

    def convolution(self, dtype):
        rng = self.rng
        samples, stride, window = rng.randint(1, 3), rng.choice([1, 1, 2]), rng.choice([1, 3])
        channels, outputs, size = rng.choice([16, 17, 40]), rng.choice([16, 24]), rng.choice([4, 7, 12])
        image = [samples, channels, size, size]
        output = [samples, outputs] + [(size + 2 - window) // stride + 1] * 2
        filters = [outputs, channels, window, window]
        op, lhs, rhs, shape = rng.choice([("convolution", image, filters, output), ("convolution_transpose", output, filters, image),
                                          ("convolution_filter", image, output, filters)])
        return shape, self.new(f"{op} {self.operand(lhs, dtype)}, {self.operand(rhs, dtype)} strides [{stride}, {stride}] low [1, 1] "
                               f"high [1, 1] dilation [1, 1] : ({tensor(lhs, dtype)}, {tensor(rhs, dtype)}) -> {tensor(shape, dtype)}")

    def behind(self, value, shape, dtype):
        """Adds an op; returns the value and its type."""
        rng, kind = self.rng, tensor(shape, dtype)
        what = rng.choice(["bias", "bias", "residual", "residual", "turned", "gelu", "tanh", "dropout", "cast", "store", "factor"])
        if what == "bias":
            dims = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape) - 1)))
            part = tensor([shape[d] for d in dims], dtype)
            wide = self.new(f"broadcast {self.argument(part, 'normal<0.0, 1.0>')} dims {dims} : ({part}) -> {kind}")
            return self.new(f"add {value}, {wide} : {kind}"), dtype
        if what == "factor":
            one = tensor([], dtype)
            wide = self.new(f"broadcast {self.argument(one, 'normal<0.0, 1.0>')} dims [] : ({one}) -> {kind}")
            return self.new(f"mul {value}, {wide} : {kind}"), dtype
        if what == "residual":
            return self.new(f"{rng.choice(['add', 'mul'])} {self.argument(kind, 'normal<0.0, 1.0>')}, {value} : {kind}"), dtype
        if what == "turned":
            order = list(range(len(shape)))[::-1]
            turned = tensor(shape[::-1], dtype)
            other = self.new(f"transpose {self.argument(turned, 'normal<0.0, 1.0>')} {order} : ({turned}) -> {kind}")
            return self.new(f"sub {value}, {other} : {kind}"), dtype
        if what == "dropout":
            return self.new(f"dropout {value} {{rate = 0.25 : f64}} : {kind}"), dtype
        if what == "cast" and dtype != "f64":
            other = "f32" if dtype != "f32" else rng.choice(["bf16", "f16"])
            return self.new(f"cast {value} : {kind} to {tensor(shape, other)}"), other
        if what == "store":
            self.result(value, kind)
            return value, dtype
        return self.new(f"{'tanh' if what == 'tanh' else 'gelu'} {value} : {kind}"), dtype

    def add(self, dtype):
        shape, value = self.convolution(dtype) if self.rng.random() < 0.35 and dtype != "f64" else self.dot(dtype)
        for _ in range(self.rng.randint(1, 6)):
            value, dtype = self.behind(value, shape, dtype)
        if self.rng.random() < 0.5:
            return self.result(value, tensor(shape, dtype))
        # The other summand may be overwritten.
        kind = tensor(shape, dtype)
        state = self.argument(kind, "normal<0.0, 1.0>", "state")
        self.result(self.new(f"add {state}, {value} : {kind}"), kind, state[1:])

    def print(self):
        print("func.func @train(" + ",\n                 ".join(self.arguments) + ")")
        print("    -> (" + ",\n        ".join(f'{kind} {{reprise.name = "{name}"}}' for _, kind, name in self.results) + ") {")
        print("\n".join(self.body))
        print("  return " + ", ".join(value for value, *_ in self.results) + " : " + ", ".join(kind for _, kind, _ in self.results) + "\n}")


def main():
    step = Step(random.Random(int(sys.argv[1])))
    for _ in range(int(sys.argv[2])):
        step.add(step.rng.choice(sys.argv[3:]))
    step.print()


if __name__ == "__main__":
    main()
