#!/usr/bin/env python3
"""Problems of the planner that are wrong, and names too long to be shown: each is one short error that names its place."""

import json
import pathlib
import re
import subprocess

from checks import check, finish, refuses, tool, write_json, zoo

ARRAY, NUMBER = "expected 'operations', an array with one operation or more", "expected a number from 0 to 1e30 for"
BYTES = "operation 0: expected bytes, or objects with 'bytes', an integer of at least 0, for 'results' at line 1, column"
LABELS = "must_save, prefer_save, prefer_recompute or must_recompute"


def op(**members):
    return {"cost": 1, "results": [8], **members}


def node(i, **other):
    return {"id": i, "cost_cpu": 1, "cost_ram": 1, **other}


def step(*operations, **members):
    return {"version": 1, **members, "operations": list(operations)}


VIEW = {"kind": "view", "results": [8]}
#: Steps as problems, and what is wrong with them.
STEPS = [
    ({"operations": [op()]}, "expected version 1"),
    ({"version": 2, "operations": [op()]}, "expected version 1"),
    ({"version": 1}, ARRAY),
    (step(), ARRAY),
    ({"version": 1, "operations": {}}, ARRAY),
    ({"version": 1, "operations": [op()], "oops": 1}, "unknown member 'oops' at line 1, column 55"),
    (step(op(), op(name="x", byte=4)), "operation 1 'x': unknown member 'byte' at line 1, column 96"),
    (step(3), "operation 0: expected an object at line 1, column 31"),
    (step({"results": [8]}), "operation 0: expected 'cost', a number from 0 to 1e30 at line 1, column 44"),
    (step(op(cost=-1)), f"operation 0: {NUMBER} 'cost' at line 1, column 40"),
    ('{"version": 1, "operations": [\n  {"cost": 1e999}]}', f"operation 0: {NUMBER} 'cost' at line 2, column 12"),
    (step(op(results=[{"label": "must_save"}])), f"{BYTES} 65"),
    (step(op(results=[0.5])), f"{BYTES} 55"),
    (step(op(results=[{"bytes": 1, "label": "save"}])), f"operation 0: expected {LABELS} for 'label' at line 1, column 77"),
    (step(op(kind="copy")), "operation 0: expected elementwise, view, reduction, contraction or other for 'kind' at line 1, column 67"),
    (step(op(operands=[0])), "operation 0: reads value 0, which no operation before it makes, at line 1, column 72"),
    (step(op(backward=True, order=0)), "operation 0: is of the backward pass, so that its 'order' is not 0 at line 1, column 86"),
    (step(op(), op(operands=[-1])), "operation 1: expected an integer from 0 to 2147483647 for 'operands' at line 1, column 101"),
    (step(op(unit=0), op()), "operation 1: expected 'unit', as there are units"),
    (step(op(unit=1), units=[None]), "operation 0: is in unit 1, but there are at most 1"),
    (step(op(unit=0), units=[0]), "unit 0 comes before its parent, unit 0 at line 1, column 26"),
    (step(op(launch=0), op()), "operation 1: expected 'launch', as other operations have one"),
    (step(op(launch=1), op(launch=0, operands=[0])), "operation 1: runs in launch 0, but reads from launch 1"),
    (step(op(), op(), launches=1), "launch 1 is named, but there are 1"),
    (step(op(), launches=100000), "there are 100000 launches, more than 1010"),
    (step({**VIEW, "cost": 1}), "operation 0: has a cost, but no launch at line 1, column 72"),
    (step(op(), op(), {**VIEW, "operands": [0, 1]}), "operation 2: without a launch it can read one value only, its first operand, at line 1, column 138"),
    ({**step(op()), "other_buffers": [{"first": 1, "last": 0, "bytes": 1}]},
     "other buffer 0: expected 'first', 'last' and 'bytes', and no last launch before the first at line 1, column 112"),
    (step(op(results=[{"bytes": 8, "read_by": [1], "read_until": 1}])), "operation 0: 'read_until' beside another end of the same result at line 1, column "),
    (step(op(results=[{"bytes": 8, "read_by": 1}])), "operation 0: expected an array for 'read_by' at line 1, column "),
    (step(op(), other_buffers=[{"first": 0, "last": 1, "bytes": 1, "read_by": [0]}]), "other buffer 0: expected 'last' as the last launch of 'read_by' at line 1, column "),
    (step(op(), waits=[0]), "expected an array for 'waits' at line 1, column "),
    (step(op(), op(), waits=[[1], []]), "launch 0 waits for launch 1, which runs after it"),
    (step(op(), waits=[[], []], launches=1), "launch 1 is named, but there are 1"),
    (step(op(results=[2 ** 60]), op(results=[2 ** 60])), "there are too many bytes"),
    (step(op(cost=1e30), op(cost=1e30)), "the costs are more than 1e30 together"),
    ('{"version": 1, "operations": [], "operations": []}', "syntax error: the key 'operations' is repeated at line 1, column 34"),
    ('{"version": 1,\n "operations": [{"cost": 1,}]}', "syntax error: expected a string at line 2, column 28"),
    ('{"operations":' * 100000, "syntax error: too many nested values at line 1, column 2801"),
]
#: Graphs of others.
GRAPHS = [
    ("{", "syntax error: "),
    ([], "expected an object with 'nodes' and 'links' or 'edges'"),
    ({"links": []}, "expected 'nodes', an array with one node or more"),
    ({"nodes": [node(0), node("x")]}, "node 1: expected an 'id' or 'name', an integer"),
    ({"nodes": [node(0), node(1, cost_cpu="x")]}, "node 1: expected 'cost_cpu' or 'duration', a number"),
    ({"nodes": [node(0), node(1, cost_ram=1.5)]}, "node 1: expected 'cost_ram' or 'out_cost', an integer"),
    ({"nodes": [node(0), node(0)]}, "there are two nodes with the id 0"),
    ({"nodes": [node(0), node(1)], "links": [{"source": 0, "target": 2}]}, "link 0: expected 'source' and 'target', ids of nodes"),
    ({"nodes": [node(0), node(1)], "links": [{"source": 1, "target": 0}]}, "link 0: goes against the order"),
    ({"nodes": [node(0), node(1, cost_cpu=-1)], "links": []}, "operation 1 has a cost below 0 or none"),
    ({"graph": {"order": [1]}, "nodes": [node(0), node(1)], "links": []}, "'graph.order' leaves out nodes"),
    ({"nodes": [node(0)], "links": [], "edges": []}, "expected 'links' or 'edges' once"),
    ({"nodes": [node(0)]}, "expected 'links' or 'edges', an array"),
    ({"nodes": [node(0, cost_cpu=1e308), node(1, cost_cpu=1e308)], "links": []}, "the costs are more than 1e30 together"),
    ('{"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1}, {"id": 1, "cost_cpu": 1e999, "cost_ram": 1}], "links": []}',
     "node 1: expected 'cost_cpu' or 'duration', a number"),
    ({"nodes": [node(0, cost_ram=2 ** 61), node(1, cost_ram=2 ** 61)], "links": []}, "value 1 has a size below 0 or too large"),
    ('{"nodes": [{"id": 0, "cost_cpu": NaN, "cost_ram": 1}], "links": []}', "syntax error: expected a value at line 1"),
]
JSON = '{"a": [1, -2.5e+3, true, null, "\\\\\\"x", {}], "nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1.0, "more": {"x": []}}], "links": [ ]}'
#: Texts that are no JSON.
SYNTAX = ["", "{", "[", '"', JSON + "x", JSON[:-1], JSON + JSON, '{"nodes": [}', '{"nodes" []}', '{nodes: []}', '{"nodes": [1,]}', '{"nodes": [],}',
          '{"nodes": [-]}', '{"nodes": [1.]}', '{"nodes": [1e]}', '{"nodes": [01]}', '{"nodes": [nul]}', '{"nodes": ["\\', '{"nodes": ["a\nb"]}',
          "[" * 100000, '{"a":' * 100000]


def refuse_problem(name, problem, message):
    text = problem if isinstance(problem, str) else json.dumps(problem)
    said = refuses(f"{name}: {text[:100]!r}", f"reprise-plan: error: -: {message}", "reprise-plan", "checkpoint", "-", "--budget=50%", stdin=text)
    check(f"{name}: nothing else is said", said.startswith("reprise-plan: error: ") and said.count("\n") == 1, said[:300])


def refuse_problems():
    for name, problems in ("a step", STEPS), ("a graph", GRAPHS):
        for problem, message in problems:
            refuse_problem(name, problem, message)
    for text in SYNTAX:
        refuse_problem("no JSON", text, "syntax error: ")
    tool("reprise-plan", "checkpoint", "-", "--budget=100%", stdin=JSON)
    for key in ("launch_cost", "byte_cost"):
        for price in ("-1", "1e999", "NaN"):
            message = "syntax error: " if price == "NaN" else f"{NUMBER} '{key}'"
            refuse_problem("a price", f'{{"version": 1, "{key}": {price}, "operations": [{{"results": [8], "cost": 1}}]}}', message)


LONG, WORD = "n" * 200000, "w" * 100000


def refuse_long(*command):
    """Checks that a message is shortened, and has no control characters."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = done.stderr
    good = done.returncode in (1, 2) and "error" in said and len(said) < 9000 and "bytes …]" in said and not re.search(r"[\x00-\x08\x0b-\x1f]", said)
    check(f"a long name: {' '.join(command)[:80]}", good, f"exit code {done.returncode}, {len(said)} characters: {said[:300]!r}")


def write(name, text):
    pathlib.Path(name).write_text(text)
    return name


def compile_long(*flags):
    refuse_long("reprise-compile", *flags, "-o", "no.rpb")


def refuse_long_models():
    body = "(%x: tensor<f32>) -> tensor<f32> {{ {0} return %x : tensor<f32> }}\n"
    many = write("many.mlir", "".join(f"func.func @{'f' * 200}{i}" + body.format("") for i in range(20000)))
    scoped = write("scoped.mlir", "func.func @train(%x: tensor<8xf32>, %y: tensor<9xf32>) -> tensor<8xf32> {\n"
                   f'%z = reprise.add %x, %y : (tensor<8xf32>, tensor<9xf32>) -> tensor<8xf32> loc("{LONG}")\nreturn %z : tensor<8xf32>\n}}')
    placed = write("placed.mlir", pathlib.Path("scoped.mlir").read_text().replace(f'loc("{LONG}")', f'loc("{LONG}":3:4)'))
    for model in (many, write("named.mlir", f"func.func @{LONG}" + body.format("")), write("op.mlir", "func.func @train" + body.format(LONG)), scoped, placed, WORD):
        compile_long(model)
    refuse_long("reprise-opt", many, "--reprise-to=import")
    refuse_long("reprise-opt", scoped)
    binary = write("binary.mlir", "func.func @train(%x: tensor<8xf32>) {\n" + LONG + "\x01\x02\x1b[2J !!\n}")
    said = refuses("control characters", "error", "reprise-compile", binary, "-o", "no.rpb")
    check("control characters are not shown", "\x1b" not in said and len(said) < 9000, said[:300])


def refuse_long_names():
    zoo("mlp.mlir", "mlp", "--width=8", "--batch=2")
    tool("reprise-compile", "mlp.mlir", "-o", "mlp.rpb")
    for flag in ("policy", "entry", "target", "report", "budget", "device-file"):
        compile_long("mlp.mlir", f"--{flag}={WORD}")
    compile_long("mlp.mlir", f"--{WORD}")
    write_json("key.json", {"version": 1, LONG: 1, "rules": []})
    for flag in ("policy", "device-file"):
        compile_long("mlp.mlir", f"--{flag}=key.json")
    compile_long("mlp.mlir", "--policy=" + write("twice.json", f'{{"{LONG}": 1, "{LONG}": 1}}'))
    refuse_long("reprise-run", WORD)
    refuse_long("reprise-run", "mlp.rpb", f"--input={WORD}=x.npy")
    refuse_long("reprise-run", "mlp.rpb", f"--input-dir={WORD}")
    refuse_long("reprise-plan", "checkpoint", WORD, "--budget=1")
    refuse_long("reprise-plan", "checkpoint", write("problem.json", json.dumps(step({LONG: 1}))), "--budget=1")
    refuse_long("reprise-plan", "pipeline", write("pipeline.json", json.dumps({"version": 1, LONG: 1})))
    refuse_long("reprise-plan", "offsets", write("buffers.csv", f"id,lower,upper,size\n{LONG},0,3,4\n{LONG},0,3,4\n"))
    refuse_long("reprise-zoo", WORD)


def refuse_nested():
    """JSON that nests 50,000 deep is one error at line and column, in every file that the compiler reads."""
    deep = "[" * 50000
    for name, text, place in (("array", f"\n{deep}{']' * 50000}", "2:201"), ("object", '{"abc":' * 50000 + "1" + "}" * 50000, "1:1401"),
                              ("open", deep, "1:201"), ("member", f'{{"version": 1, "name": {deep}', "1:223")):
        write(f"{name}.json", text)
        message = f"{name}.json:{place}: error: syntax error: too many nested values"
        for flag in ("policy", "plan-in", "device-file", "profile"):
            said = refuses(f"nested {name}, --{flag}", message, "reprise-compile", "mlp.mlir", "-o", "no.rpb", f"--{flag}={name}.json")
            check(f"nested {name}, --{flag}: one error", said.count("error: ") == 2, said)
    refuses("nested array, reprise-opt", "array.json:2:201: error: syntax error: too many nested values", "reprise-opt", "mlp.mlir", "--reprise-to=label policies=array.json")
    # Brackets in strings do not nest.
    refuses("brackets in a string", "text.json:1:1: error: expected 'version'", "reprise-compile", "mlp.mlir", "-o", "no.rpb",
            "--policy=" + write("text.json", '{"rules": "' + '[\\"' * 50000 + '"}'))


def main():
    refuse_problems()
    refuse_long_models()
    refuse_long_names()
    refuse_nested()
    finish()


main()
