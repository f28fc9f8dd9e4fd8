#!/usr/bin/env python3
"""Prints a step of ops that run alone: scatters, running sums, the largest of rows, writes of windows,
poolings.

Usage: alone.py SEED

Shapes are at the edges of the kernels (vectors of four columns, runs of 256 sorted elements, one row, one column); the
seed says which element and index types each one has.
"""
import random
import sys

FLOATS, NUMBERS = ("f32", "f64", "bf16", "f16"), ("f32", "f64", "bf16", "f16", "i32", "i64")
ARGUMENT = '%a{}: {} {{reprise.role = "{}", reprise.name = "a{}", reprise.init = {}}}'
SCATTERS = (("3x50", "39", 11), ("700", "8", 300), ("1000", "", 7), ("4", "200", 3), ("300", "4", 1), ("", "5", 6),
            ("0", "3", 9), ("513", "2x2", 513))
ALONG = (("7x50", 20), ("2x3x300", 31), ("1100", 9000), ("4x0", 9), ("2x257", 1))
LARGEST = (("7x20", 5), ("3x300", 300), ("2x1000", 17), ("600", 256), ("5x1", 1), ("9x256", 256), ("2x2100", 700),
           ("2x513", 1))
SUMS = (("7x20", 1, False), ("7x21", 1, True), ("3x8", 1, True), ("5x6x7", 1, False), ("5x6x7", 0, True),
        ("1x100", 0, True), ("3000x2", 0, False), ("4", 0, True))
WINDOWS = (("20x40", "1x40"), ("20x40", "20x3"), ("9x7x32", "2x7x20"), ("9x7", "9x7"), ("300x8", "4x8"), ("20", "5"),
           ("9x4x8", "9x2x8"), ("6x5", "0x5"), ("", ""))
# Image, then window, strides, low and high padding; without these, the size of an adaptive pooling.
POOLS = (("2x3x9x10", (3, 3), (2, 2), (1, 1), (1, 1)), ("1x2x7x8", (2, 3), (1, 1), (0, 2), (1, 0)), ("3x1x17", (4,), (3,), (3,), (0,)),
         ("2x2x5x300", (1, 2), (1, 2), (0, 0), (0, 0)), ("2x2x6x4", (2, 2), (5, 3), (0, 0), (0, 0)), ("2x3x7x5", "3x4"),
         ("1x2x4x3", "6x3"), ("2x2x13", "5"))


class Step:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arguments, self.lines, self.results = [], [], []

    def tensor(self, shape, element):
        return f"tensor<{shape}x{element}>" if shape else f"tensor<{element}>"

    def argument(self, shape, element, low=-5, high=6, role="input"):
        number, kind = len(self.arguments), self.tensor(shape, element)
        init = f"#reprise.uniform_int<{low}, {high}>" if element[0] == "i" else "#reprise.normal<0.0, 1.0>"
        self.arguments.append(ARGUMENT.format(number, kind, role, number, init))
        return f"%a{number}", kind

    def positions(self, shape, limit):
        """Adds an argument of indices, some of which lie outside."""
        return self.argument(shape, self.random.choice(("i32", "i64")), -2, limit + 2)

    def operand(self, shape, element):
        """The operand that a result may overwrite: an input, or the state that the result is the next value of."""
        return self.argument(shape, element, role=self.random.choice(("input", "state")))

    def op(self, text, *types, replaces=None):
        names = [f"%r{len(self.lines)}_{i}" for i in range(len(types))]
        is_state = replaces and f'{replaces}: {types[0]} {{reprise.role = "state"' in " ".join(self.arguments)
        self.results += [(name, kind, (replaces if is_state else name)[1:]) for name, kind in zip(names, types)]
        self.lines.append(f"  {', '.join(names)} = reprise.{text}")

    def scatter(self, indices, row, rows):
        join = lambda *parts: "x".join(part for part in parts if part)
        element = self.random.choice(FLOATS)
        table = self.tensor(join(str(rows), row), element)
        (i, i_type), (u, u_type) = self.positions(indices, rows), self.argument(join(indices, row), element)
        self.op(f"scatter_add {u} at {i} : ({i_type}, {u_type}) -> {table}", table)
        element = self.random.choice(NUMBERS)
        (t, table), (u, u_type) = self.operand(join(str(rows), row), element), self.argument(join(indices, row), element)
        self.op(f"scatter {u} into {t} at {i} : ({table}, {i_type}, {u_type}) -> {table}", table, replaces=t)

    def scatter_along(self, indices, n):
        element = self.random.choice(FLOATS)
        table = self.tensor("x".join(indices.split("x")[:-1] + [str(n)]), element)
        (i, i_type), (u, u_type) = self.positions(indices, n), self.argument(indices, element)
        self.op(f"scatter_add_along {u} at {i} : ({i_type}, {u_type}) -> {table}", table)

    def largest(self, shape, count):
        element, index = self.random.choice(NUMBERS), self.random.choice(("i32", "i64"))
        x, kind = self.argument(shape, element)
        of = "x".join(shape.split("x")[:-1] + [str(count)])
        values, indices = self.tensor(of, element), self.tensor(of, index)
        self.op(f"top_k {x} : ({kind}) -> ({values}, {indices})", values, indices)

    def sum(self, shape, dim, reverse):
        x, kind = self.operand(shape, self.random.choice(NUMBERS))
        self.op(f"cumsum {x} dim {dim}{' reverse' if reverse else ''} : {kind}", kind, replaces=x)

    def window(self, shape, part):
        element, rank = self.random.choice(NUMBERS), len(shape.split("x")) if shape else 0
        (x, kind), (u, u_type) = self.operand(shape, element), self.argument(part, element)
        s, s_type = self.positions(str(rank), 12)
        self.op(f"dynamic_update {u} into {x} at {s} : ({kind}, {u_type}, {s_type}) -> {kind}", kind, replaces=x)

    def pool(self, image, *window):
        index, steps = self.random.choice(("i32", "i64")), []
        attributes = "adaptive window [] strides [] low [] high []"
        if len(window) == 1:
            steps = window[0].split("x")
        else:
            for n, size, stride, low, high in zip(map(int, image.split("x")[2:]), *window):
                steps.append(str((n + low + high - size) // stride + 1))
            attributes = " ".join(f"{name} {list(sizes)}" for name, sizes in zip(("window", "strides", "low", "high"), window))
        pooled = "x".join(image.split("x")[:2] + steps)
        element, part = self.random.choice(FLOATS), self.random.choice(((0,), (1,), (0, 1)))
        x, kind = self.argument(image, element)
        types = [self.tensor(pooled, element), self.tensor(pooled, index)]
        self.op(f"max_pool {x} {attributes} : ({kind}) -> ({', '.join(types)})", *types)
        for unread in {0, 1}.difference(part):
            del self.results[unread - 2]
        # The operand's rows lie apart.
        y, turned = self.argument("x".join(reversed(image.split("x"))), element)
        order = list(reversed(range(image.count("x") + 1)))
        self.lines.append(f"  {y}t = reprise.transpose {y} {order} : ({turned}) -> {kind}")
        self.op(f"average_pool {y}t {attributes} : ({kind}) -> {types[0]}", types[0])
        z, _ = self.argument(pooled, element)
        self.op(f"average_pool_backward {z} {attributes} : ({types[0]}) -> {kind}", kind)

    def text(self):
        for make, cases in ((self.scatter, SCATTERS), (self.scatter_along, ALONG), (self.largest, LARGEST),
                            (self.sum, SUMS), (self.window, WINDOWS), (self.pool, POOLS)):
            for case in cases:
                make(*case)
        names, types, _ = zip(*self.results)
        results = ", ".join(f'{kind} {{reprise.name = "{name}"}}' for _, kind, name in self.results)
        return "\n".join([f"func.func @train({', '.join(self.arguments)})", f"    -> ({results}) {{", *self.lines,
                          f"  return {', '.join(names)} : {', '.join(types)}", "}"])


print(Step(int(sys.argv[1])).text())
