"""random-convolutions.py SEED COUNT: prints convolutions like convolutions.py, at random sizes that tensor cores
support, in 16-bit types."""
import random
import runpy
import sys


def draw(rng):
    groups = rng.choice([1, 1, 1, 2])
    channels, outputs = (groups * rng.choice([16, 24, 17, 40, 72]) for _ in range(2))
    dims = rng.choice([1, 2, 2, 2])
    window = [rng.randint(1, 4) for _ in range(dims)]
    dilation = [rng.choice([1, 1, 2]) for _ in range(dims)]
    image = [rng.randint((w - 1) * d + 1, 12) for w, d in zip(window, dilation)]
    strides, low, high = ([rng.choice(some) for _ in range(dims)] for some in ([1, 1, 2], [0, 1, 2], [0, 1]))
    return (rng.randint(1, 3), channels, outputs, groups, image, window, strides, low, high, dilation, rng.choice(["bf16", "f16"]))


rng = random.Random(int(sys.argv[1]))
cases = {f"number {i}": draw(rng) for i in range(int(sys.argv[2]))}
sys.argv[1:] = []
runpy.run_path(__file__.replace("random-", ""), {"CHOSEN": cases})
