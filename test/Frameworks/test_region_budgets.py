"""reprise.torch.region(budget=…): regions of a model that save few bytes, in both backends."""
import functools
import warnings

import checks
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import reprise
import reprise.torch
from reprise.torch import graphs, plans, region

aten = torch.ops.aten
replayed = functools.partial(checkpoint, use_reentrant=False)


class Layer(nn.Module):
    """Model of a residual layer with a wide inner value and a dropout."""

    def __init__(self):
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(32), nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x):
        return x + F.dropout(self.narrow(F.gelu(self.wide(self.norm(x)))), 0.1)


class Stack(nn.Module):
    """Model of layers, each called by ``around``."""

    def __init__(self, around, layers=2):
        super().__init__()
        self.around, self.layers = around, nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = self.around(layer, x)
        return x.square().mean()


def bounded(budget, call=lambda layer, x: layer(x)):
    """Returns a call of a layer in a region."""
    def around(layer, x):
        with region(budget=budget):
            return call(layer, x)
    return around


def step(model, run, x, amp=False):
    model.zero_grad(set_to_none=True)
    torch.manual_seed(3)
    with torch.autocast("cpu", torch.bfloat16, enabled=amp):
        loss = run(x)
    loss.backward()
    return [loss.detach().clone(), *(each.grad.clone() for each in model.parameters())]


def equal(left, right):
    return all(torch.equal(*each) for each in zip(left, right, strict=True))


def compiled(model, backend="reprise_plan", **options):
    torch._dynamo.reset()
    given = {"codegen": "eager", **options} if backend == "reprise_plan" else options
    return torch.compile(model, backend=backend, options=given)


def saved_bytes(run, x):
    """Returns the bytes of the storages that autograd saves for a compiled function, without ``x`` and parameters."""
    found = {}

    def keep(tensor):
        if tensor.grad_fn is not None or not tensor.requires_grad:
            found[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run(x)
    return sum(size for place, size in found.items() if place != x.untyped_storage().data_ptr())


def build(around, layers=2):
    torch.manual_seed(0)
    return Stack(around, layers)


PLAIN = staticmethod(lambda layer, x: layer(x)).__func__
WAYS = {
    "alone": lambda budget: bounded(budget),
    "around a checkpoint": lambda budget: bounded(budget, lambda layer, x: replayed(layer, layer(x))),
    "in a checkpoint": lambda budget: functools.partial(replayed, lambda layer, x, call=bounded(budget): call(layer, x)),
    "nested": lambda budget: bounded(budget, lambda layer, x: bounded("20%")(layer, layer(x))),
    "decorated": lambda budget: region(budget=budget)(PLAIN),
}


def reference(name):
    """Returns the same calls without regions."""
    return (lambda layer, x: layer(layer(x))) if name in ("around a checkpoint", "nested") else PLAIN


def try_plans():
    x = torch.randn(256, 32)
    for name, way in WAYS.items():
        plain = build(reference(name))
        for amp, budgets in ((False, ("0%", "40%", 70_000)), (True, ("40%",))):
            expected = step(plain, compiled(plain) if amp else plain, x, amp)
            for budget in budgets:
                model = build(way(budget))
                run = compiled(model)
                found = step(model, run, x, amp)
                made = plans()[-1].regions
                what = f"{name}, {budget}{', bf16' if amp else ''}"
                checks.check(f"{what}: the bits of code without regions", equal(found, expected))
                checks.check(f"{what}: each call has a bound, which holds", len(made) >= len(model.layers)
                             and all(each.saved_bytes <= each.limit <= max(each.saved_without_replays, 70_000) for each in made), str(made))
                if not amp and name == "alone":
                    real = saved_bytes(run, x)
                    checks.check(f"{what}: autograd saves what the plan says", abs(real - plans()[-1].saved_bytes) <= 64 + 3 * 5056,
                                 f"{real}, {plans()[-1]}")


def try_budgets():
    """Checks that a budget of the step obeys the bounds, and that Inductor's code does."""
    x = torch.randn(256, 32)
    plain = build(PLAIN)
    expected = step(plain, plain, x)
    for options in ({"budget": "70%"}, {"codegen": "inductor"}, {"policy": "save-all"}, {"budget": "50%", "offload": True}):
        model = build(bounded("30%"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = compiled(model, **options)
            found, again = step(model, run, x), step(model, run, x)
        made = plans()[-1].regions
        checks.check(f"{options}: bounds hold", len(made) == 2 and all(each.saved_bytes <= each.limit for each in made), str(made))
        is_same = equal(found, expected) if options.get("codegen") != "inductor" else equal(found, again)
        checks.check(f"{options}: bits", is_same)


def error_of(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001  Dynamo wraps errors of backends
        return str(error)
    return ""


def try_errors():
    x = torch.randn(256, 32)
    for budget in ("half", -1, True, "3 apples"):
        checks.check(f"a budget of {budget!r} is an error", "region: expected a budget" in error_of(lambda: region(budget=budget)))
        for backend in ("reprise_plan", "reprise"):
            model = build(bounded(budget), 1)
            text = error_of(lambda: step(model, compiled(model, backend), x))
            checks.check(f"so it is in code for {backend}", "region: expected a budget" in text, text)

    def keep(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is aten.addmm.default else CheckpointPolicy.PREFER_RECOMPUTE
    kept = functools.partial(replayed, context_fn=functools.partial(create_selective_checkpoint_contexts, keep))
    for backend in ("reprise_plan", "reprise"):
        model = build(bounded(1000, kept), 1)
        text = error_of(lambda: step(model, compiled(model, backend), x))
        checks.check(f"{backend}: bytes that no plan meets are an error", "the region(budget='1000'" in text and "the least" in text, text)
        model = build(bounded("1%", kept), 1)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            step(model, compiled(model, backend), x)
        checks.check(f"{backend}: a share that no plan meets is a warning",
                     sum("the region(budget='1%'" in str(each.message) for each in said) == 1, str([str(each.message) for each in said]))

        def broken(layer, x):
            with region(budget="50%"):
                x = layer(x)
                torch._dynamo.graph_break()
                return layer(x)
        model = build(broken, 1)
        text = error_of(lambda: step(model, compiled(model, backend), x))
        checks.check(f"{backend}: a graph break in a region is an error", "end graph breaks in it" in text, text)
        model = build(PLAIN, 1)
        with region(budget="50%"):
            text = error_of(lambda: step(model, compiled(model, backend), x))
        checks.check(f"{backend}: a region around a compiled function is an error", "inside of the compiled function" in text, text)
    model = build(bounded("50%"))
    weight = torch.randn(32, 32, requires_grad=True)

    def deep(x):
        with region(budget="0%"):
            for _ in range(6):
                x = (x @ weight).tanh() + x.sin()
        return x.square().mean()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled(deep, budget="1%")(x).backward()
    told = " ".join(str(each.message) for each in said)
    checks.check("a share of the step is a goal, beside a share of a region as well", "takes its place" in told, told)
    text = error_of(lambda: reprise.torch.export(build(bounded("50%")), [x], path="model.mlir"))
    checks.check("a region in an exported model is an error", "an exported model cannot have" in text, text)
    plain = build(PLAIN)
    checks.check("outside of compiled code a region has no effect", equal(step(model, model, x), step(plain, plain, x)))


def inner_bytes(report):
    """Returns the bytes of inner values that a program saves."""
    return sum(row["saved_bytes"] for row in report.rows() if "region/" in row["name"])


def try_whole():
    x = torch.randn(256, 32)
    for name, budgets in (("alone", ("100%", "40%", 0)), ("in a checkpoint", (0,)), ("nested", ("100%", 0))):
        way = WAYS[name]
        model = build(reference(name), 2)
        expected, whole = step(model, compiled(model, "reprise", policy="save-all"), x), None
        for budget in budgets:
            model = build(way(budget), 2)
            found, report = step(model, compiled(model, "reprise"), x), graphs()[-1].report
            whole = inner_bytes(report) if whole is None else whole
            checks.check(f"reprise, {name}, {budget}: bits", equal(found, expected))
            limit = 0 if budget == 0 else whole
            checks.check(f"reprise, {name}, {budget}: the bound holds", inner_bytes(report) <= limit, f"{inner_bytes(report)} > {limit}")
    model = build(bounded("40%"), 2)
    step(model, compiled(model, "reprise", budget="80%"), x)
    free = inner_bytes(graphs()[-1].report)
    model = build(bounded("100%"), 2)
    step(model, compiled(model, "reprise", policy="save-all"), x)
    all_of = inner_bytes(graphs()[-1].report)
    checks.check("reprise: a budget of the step obeys the bound", free <= 0.4 * all_of, f"{free} of {all_of}")


def main():
    torch.set_num_threads(1)
    for part in (try_plans, try_budgets, try_errors, try_whole):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
