"""backend="reprise_plan" on random programs and random uses of them: bits of the graph without a budget, errors of it, and no byte above
the plan's.

test_plan_random.py [FIRST LAST]: runs other programs than the few that fit the time of a test. At night, 200 run.
"""
import functools
import gc
import random
import sys
import warnings

import checks
import memory
import random_modules
import random_uses
import torch
from test_plan import compiled

import reprise
from reprise.torch import plans
from reprise.torch._plan_layouts import as_eager

# Bytes outside of a graph: the loss, its gradient, and seeds.
OUTSIDE = 64
#: Steps of a program. Most programs are small, so that many run.
SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 12)
#: Periods: groups with a second configuration; programs of a larger size whose peak is measured; programs with
#: Inductor's code.
COMPARED, MEASURED, CODED = 8, 50, 20
#: Errors of PyTorch and of Reprise for a gradient of a gradient, beside the errors of random_uses.
NO_DERIVATIVE = ("does not currently support double backward", "has no derivative of its own")
#: PyTorch's error for a part of a program that has a region with draws, and no gradient that leaves it.
REGIONS_DRAW = "does not support RNG ops in recompute regions"
#: PyTorch's error if it cannot convert a cotangent that needs a gradient to another layout.
COTANGENT = "a leaf Variable that requires grad is being used"
#: Configuration that judges plans if PyTorch refuses the references.
SAVE_ALL = {"backend": "reprise_plan", "options": {"codegen": "eager", "policy": "save-all"}}


def step(model, forward, x):
    """The loss, gradients and buffers of one step, from a fixed seed."""
    model.zero_grad(set_to_none=True)
    torch.manual_seed(3)
    loss = forward(x)
    loss.backward()
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    return [each.detach().clone() for each in (loss, *gradients, *model.buffers())]


def try_options(name, seed, options, references):
    """Checks that each value has the bits of a reference: see compare()."""
    model = random_modules.Program(seed, more=True)
    forward, made = compiled(model, **options), len(plans())
    found = step(model, forward, model.input)
    right = all(any(torch.equal(value, other) for other in others) for value, *others in zip(found, *references, strict=True))
    checks.check(f"{name}: equal to the bit", right, str(plans()[-1]))
    # No plan knows the peak across graphs.
    if len(plans()) - made > 1:
        return
    model.zero_grad(set_to_none=True)
    executed, plan = memory.measure_peak(lambda: forward(model.input).backward()), plans()[-1]
    limit = max(plan.peak, plan.budget or 0)
    checks.check(f"{name}: the peak is within the plan's", executed <= limit + OUTSIDE, f"{executed}, {plan}")


def try_program(seed):
    def run(make):
        plain = random_modules.Program(seed, more=True)
        return step(plain, make(plain), plain.input)
    torch._dynamo.reset()
    try:
        with as_eager():
            references = [run(lambda plain: torch.compile(plain, backend="aot_eager")), run(lambda plain: plain)]
    except torch._dynamo.exc.BackendCompilerFailed as error:
        if REGIONS_DRAW not in str(error):
            raise
        references = [run(lambda plain: compiled(plain, policy="save-all"))]
    for options in ({"budget": f"{random.Random(f'budget {seed}').randrange(50, 101)}%"}, {"budget": "1%"}):
        try_options(f"program {seed}, {options}", seed, options, references)


MODELS = random_uses.Models()


def use_program(use, **options):
    """Runs a use of a model; without a backend it is eager."""
    seed = use.seed // random_uses.GROUP

    def make():
        size = random.Random(f"size {seed}").choice(SIZES)
        return random_modules.Program(seed, size, drops=use.chosen["threads"] == "one", more=True)
    # PyTorch refuses to keep graphs after a step that did not; reprise_plan does not, whatever is said here.
    with as_eager(), torch._functorch.config.patch(donated_buffer=options.get("backend") != "aot_eager"):
        try:
            return MODELS.run(use, make, **options)
        except reprise.Error as error:
            return {"error": random_uses.Error(error)}


def use_first(use, **options):
    """Runs a use of a model without compiled functions of the group."""
    MODELS.drop()
    return use_program(use, **options)


class Reference:
    """References of a use without a plan, and without its writes, each computed once, on demand."""

    def __init__(self, seed, run, **options):
        self.seed, self.run, self.options = seed, run, options

    @functools.cached_property
    def found(self):
        return self.run(random_uses.Use(self.seed), **self.options)

    @functools.cached_property
    def undisturbed(self):
        return self.run(random_uses.Use(self.seed, written="nothing"), **self.options)


def judge(found, reference, use, is_strict=False):
    """Lists the names whose bits differ. A plan with replays may read tensors in the backward pass that no other plan
    reads, so that writes between the passes are an error. ``is_strict`` is for plans without replays."""
    if use.chosen["threads"] == "two":
        # The order in which autograd adds gradients in threads differs from run to run, with eager and with aot_eager.
        return random_uses.judge(found, reference.found, 1e-5)
    left, right = (each["error"].kind if "error" in each else "" for each in (found, reference.found))
    if (NO_DERIVATIVE[0] in right or COTANGENT in right) and NO_DERIVATIVE[1] in left:
        return []
    if COTANGENT in right and not left:  # the program continues
        return [name for name in random_uses.same(found, reference.found) if name in reference.found and name != "error"]
    if left == "overwritten" and use.chosen["written"] != "nothing" and not is_strict:
        return [name for name in random_uses.same(found, reference.found) if name in found]
    # Programs may overwrite tensors that the plan does not read. Such a program goes on, and may ask for a gradient of a gradient.
    if right == "overwritten" and (left in ("", "freed") or NO_DERIVATIVE[1] in left):
        seen = random_uses.until_refusal(reference.found, reference.undisturbed)
        return random_uses.same({name: value for name, value in found.items() if name != "error"}, seen)
    return [f"{left}, expected: {right}"] if left != right else random_uses.same(found, reference.found)


def compare(use, options, references, is_strict=False):
    """Lists the names that differ from all references. No reference is right everywhere: eager has other bits, and
    aot_eager reads buffers that the step has overwritten. Gradients that Dynamo traces behind others of a group may be
    added in another order, with aot_eager as with ours. A name that differs is therefore compared once more, with each
    function compiled first."""
    wrong = []
    for run in (use_program, use_first):
        found, reference, names = run(use, **options), None, None
        for each in references:
            reference = Reference(use.seed, run, **each)
            wrong = judge(found, reference, use, is_strict)
            if not wrong:
                return []
            if all(name in found for name in wrong):  # names are values, not an error
                names = [name for name in wrong if names is None or name in names]
                if not names:
                    return []
        if "error" in reference.found and REGIONS_DRAW in reference.found["error"].kind:
            wrong = judge(found, Reference(use.seed, run, **SAVE_ALL), use, is_strict)
            if not wrong:
                return []
    MODELS.drop()
    return wrong


def try_use(seed):
    """Checks that eager has the same bits if its ops are those of AOTAutograd's graph."""
    use, group = random_uses.Use(seed), seed // random_uses.GROUP
    draw = random.Random(f"options {group}")
    choices = [{"budget": f"{draw.randrange(40, 101)}%"}, {"budget": "1%"}, {"policy": "recompute-all"}, {"policy": "save-all"}, {}]
    draw.shuffle(choices)
    for options in choices[:2 if group % COMPARED == 0 else 1]:
        wrong = compare(use, {"backend": "reprise_plan", "options": {"codegen": "eager", **options}}, ({}, {"backend": "aot_eager"}),
                        is_strict=options == {"policy": "save-all"})
        checks.check(f"program {seed}, {options}, {use}: equal to the bit", not wrong, str(wrong[:12]))


def try_code(seed):
    """Checks Inductor's code, which takes longer to compile."""
    use, draw = random_uses.Use(seed), random.Random(f"code {seed}")
    budget = f"{draw.randrange(40, 101)}%"
    wrong = compare(use, {"backend": "reprise_plan", "options": {"budget": budget}}, ({"backend": "reprise_plan"},))
    checks.check(f"program {seed}, Inductor's code at {budget}, {use}: equal to the bit", not wrong, str(wrong[:12]))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # Collections need not walk the objects of PyTorch's import, and need not run as often as usual.
    gc.freeze()
    gc.set_threshold(20000, 20, 20)
    # The original flushes the processor's caches for a log.
    torch._dynamo.guards.profile_guard_manager = lambda *given: 0.0
    first, last = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 200 if checks.everything else 8)
    for seed in range(first, last):
        for part in (try_use, *([try_program] if seed % MEASURED == 1 else []), *([try_code] if seed % CODED == 2 else [])):
            try:
                part(seed)
            except Exception as error:  # noqa: BLE001  what ends one program is told, and the others run
                MODELS.drop()
                checks.check(f"program {seed}, {part.__name__}, {random_uses.Use(seed)}", False, f"{type(error).__name__}: {error}"[:1500])
    checks.finish()


if __name__ == "__main__":
    main()
