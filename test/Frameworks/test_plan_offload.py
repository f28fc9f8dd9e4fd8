"""must_offload of backend="reprise_plan": values wait in a second memory, which PyTorch's allocator does not know on a CPU."""
import functools
import warnings
from unittest import mock

import checks
import memory
import torch
import torch.nn.functional as F
from test_plan import compiled, equal, refused, step
from test_region_budgets import Layer
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import reprise
from reprise.torch import _plan_graphs, plans, region

aten = torch.ops.aten
#: Bytes outside of a graph.
OUTSIDE = 64


class Stack(nn.Module):
    """Model of layers; ``returns`` tells whether a value that the backward pass reads is a result."""

    def __init__(self, around=lambda layer, x: layer(x)):
        super().__init__()
        self.around, self.layers = around, nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = self.around(layer, x)
        return x.square().mean()


def bounded(layer, x):
    with region(budget="50%"):
        return layer(x)


def build(*arguments):
    torch.manual_seed(0)
    return Stack(*arguments)


def try_bits():
    x = torch.randn(512, 32)
    model = build()
    expected = step(model, model, x)
    step(model, compiled(model), x)
    whole = plans()[-1]
    policies = {"all": "must_offload", "views": {aten.t: "must_offload", aten.view: "must_offload"},
                "several results": {aten.native_layer_norm: "must_offload", aten.native_dropout: "must_offload"},
                "with replays": {aten.addmm: "must_offload", aten.gelu: "must_recompute"},
                "a function": lambda node: "must_offload" if node.target is aten.gelu.default else None}
    for name, policy in policies.items():
        for more in ({}, {"budget": "70%"}):
            run = compiled(model, policy=policy, **more)
            found, plan = step(model, run, x), plans()[-1]
            model.zero_grad(set_to_none=True)
            executed = memory.measure_peak(lambda: run(x).backward())
            checks.check(f"{name}, {more}: bits", equal(found, expected))
            checks.check(f"{name}, {more}: the plan tells the peak", executed <= plan.peak + OUTSIDE, f"{executed} > {plan}")
            if not more:
                checks.check(f"{name}: values wait on the host", name == "views" or plan.host_bytes > 0 and plan.peak < whole.peak
                             and plan.saved_bytes < whole.saved_bytes, f"{plan}, {whole}")
    checks.check("what waits on the host is not in memory", plans()[-2].host_bytes > 0, str(plans()[-2]))


def try_prefetch():
    """Checks that copies back begin before other ops, and are waited for by their readers."""
    found, backward = [], _plan_graphs.Carrier.backward

    def record(self):
        found.append(backward(self))
        return found[-1]
    model = build()
    with mock.patch.object(_plan_graphs.Carrier, "backward", record):
        step(model, compiled(model, policy={aten.addmm: "must_offload"}), torch.randn(512, 32))
    nodes = [node for node in found[-1].graph.nodes if node.op == "call_function"]
    begun = [node for node in nodes if node.target is torch.ops.reprise.from_host.default]
    ends = [next(iter(node.users)) for node in begun]
    checks.check("copies back are waited for", begun and all(each.target is torch.ops.reprise.arrive.default for each in ends), str(nodes))
    checks.check("a copy back begins before other ops", any(nodes.index(end) > nodes.index(begin) + 1 for begin, end in zip(begun, ends)), str(nodes))


def try_uses():
    """Checks regions, autocast, kept graphs, and results that are moved."""
    x = torch.randn(512, 32)
    plain, region_of = build(), functools.partial(checkpoint, use_reentrant=False)
    for name, around in (("checkpoints", region_of), ("regions with a budget", bounded)):
        model = build(around)
        found = step(model, compiled(model, policy={aten.addmm: "must_offload"}), x)
        checks.check(f"{name}: bits", equal(found, step(plain, plain, x)) and plans()[-1].host_bytes > 0, str(plans()[-1]))
    for amp in (False, True):
        made = []
        for options in ({}, {"policy": "must_offload"}):
            plain.zero_grad(set_to_none=True)
            torch.manual_seed(3)
            run = compiled(plain, **options)
            with torch.autocast("cpu", torch.bfloat16, enabled=amp):
                loss = run(x)
            loss.backward(retain_graph=True)
            loss.backward()
            made.append([each.grad.clone() for each in plain.parameters()])
        checks.check(f"two backward passes, autocast {amp}: bits", equal(*made))
    weight = torch.randn(32, 32, requires_grad=True)

    def both(x):
        y = torch.tanh(x @ weight)
        return y, (y @ weight).sin()
    found = []
    for run in (both, compiled(both, policy="must_offload")):
        weight.grad = None
        y, z = run(x)
        (y.square().sum() + z.sum()).backward()
        found.append((y.detach(), z.detach(), weight.grad))
    checks.check("results stay in memory: bits", equal(*found))


def try_budgets():
    """Checks plans that move values by themselves: within a share, and within bytes of a step of two graphs."""
    x, model = torch.randn(512, 32), build()
    expected = step(model, model, x)

    def broken(x):
        for place, layer in enumerate(model.layers):
            if place == 1:
                torch._dynamo.graph_break()
            x = layer(x)
        return x.square().mean()
    for name, call, budget in (("a share", model, "50%"), ("the least share", model, "1%"), ("two graphs", broken, 1_500_000)):
        made = []
        for offload in (False, True):
            run = compiled(call, budget=budget, offload=offload)
            found = [step(model, run, x) for _ in range(3 if call is broken else 1)][-1]
            model.zero_grad(set_to_none=True)
            executed = memory.measure_peak(lambda: run(x).backward())
            plan = plans()[-1]
            made.append(plan)
            limit = plan.budget if call is model else budget
            checks.check(f"{name}, offload={offload}: bits", equal(found, expected))
            checks.check(f"{name}, offload={offload}: within the budget", executed <= limit + OUTSIDE, f"{executed} > {limit}, {plan}")
        if call is model:
            checks.check(f"{name}: moved values save replays", made[1].host_bytes > 0 and made[1].extra_seconds < made[0].extra_seconds, str(made))


def try_errors():
    for options, words in (({"offload": "yes"}, "offload: expected True or False"), ({"offload": True, "codegen": "inductor"}, "in eager code only")):
        good, text = refused(reprise.UsageError, words, call=lambda: compiled(lambda x: x.sin(), **options)(torch.ones(4, requires_grad=True)))
        checks.check(f"{options} is an error", good, text)
    x = torch.randn(512, 32)

    def keep(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is aten.addmm.default else CheckpointPolicy.PREFER_RECOMPUTE
    kept = functools.partial(checkpoint, use_reentrant=False, context_fn=functools.partial(create_selective_checkpoint_contexts, keep))
    model = build(kept)
    good, text = refused(reprise.Error, "is marked must_save by the model and must_offload by the policy",
                         call=lambda: step(model, compiled(model, policy={aten.addmm: "must_offload"}), x))
    checks.check("two labels for one op are an error", good, text)
    model = build()
    good, text = refused(reprise.Error, 'set codegen="eager"',
                         call=lambda: step(model, compiled(model, policy="must_offload", codegen="inductor"), x))
    checks.check("Inductor's code cannot move values", good, text)
    weight = torch.randn(32, 32, requires_grad=True)
    run = compiled(lambda x: F.relu((x @ weight).view(-1)).square().sum(), policy={aten.mm: "must_offload", aten.view: "must_save"})
    good, text = refused(reprise.Error, "they share memory", call=lambda: run(x).backward())
    checks.check("two labels for one memory are an error", good, text)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_bits, try_prefetch, try_uses, try_budgets, try_errors):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
