"""backend="reprise" on random programs and random uses of them: eager's values, gradients, buffers and errors, and one set of bits
under every budget and policy.

test_whole_random.py [FIRST LAST]: other programs than those that a test has time for.
"""
import random
import sys
import warnings

import checks
import random_modules
import random_uses
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

#: In double precision a sum of some thousand terms that are added in another order.
TOLERANCE = 1e-7


def make(seed):
    return random_modules.Program(seed, steps=random.Random(seed).choice((4, 8, 12)), drops=False)


def run(use, seed, **options):
    torch._dynamo.reset()
    model = make(seed).double()
    model.input = model.input.double()
    if "backend" not in options:
        with sdpa_kernel(SDPBackend.MATH):  # PyTorch's others have no second derivative
            return use.run(model, lambda function: function)
    return use.run(model, lambda function: torch.compile(function, **options))


def try_program(seed):
    draw, use = random.Random(seed), random_uses.Use(seed)
    name = f"program {seed}, {use}"
    eager = run(use, seed)
    undisturbed = eager
    if "error" in eager:
        undisturbed = run(random_uses.Use(seed, written="nothing"), seed)
    plain = run(use, seed, backend="reprise")
    wrong = random_uses.judge(plain, eager, TOLERANCE, undisturbed)
    checks.check(f"{name}: beside eager", not wrong, f"{wrong[:12]}")
    options = draw.choice(({"policy": "recompute-all"}, {"policy": "save-all"}, {"budget": f"{draw.randrange(40, 100)}%"},
                           {"budget": "1%"}))
    other = run(use, seed, backend="reprise", options=options)
    wrong = random_uses.same(other, plain)
    checks.check(f"{name}, {options}: the bits of no budget", not wrong, f"{wrong[:12]}")


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    first, last = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 12)
    for seed in range(first, last):
        try:
            try_program(seed)
        except Exception as error:  # noqa: BLE001  what ends one program is told, and the others run
            checks.check(f"program {seed}, {random_uses.Use(seed)}", False, f"{type(error).__name__}: {error}"[:1500])
    checks.finish()


if __name__ == "__main__":
    main()
