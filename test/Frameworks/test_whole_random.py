"""backend="reprise" on random programs and random uses of them: eager's values, gradients, buffers and errors, and one set of bits
under every budget and policy.

test_whole_random.py [FIRST LAST]: runs other programs than the few that fit the time of a test. At night, 200 run.
"""
import gc
import random
import sys
import warnings

import checks
import random_modules
import random_uses
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

#: Relative error in double precision of a sum of some thousand terms that are added in another order.
TOLERANCE = 1e-7
#: A few units in the last place.
ROUNDING = 1e-15
#: Steps of a program. Most programs are small, so that many run.
SIZES = (1, 2, 2, 3, 3, 4, 4, 8)
#: Period of the groups of programs for which plans are searched and a second configuration runs, whose bits are those
#: of the first. Other groups use the first plan found.
COMPARED = 8


MODELS = random_uses.Models()


def run(use, nudge=0.0, **options):
    """Runs a use; parameters are larger by ``nudge``, a fraction."""
    seed = use.seed // random_uses.GROUP

    def make():
        # A program runs while it is built, which moves its batch norms. The same kernels must run for all references.
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            model = random_modules.Program(seed, steps=random.Random(f"size {seed}").choice(SIZES), drops=False).double()
        model.input = model.input.double()
        with torch.no_grad():
            for each in model.parameters() if nudge else ():
                each.mul_(1 + nudge)
        return model
    if options:
        return MODELS.run(use, make, **options)
    # PyTorch's fused attention has no second derivative. It reads queries, keys and values in the backward pass, as
    # ours does.
    is_first = use.chosen["order"] == "first" and use.chosen["compiled"] != "inner gradient"
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION if is_first else SDPBackend.MATH):
        return MODELS.run(use, make)


def try_program(seed):
    use, group = random_uses.Use(seed), seed // random_uses.GROUP
    draw = random.Random(f"options {group}")
    eager = run(use)
    undisturbed = eager
    if "error" in eager:
        undisturbed = run(random_uses.Use(seed, written="nothing"))
    is_compared = group % COMPARED == 0
    choices = [{}, {"policy": "recompute-all"}, {"policy": "save-all"}, {"budget": f"{draw.randrange(40, 100)}%"}, {"budget": "1%"}]
    first, second = draw.sample(choices, 2)
    found = run(use, backend="reprise", options={**first, **({} if is_compared else {"time_limit": 0})})
    # Without a policy a plan replays values that cost no time. A compiled step reads values that any of its outputs
    # needs, as AOTAutograd's do. Eager replays a region with overwritten values, without an error. A second backward
    # pass runs the forward pass again, which reads all parameters.
    is_strict = (first == {"policy": "save-all"} and use.chosen["compiled"] == "loss" and not MODELS.model.has_regions
                 and use.chosen["passes"] not in ("retained", "asked for"))
    wrong = random_uses.judge(found, eager, TOLERANCE, undisturbed, is_strict)
    if wrong and "error" not in eager:
        MODELS.drop()
        wrong = random_uses.settled(wrong, eager, run(use, nudge=ROUNDING), TOLERANCE)
        MODELS.drop()
    checks.check(f"program {seed}, {use}, {first}: beside eager", not wrong, f"{wrong[:12]}")
    if is_compared:
        wrong = random_uses.same(run(use, backend="reprise", options=second), found)
        checks.check(f"program {seed}, {use}, {second}: the bits of {first}", not wrong, f"{wrong[:12]}")


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # Collections need not walk the objects of PyTorch's import, and need not run as often as usual.
    gc.freeze()
    gc.set_threshold(20000, 20, 20)
    # The original flushes the processor's caches for a log.
    torch._dynamo.guards.profile_guard_manager = lambda *given: 0.0
    first, last = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 200 if checks.everything else 12)
    for seed in range(first, last):
        try:
            try_program(seed)
        except Exception as error:  # noqa: BLE001  what ends one program is told, and the others run
            MODELS.drop()
            checks.check(f"program {seed}, {random_uses.Use(seed)}", False, f"{type(error).__name__}: {error}"[:1500])
    checks.finish()


if __name__ == "__main__":
    main()
