"""backend="reprise_plan" with bits="plan" and bits="inductor"."""
import re
import warnings
from unittest import mock

import checks
import torch
import torch.nn.functional as F
from test_plan import compiled, equal, refused, step
from test_plan_fused import Columns, WaveNet
from torch._functorch import config as joint_config
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx
from torch._inductor.graph import GraphLowering

import reprise
from reprise.torch import _plan_fused, _plan_lowering, plans
from reprise.torch._plan_backend import _decompositions
from reprise.torch._plan_budgets import UNLIMITED
from reprise.torch._plan_partition import Partitioner


def codes_of(model, x, backend, options=None):
    """Returns the texts of the code that Inductor compiles for a step, without its numbers of graphs; and the results."""
    made = []
    torch._dynamo.reset()
    with mock.patch.object(GraphLowering, "save_output_code", made.append), config.patch(fx_graph_cache=False), \
            joint_config.patch(enable_autograd_cache=False):
        results = step(model, torch.compile(model, backend=backend, options=options), x)
    return [re.sub(r"# AOT ID: .*", "", each) for each in made], results


def plain(budget):
    """Returns a backend that is Inductor with the partition of a plan, and without any change."""
    def compile_plainly(graph, inputs):
        with joint_config.patch(force_non_lazy_backward_lowering=True):
            patches = {"custom_partitioner_fn": Partitioner(budget, None, True, bits="inductor"), "layout_optimization": False}
            return compile_fx(graph, inputs, config_patches=patches, decompositions=_decompositions())
    return compile_plainly


def close(left, right):
    return all(torch.allclose(*pair, rtol=1e-4, atol=1e-5) for pair in zip(left, right, strict=True))


def try_codes():
    """Checks that bits="inductor" is Inductor's code of the same partition, and that bits="plan" is other code."""
    model, x, made = Columns(1), torch.randn(4, 16, 32), {}
    for budget in (None, "70%"):
        expected, results = codes_of(model, x, plain(budget or UNLIMITED))
        options = {} if budget is None else {"budget": budget}
        found, own = codes_of(model, x, "reprise_plan", {**options, "bits": "inductor"})
        checks.check(f"bits of Inductor, budget {budget}: the code is Inductor's", len(found) == 2 and found == expected,
                     f"{len(found)} codes, {len(expected)} expected")
        checks.check(f"bits of Inductor, budget {budget}: the report says so", plans()[-1].bits == "inductor"
                     and "inductor" in str(plans()[-1]), str(plans()[-1]))
        other, made[budget] = codes_of(model, x, "reprise_plan", options)
        checks.check(f"bits of plans, budget {budget}: the code is another one", len(other) == 2 and other != found,
                     f"{len(other)} codes")
        checks.check(f"bits of plans, budget {budget}: the results are close", close(made[budget], own) and close(own, results))
        checks.check(f"bits of plans, budget {budget}: the report says nothing", "fusion" not in str(plans()[-1]), str(plans()[-1]))
    checks.check("bits of plans: equal within a budget", equal(made[None], made["70%"]))


def try_masks():
    """Checks that a dropout drops the same elements with all bits, replayed or not."""
    model, x, masks = torch.nn.Linear(32, 32), torch.randn(64, 32), []

    def drop(x):
        for _ in range(3):
            x = F.dropout(model(x).tanh(), 0.3)
        return x
    for bits in ("plan", "inductor"):
        for budget in (None, "60%"):
            torch._dynamo.reset()
            torch.manual_seed(1)
            y = reprise.torch.compile(drop, budget, bits=bits)(x)
            y.square().sum().backward()
            masks.append((y.detach() == 0, model.weight.grad.clone()))
            model.zero_grad()
    same = all(torch.equal(mask, masks[0][0]) and torch.allclose(gradient, masks[0][1], rtol=1e-4, atol=1e-4) for mask, gradient in masks)
    checks.check("masks of dropouts are the same with all bits", same)


def noted(owner, name, notes):
    """Replaces a function by one that notes its arguments, too."""
    call = getattr(owner, name)
    return mock.patch.object(owner, name, lambda *given, **named: notes.append(given) or call(*given, **named))


def try_counts():
    """Checks that one of several codes is made, that its graphs are lowered once, and that it needs what was counted."""
    counted, asked, chosen, lowered, model, tokens = [], [], [], [], WaveNet(6, 32), torch.randint(32, (2, 64))
    with noted(_plan_fused.Candidate, "count", counted), noted(_plan_lowering.Meter, "lower", asked), \
            noted(_plan_lowering.Meter, "choose", chosen), noted(GraphLowering, "run", lowered):
        texts, expected = codes_of(model, tokens, "reprise_plan", {"budget": "60%"})
        tries, count, plan = len(counted), len(lowered), plans()[-1]
        again, found = codes_of(model, tokens, "reprise_plan", {"budget": "60%"})
    (_, code), (meter, recalled) = chosen
    checks.check("of several codes one is made", tries > 1 and len(texts) == 2, f"{tries} counted, {len(texts)} graphs")
    checks.check("no graph of the chosen code is lowered again", count > tries and len(asked) == count, f"{len(asked)}, {count} lowered")
    checks.check("a later compilation makes one code, and counts nothing", len(counted) == tries and len(lowered) == count + 2
                 and plans()[-1] == plan, f"{len(counted)} and {tries}, {plans()[-1]}")
    checks.check("the same code is made of graphs that are lowered and counted again", again == texts and equal(found, expected))
    checks.check("the code needs what was counted", meter.peaks == recalled.peaks == code.peaks and max(code.peaks.values()) == plan.peak,
                 f"{meter.peaks}, {recalled.peaks}, {code.peaks}, {plan}")


def try_refusals():
    x = torch.randn(8, 32)
    for options, words in (({"bits": "all"}, ["bits", "'all'"]), ({"bits": "inductor", "codegen": "eager"}, ["eager ops", "remove"])):
        run = compiled(torch.nn.Linear(32, 32), **{"codegen": "inductor", **options})
        good, text = refused(reprise.UsageError, *words, call=lambda: run(x))
        checks.check(f"{options} is a usage error", good, text)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_codes, try_masks, try_counts, try_refusals):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
