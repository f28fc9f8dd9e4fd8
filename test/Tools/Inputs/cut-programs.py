"""Cuts the program of one device into several that exchange values.

cut-programs.py PROGRAM CUT[,CUT]... [PROGRAM.mlir]

Reads the output of reprise-opt --reprise-to=autodiff --mlir-print-local-scope. Ops of blocks below the first CUT, and
of their backward passes, belong to device 0, those below the second CUT to device 1, and so on; updates belong to the
device of their gradient. A value is sent behind the op that computes it. Results and arguments are in the order of
the devices, so that `whole.mlir` (the PROGRAM alone, which is written if the third argument is given) and the
programs have the same results in the same order.
"""
import bisect
import re
import sys

VALUE = re.compile(r"%[A-Za-z0-9_]+(?:#\d+)?")


def split_top(text):
    """Splits at commas outside of brackets."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        if quoted:
            continue
        if c in "(<[{":
            depth += 1
        elif c in ")>]}" and text[i - 1] != "-":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text.strip() else []


def closing(text, start):
    """The index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in "({<[":
            depth += 1
        elif text[i] in ")}>]" and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("no closing bracket")


class Op:
    def __init__(self, line):
        self.line = line.strip()
        left, equals, right = self.line.partition(" = ")
        self.results = VALUE.findall(left) if equals and left.startswith("%") else []
        self.reads = VALUE.findall(right if self.results else self.line)
        block = re.search(r"reprise\.block = array<i64: (\d+)", self.line)
        self.block = int(block.group(1)) if block else None
        self.is_constant = "reprise.constant" in self.line
        kind = self.line.rsplit(" : ", 1)[-1]
        kind = kind.rsplit(" -> ", 1)[-1] if " -> " in kind else kind.rsplit(" to ", 1)[-1]
        kinds = split_top(kind.strip("()")) if kind.startswith("(") else [kind.strip()]
        if "reprise.compare" in self.line:
            kinds = [re.sub(r"x?(f32|f64|bf16|f16|i32|i64|i1)>$", lambda m: m.group(0).replace(m.group(1), "i1"), kinds[0])]
        elif "reprise.select" in self.line:
            kinds = [split_top(kind)[-1]]
        self.types = kinds


def read(text):
    start = text.index("reprise.program @")
    opening = text.index("(", start)
    end = closing(text, opening)
    arguments = split_top(text[opening + 1 : end])
    opening = text.index("(", end)
    close = closing(text, opening)
    results = split_top(text[opening + 1 : close])
    body = text[text.index("{\n", close) + 2 :].split("\n")
    ops = []
    for line in body:
        if line.strip().startswith("reprise.return "):
            return arguments, results, ops, VALUE.findall(line.partition(" : ")[0])
        ops.append(Op(line))
    raise ValueError("no return")


def find_stages(ops, cuts):
    stage = {}
    for op in ops:
        if op.is_constant:
            continue
        made = [stage[v] for v in op.reads if v in stage]
        own = bisect.bisect(cuts, op.block) if op.block is not None else None
        if op.block is None and made:
            own = min(made) if all("broadcast" not in o.line for o in ops if set(o.results) & set(op.reads)) else max(made)
        for result in op.results:
            if own is not None:
                stage[result] = own
    return stage


def main():
    text, cuts = open(sys.argv[1]).read(), [int(cut) for cut in sys.argv[2].split(",")]
    devices = range(len(cuts) + 1)
    arguments, results, ops, returned = read(text)
    name = {VALUE.match(a).group(0): re.search(r'reprise\.name = "([^"]*)"', a).group(1) for a in arguments}
    result_names = [re.search(r'reprise\.name = "([^"]*)"', r).group(1) for r in results]
    made_by = {r: op for op in ops for r in op.results}
    stage = find_stages(ops, cuts)
    # A parameter that both programs read is sent by the program that computes its next value.
    shared = {}
    for value, result in zip(returned, result_names):
        argument = next((v for v, n in name.items() if n == result and n != "offset"), None)
        readers = {stage.get(op.results[0]) for op in ops if argument in op.reads}
        if argument and stage.get(value) is not None and readers - {stage[value], None}:
            shared[argument] = stage[value]

    def home(value):
        return stage.get(value, shared.get(value))

    # An op without a stage, such as a rate that is broadcast, is copied to every program that reads it.
    def is_free(value):
        op = made_by.get(value)
        return op is not None and home(value) is None

    order = {}
    for device in devices:
        for value, result in zip(returned, result_names):
            own = home(value)
            if own is None:
                readers = [home(op.results[0]) for op in ops if value in op.reads and op.results and home(op.results[0]) is not None]
                own = min(readers, default=0)
            if own == device:
                order.setdefault(device, []).append((value, result))
    programs = [write(d, text, arguments, name, results, result_names, ops, order.get(d, []), home, is_free, made_by, shared, devices) for d in devices]
    print("module {\n" + "\n".join(programs) + "}")
    if len(sys.argv) > 3:
        whole = dict(zip(result_names, zip(returned, results)))
        names = [result for d in devices for _, result in order.get(d, []) if result != "offset"]
        names += ["offset"] if "offset" in result_names else []
        both = [whole[n] for n in names]
        body = "\n".join("    " + op.line for op in ops)
        kinds = ", ".join(split_kind(r) for _, r in both)
        with open(sys.argv[3], "w") as file:
            file.write("module {\n  reprise.program @train devices [0] (" + ", ".join(arguments) + ") -> (" + ", ".join(r for _, r in both)
                       + ") {\n" + body + "\n    reprise.return " + ", ".join(v for v, _ in both) + " : " + kinds + "\n  }\n}\n")


def split_kind(text):
    return text[: closing(text, text.index("<")) + 1]


def write(device, text, arguments, name, results, result_names, ops, returned, home, is_free, made_by, shared, devices):
    lines, tag = [], 0
    kinds = {r: t for op in ops for r, t in zip(op.results, op.types)}
    for argument in arguments:
        kinds[VALUE.match(argument).group(0)] = re.search(r": (tensor<[^>]*>)", argument).group(1)
    wanted = {d: set() for d in devices}
    for d in devices:
        pending = [v for op in ops if op.results and home(op.results[0]) == d for v in op.reads]
        pending += [v for v, r in returned] if d == device else []
        while pending:
            value = pending.pop()
            if value in wanted[d]:
                continue
            wanted[d].add(value)
            if is_free(value):
                pending += made_by[value].reads

    def exchange(value, own):
        nonlocal tag
        mark = value.replace("%", "").replace("#", "_")
        for other in devices:
            if other == own or value not in wanted[other]:
                continue
            if own == device:
                lines.append(f"    %sent{other}_{mark} = exec.send {value} to @stage{other} tag {tag} : {kinds[value]}")
                lines.append(f"    exec.wait %sent{other}_{mark}")
            elif other == device:
                lines.append(f"    {value}, %arrived_{mark} = exec.receive from @stage{own} tag {tag} : {kinds[value]}")
                lines.append(f"    exec.wait %arrived_{mark}")
            tag += 1

    for value, own in shared.items():
        exchange(value, own)
    for op in ops:
        if any(is_free(r) for r in op.results):
            if wanted[device] & set(op.results):
                lines.append("    " + op.line)
            continue
        own = home(op.results[0])
        if own == device:
            lines.append("    " + op.line)
        for result in op.results:
            exchange(result, own)
    used = {v for line in lines for v in VALUE.findall(line)} | {v for v, _ in returned}
    used -= {value for value, own in shared.items() if own != device}
    own = [a for a in arguments if VALUE.match(a).group(0) in used or 'reprise.role = "seed"' in a]
    whole = dict(zip(result_names, results))
    signature = ", ".join(whole[r] for _, r in returned)
    kinds_text = ", ".join(split_kind(whole[r]) for _, r in returned)
    head = f"  reprise.program @stage{device} devices [{device}] ({', '.join(own)}) -> ({signature}) {{"
    return "\n".join([head] + lines + ["    reprise.return " + ", ".join(v for v, _ in returned) + " : " + kinds_text, "  }", ""])


if __name__ == "__main__":
    main()
