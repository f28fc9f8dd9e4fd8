"""backend="reprise_plan" on random programs: bits and buffers of the graph without a budget, and no byte above the plan's.

test_plan_random.py [FIRST LAST]: other programs than those that a test has time for.
"""
import random
import re
import sys
import warnings

import checks
import memory
import random_modules
import torch
from test_plan import compiled, equal

import reprise
from reprise.torch import plans
from reprise.torch._plan_layouts import as_eager

# What lies beside a graph: the loss, its gradient, and seeds.
OUTSIDE = 64


def step(model, forward, x):
    """The loss, gradients and buffers of one step, from a fixed seed."""
    model.zero_grad(set_to_none=True)
    torch.manual_seed(3)
    loss = forward(x)
    loss.backward()
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    return [each.detach().clone() for each in (loss, *gradients, *model.buffers())]


def try_options(name, seed, options, expected):
    model = random_modules.Program(seed, more=True)
    forward = compiled(model, **options)
    try:
        found = step(model, forward, model.input)
    except reprise.Error as error:
        # The region of a checkpoint must be replayed, whatever that takes; what the error names is enough.
        least = re.search(r"MUST label.* the least budget that was met is (\d+) bytes", str(error))
        checks.check(f"{name}: labels alone refuse a budget", least is not None and "budget" in options, str(error))
        if least and int(least.group(1)) != options["budget"]:
            try_options(name + ", then the least", seed, {"budget": int(least.group(1))}, expected)
        return
    checks.check(f"{name}: equal to the bit", equal(found, expected), str(plans()[-1]))
    model.zero_grad(set_to_none=True)
    executed, plan = memory.measure_peak(lambda: forward(model.input).backward()), plans()[-1]
    limit = max(plan.peak, plan.budget or 0)
    checks.check(f"{name}: the peak is within the plan's", executed <= limit + OUTSIDE, f"{executed}, {plan}")


def try_program(seed):
    plain, draw = random_modules.Program(seed, more=True), random.Random(seed)
    torch._dynamo.reset()
    with as_eager():
        expected = step(plain, torch.compile(plain, backend="aot_eager"), plain.input)
    for options in ({"budget": f"{draw.randrange(50, 101)}%"}, {"budget": "1%"},
                    {"policy": draw.choice(("recompute-all", "save-all", None))}):
        try_options(f"program {seed}, {options}", seed, options, expected)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    first, last = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 12)
    for seed in range(first, last):
        try_program(seed)
    checks.finish()


if __name__ == "__main__":
    main()
