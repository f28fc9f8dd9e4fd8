#!/usr/bin/env python3
"""Prints attention and its backward in 16-bit types, at sizes below, at and beyond the tiles of tensor cores.

Usage: attention.py
"""


def tensor(shape, dtype):
    return f"tensor<{'x'.join(map(str, [*shape, dtype]))}>"


class Model:
    def __init__(self):
        self.arguments, self.body, self.results = [], [], []

    def argument(self, name, kind, init="normal<0.0, 1.0>"):
        self.arguments.append(f'%{name}: {kind} {{reprise.role = "input", reprise.name = "{name}", reprise.init = #reprise.{init}}}')
        return "%" + name

    def add(self, dtype, batch, heads, key_heads, queries, keys, depth, flags="", bias=None, mask=None, turned=False, dlse=False,
            value_depth=None):
        i = len(self.results)
        query, key = tensor([batch, heads, queries, depth], dtype), tensor([batch, key_heads, keys, depth], dtype)
        value = tensor([batch, key_heads, keys, value_depth or depth], dtype)
        out = tensor([batch, heads, queries, value_depth or depth], dtype)
        lse, scores = tensor([batch, heads, queries], "f32"), tensor([batch, heads, queries, keys], "f32")
        q = self.argument(f"q{i}", tensor([batch, queries, heads, depth], dtype) if turned else query)
        if turned:
            self.body.append(f"  %turned{i} = reprise.transpose {q} [0, 2, 1, 3] : ({tensor([batch, queries, heads, depth], dtype)}) -> {query}")
            q = f"%turned{i}"
        operands = ", ".join([q, self.argument(f"k{i}", key), self.argument(f"v{i}", value)])
        extra = ""
        if bias:
            extra += f" bias {self.argument(f'b{i}', tensor(bias, 'f32'))} : {tensor(bias, 'f32')}"
        if mask:
            bits, kind = tensor(mask, "i32"), tensor(mask, "i1")
            self.body.append(f"  %m{i} = reprise.cast {self.argument(f'bits{i}', bits, 'uniform_int<0, 2>')} : {bits} to {kind}")
            extra += f" mask %m{i} : {kind}"
        attributes = f"{{scale = {depth ** -0.5} : f64{flags}}}"
        self.body.append(f"  %a{i}:2 = reprise.attention {operands}{extra} {attributes} : ({query}, {key}, {value}) -> ({out}, {lse})")
        found = [query, key, value] + ([scores] if bias else [])
        dout = self.argument(f"do{i}", out)
        own = f" dlse {self.argument(f'dl{i}', lse)} : {lse}" if dlse else ""
        self.body.append(f"  %g{i}:{len(found)} = reprise.attention_backward {operands}, %a{i}#0, %a{i}#1, {dout}{own}{extra} {attributes}"
                         f" : ({query}, {key}, {value}, {out}, {lse}, {out}) -> ({', '.join(found)})")
        self.results.append((f"%a{i}#0", out, f"out{i}"))
        self.results.append((f"%a{i}#1", lse, f"lse{i}"))
        self.results += [(f"%g{i}#{j}", kind, f"d{'qkvs'[j]}{i}") for j, kind in enumerate(found)]

    def print(self):
        print("func.func @train(" + ",\n    ".join(self.arguments) + ")")
        print("    -> (" + ", ".join(f'{kind} {{reprise.name = "{name}"}}' for _, kind, name in self.results) + ") {")
        print("\n".join(self.body))
        print("  return " + ", ".join(value for value, _, _ in self.results) + " : " + ", ".join(kind for _, kind, _ in self.results) + "\n}")


def main():
    model = Model()
    model.add("bf16", 2, 4, 2, 45, 45, 16, ", causal, rate = 0.25 : f64", turned=True)
    model.add("f16", 1, 2, 2, 16, 40, 33, bias=[1, 2, 1, 40], mask=[1, 1, 16, 40], dlse=True)
    model.add("bf16", 1, 2, 1, 140, 150, 128, ", causal")
    model.add("f16", 2, 2, 2, 64, 64, 64, ", causal")
    model.add("bf16", 1, 1, 1, 20, 300, 8, ", rate = 0.1 : f64")
    model.add("bf16", 1, 2, 2, 70, 80, 32, ", causal", bias=[1, 2, 70, 80])
    model.add("bf16", 1, 3, 1, 200, 33, 50, bias=[1, 3, 200, 33])
    model.add("f16", 1, 1, 1, 17, 17, 100, mask=[1, 1, 1, 17])
    model.add("bf16", 1, 2, 1, 45, 50, 48, ", causal, rate = 0.25 : f64", value_depth=32)
    model.add("f16", 1, 2, 2, 33, 40, 24, value_depth=65)
    model.add("bf16", 1, 2, 2, 20, 40, 120, bias=[1, 1, 20, 40], value_depth=9)
    model.print()


if __name__ == "__main__":
    main()
