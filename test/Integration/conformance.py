#!/usr/bin/env python3
"""Requirements of the tests of PyTorch's, JAX's and torchtitan's checkpointing (docs/explanation/PolicyConformance.md lists them), applied
to Reprise.

Each entry of Inputs/conformance.mlir gives one result under every plan, equal to the interpreter's without a plan, in
the predicted arena, and no buffer overlaps another buffer that is still read.
"""

import json
import pathlib
import subprocess

from checks import check, compile_model, finish, first_difference, run, tool

MODEL = pathlib.Path(__file__).resolve().parent / "Inputs" / "conformance.mlir"
PLANS = {"as written": [], "without checkpoints": ["--ignore-checkpoints"], "save-all": ["--ignore-checkpoints", "--policy=save-all"],
         "recompute-all": ["--policy=recompute-all"], "dots-saveable": ["--ignore-checkpoints", "--policy=dots-saveable"],
         "every second contraction": ["--ignore-checkpoints", "--policy=every-nth-contraction(2)"],
         "verified": ["--policy=recompute-all", "--verify-replays"]}
ENTRIES = {
    "first": "nested checkpoints",
    "second": "nested checkpoints, second-order gradients",
    "third": "nested checkpoints, third-order gradients",
    "twice": "two backward passes over one forward pass",
    "regions": "two regions with replays in one step",
    "results": "checkpoints of several results, integers, detached values and casts",
    "several": "ops of several results",
    "counted": "two products",
    "draws": "draws of every kind, and running statistics",
}


def lies_over(one, other):
    """Returns whether two buffers share a byte while both live. A buffer may take another's place in the launch that
    reads it last."""
    together = one["first"] < other["last"] and other["first"] < one["last"]
    return together and one["offset"] < other["offset"] + other["bytes"] and other["offset"] < one["offset"] + one["bytes"]


def find_overlap(buffers):
    for i, one in enumerate(buffers):
        for other in buffers[:i]:
            if lies_over(one, other):
                return one, other
    return None


def compile_entry(entry, flags):
    return compile_model(MODEL, "plan.rpb", f"--entry={entry}", *flags)


def check_entry(entry, title):
    tool("reprise-compile", MODEL, "--interpret", f"--entry={entry}", "--seed=3", "--steps=3", "--output-dir=interpreted")
    wrong, reports = [], {}
    for plan, flags in PLANS.items():
        report = reports[plan] = compile_entry(entry, flags)
        run("plan.rpb", "results", "--seed=3", "--steps=3")
        different = first_difference("interpreted", "results")
        executed = int(tool("executed-arena", "plan.rpb", 1).split()[0])
        if different or executed != report["arena_bytes"] or find_overlap(report["buffers"]):
            wrong.append((plan, different, executed, report["arena_bytes"], find_overlap(report["buffers"])))
    check(f"{title}: every plan gives the interpreter's bits in the predicted arena", not wrong, str(wrong))
    fewest, most = reports["recompute-all"]["saved_bytes"], reports["save-all"]["saved_bytes"]
    check(f"{title}: a plan that recomputes saves less", fewest < most and reports["recompute-all"]["replayed_ops"] > 0,
          f"{fewest} of {most} bytes")
    return reports


def decisions(report, kind):
    return [value["decision"] for value in report["values"] if value["op"] == f"reprise.{kind}"]


def check_products():
    """Checks how often the products run: PyTorch's test_flops_and_mem."""
    def plan(saved):
        rules = [{"match": {"op": "dot_general", "first": saved}, "label": "must_save"}] if saved else []
        rules += [{"match": {"op": "dot_general", "first": 2}, "label": "prefer_recompute"}, {"match": {"op": "sin", "first": 1}, "label": "must_recompute"},
                  {"match": {"op": "sin"}, "label": "prefer_save"}]
        pathlib.Path("rules.json").write_text(json.dumps({"version": 1, "rules": rules}))
        report = compile_entry("counted", ["--policy=rules.json"])
        listed = sum(value["saved_bytes"] for value in report["values"])
        block = [value for value in report["values"] if value["op"] == "reprise.dot_general"][:2]
        return listed == report["saved_bytes"], [value["decision"] for value in block], report["replayed_ops"]
    # The first sine is replayed in each case; if a product is not saved, its operand is replayed, too.
    check("no product saved", plan(0) == (True, ["replayed", "replayed"], 3), str(plan(0)))
    check("the first product saved", plan(1) == (True, ["saved", "replayed"], 2), str(plan(1)))
    check("both products saved", plan(2) == (True, ["saved", "saved"], 1), str(plan(2)))


def check_results(reports):
    report = compile_entry("several", [])
    by_name = {value["name"]: value for value in report["values"] if value["name"]}
    check("a name saves one of several results", by_name["rstd"]["decision"] == "saved" and by_name["rstd"]["rule"] == "name rstd", str(by_name))
    for kind in ("dropout", "random_normal", "random_uniform", "batch_norm"):
        # A batch norm is expanded; its mean is one of the values then.
        found = decisions(reports["recompute-all"], "mean" if kind == "batch_norm" else kind)
        check(f"{kind} is replayed", "replayed" in found, str(found))


# ------------------------------------------------------------------------------------------------------------------
# JAX's policies on a transformer block: what its documentation says each of them saves, by the op that gives it.

SIZES = "!x = tensor<2x6x8xf32>\n!p = tensor<2x2x6x4xf32>\n!t = tensor<2x2x6x6xf32>\n!w = tensor<8x2x4xf32>\n!o = tensor<2x4x8xf32>\n!u = tensor<8x32xf32>\n!d = tensor<32x8xf32>\n!h = tensor<2x6x32xf32>\n"


def block(i, x):
    """Writes one transformer block as its ops, attention decomposed, for the scope layer/i; names: query, scores,
    hidden."""
    lines = [
        f"%q = reprise.dot_general {x}, %wq contracting [2] x [0] : (!x, !w) -> tensor<2x6x2x4xf32>",
        "%qn = reprise.name %q \"query\" : tensor<2x6x2x4xf32>",
        "%qt = reprise.transpose %qn [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> !p",
        f"%k = reprise.dot_general {x}, %wk contracting [2] x [0] : (!x, !w) -> tensor<2x6x2x4xf32>",
        "%kt = reprise.transpose %k [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> !p",
        "%s = reprise.dot_general %qt, %kt batch [0, 1] x [0, 1] contracting [3] x [3] : (!p, !p) -> !t",
        "%sn = reprise.name %s \"scores\" : !t",
        "%m = reprise.softmax %sn : !t",
        "%a = reprise.dot_general %m, %kt batch [0, 1] x [0, 1] contracting [3] x [2] : (!t, !p) -> !p",
        "%y = reprise.dot_general %a, %wo contracting [1, 3] x [0, 1] : (!p, !o) -> !x",
        f"%r = reprise.add {x}, %y : !x",
        "%u = reprise.dot_general %r, %wu contracting [2] x [0] : (!x, !u) -> !h",
        "%g = reprise.gelu %u : !h",
        "%gn = reprise.name %g \"hidden\" : !h",
        "%e = reprise.dropout %gn {rate = 0.1 : f64} : !h",
        "%z = reprise.dot_general %e, %wd contracting [2] x [0] : (!h, !d) -> !x",
        "%out = reprise.add %r, %z : !x",
        "reprise.yield %out : !x",
    ]
    return f"  %b{i} = reprise.block {{\n" + "".join(f"    {line} loc(\"layer/{i}\")\n" for line in lines) + "  } : !x\n"


def write_block(path):
    weights = [("q", "!w"), ("k", "!w"), ("o", "!o"), ("u", "!u"), ("d", "!d")]
    arguments = ", ".join(f"%w{name}: {kind}" for name, kind in weights)
    entry = ", ".join(f"%w{name}: {kind} {{reprise.role = \"parameter\", reprise.name = \"w{name}\", reprise.init = #reprise.normal<0.0, 0.3>}}" for name, kind in weights)
    kinds = ", ".join(kind for _, kind in weights)
    results = ", ".join(f"{kind} {{reprise.name = \"w{name}\"}}" for name, kind in weights)
    pathlib.Path(path).write_text(SIZES + f"""
func.func private @loss(%x: !x, {arguments}) -> tensor<f32> {{
{block(0, "%x")}{block(1, "%b0")}  %sq = reprise.mul %b1, %b1 : !x
  %l = reprise.mean %sq dims [0, 1, 2] : (!x) -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @train(%x: !x {{reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>}}, {entry}) -> (tensor<f32> {{reprise.name = "loss"}}, {results}) {{
  %0:6 = reprise.value_and_grad @loss(%x, {", ".join("%w" + name for name, _ in weights)}) wrt [1, 2, 3, 4, 5] : (!x, {kinds}) -> (tensor<f32>, {kinds})
  return {", ".join(f"%0#{i}" for i in range(6))} : tensor<f32>, {kinds}
}}
""")


def is_dot(value):
    return value["op"] == "reprise.dot_general"


def has_batch(value, values):
    """Checks the dots of a layer, in program order; the third and the fourth have batch dimensions."""
    dots = [other["id"] for other in values if is_dot(other)]
    return value["id"] in dots[2:4]


def named(*names):
    return lambda value, values: value["name"] in names


JAX = {
    "everything_saveable": lambda value, values: True,
    "nothing_saveable": lambda value, values: False,
    "dots_saveable": lambda value, values: is_dot(value),
    "checkpoint_dots": lambda value, values: is_dot(value),
    "dots_with_no_batch_dims_saveable": lambda value, values: is_dot(value) and not has_batch(value, values),
    "checkpoint_dots_with_no_batch_dims": lambda value, values: is_dot(value) and not has_batch(value, values),
    "offload_dot_with_no_batch_dims": lambda value, values: is_dot(value) and not has_batch(value, values),
    "save_only_these_names(query, hidden)": named("query", "hidden"),
    "save_any_names_but_these(query)": named("scores", "hidden"),
    "save_anything_except_these_names(query, hidden)": lambda value, values: value["name"] not in ("query", "hidden"),
    "save_and_offload_only_these_names(query; hidden)": named("query", "hidden"),
    "save_from_both_policies(dots_with_no_batch_dims_saveable, save_only_these_names(scores))":
        lambda value, values: named("scores")(value, values) or (is_dot(value) and not has_batch(value, values)),
}


def check_jax():
    """Checks the first block, because the last one is not replayed if all of it would be. A value that its backward
    pass needs is saved if the policy saves it, otherwise replayed. The block's result is kept as the next block's
    input."""
    write_block("block.mlir")
    hashes = set()
    for policy, is_saved in JAX.items():
        report = compile_model("block.mlir", "plan.rpb", f"--policy={policy}")
        hashes.add(run("plan.rpb", "results", "--seed=3")["hash"])
        layer = [value for value in report["values"] if value["layer"] == "layer/0"]
        wrong = []
        for value in layer[:-1]:
            kept = "offloaded" if policy.startswith("offload") or ("; " in policy and value["name"] == "hidden") else "saved"
            wanted = kept if is_saved(value, layer) else "replayed"
            if value["decision"] not in (wanted, "not needed"):
                wrong.append((value["id"], value["name"], value["decision"], wanted))
        saved = sum(value["decision"] in ("saved", "offloaded") for value in layer)
        check(f"JAX's {policy.split('(')[0]} saves what JAX's does", not wrong and (saved > 0) == (policy != "nothing_saveable"), str(wrong))
    check("JAX's policies give one result", len(hashes) == 1, str(hashes))


def check_offload():
    """Labels move values to the memory of the host, and no bit of a result."""
    saved = compile_model(MODEL, "saved.rpb", "--entry=counted", "--policy=save-all")
    expected = run("saved.rpb", "saved", "--seed=3")["hash"]
    for label in ("must_offload", "prefer_offload"):
        pathlib.Path("rules.json").write_text(json.dumps({"version": 1, "rules": [{"match": {"op": "sin"}, "label": label}]}))
        report = compile_model(MODEL, "plan.rpb", "--entry=counted", "--policy=rules.json")
        moved = sum(value["bytes"] for value in report["values"] if value["decision"] == "offloaded")
        check(f"{label} moves bytes to the host", 0 < moved == report["host_bytes"] and report["saved_bytes"] < saved["saved_bytes"], str(moved))
        check(f"{label} keeps the hash", run("plan.rpb", "results", "--seed=3")["hash"] == expected)


def main():
    reports = {entry: check_entry(entry, title) for entry, title in ENTRIES.items()}
    check_products()
    check_results(reports["draws"])
    check_jax()
    check_offload()
    finish()


main()
