"""The zoo's models at the sizes of the tests, and facts from a module's text about its arguments."""

import array
import pathlib
import random
import re

from arrays import file_name, write_npy
from checks import zoo

TEXT = {"batch": 2, "seq": 32, "vocab": 61}
SIZES = {
    "bert": {"layers": 2, "width": 32, "heads": 4, **TEXT},
    "gpt2": {"layers": 2, "width": 64, "heads": 4, **TEXT},
    "llama": {"layers": 2, "width": 32, "heads": 4, **TEXT},
    "lstm": {"layers": 2, "width": 24, "batch": 2, "seq": 8, "vocab": 61},
    "mlp": {"layers": 2, "width": 48, "batch": 16, "classes": 10},
    "moe": {"layers": 2, "width": 16, "heads": 2, **TEXT},
    "resnet18": {"width": 4, "batch": 4, "image": 64, "classes": 10},
    "resnet50": {"width": 4, "batch": 4, "image": 64, "classes": 10},
    "unet": {"layers": 2, "width": 8, "batch": 2, "image": 16, "classes": 5},
    "vit": {"layers": 2, "width": 32, "heads": 4, "batch": 4, "image": 16, "seq": 16, "classes": 10},
}
LONGER = {"batch": 3, "seq": 100, "vocab": 257}
LARGER_SIZES = {
    "bert": {"layers": 4, "width": 96, "heads": 6, **LONGER},
    "gpt2": {"layers": 4, "width": 96, "heads": 6, **LONGER},
    "llama": {"layers": 4, "width": 96, "heads": 8, **LONGER},
    "lstm": {"layers": 2, "width": 72, "batch": 5, "seq": 30, "vocab": 257},
    "mlp": {"layers": 5, "width": 200, "batch": 50, "classes": 17},
    "moe": {"layers": 3, "width": 72, "heads": 3, **LONGER},
    "resnet18": {"width": 12, "batch": 3, "image": 96, "classes": 37},
    "resnet50": {"width": 8, "batch": 3, "image": 96, "classes": 37},
    "unet": {"layers": 3, "width": 12, "batch": 3, "image": 48, "classes": 7},
    "vit": {"layers": 4, "width": 96, "heads": 6, "batch": 5, "image": 48, "seq": 64, "classes": 37},
}


def write_model(path, name, size, *flags):
    """Writes the model; `size` maps flags to numbers."""
    zoo(path, name, *[f"--{flag}={value}" for flag, value in size.items()], *flags)


def arguments(model, entry):
    """Role, shape and initializer of each argument of an entry, read off the module's text."""
    signature = re.search(rf"func\.func @{entry}\((.*?)\) ->", model, re.S).group(1)
    found = {}
    for part in re.split(r"%arg\d+: ", signature)[1:]:
        name = re.search(r'reprise\.name = "([^"]*)"', part).group(1)
        role = re.search(r'reprise\.role = "(\w+)"', part).group(1)
        shape = re.match(r"tensor<([^>]*)>", part).group(1).split("x")[:-1]
        init = re.search(r"reprise\.init = #reprise\.(\w+)<([^>]*)>", part)
        found[name] = role, [int(size) for size in shape], init.group(1), [float(n) for n in init.group(2).split(",")]
    return found


def write_batch(path, folder):
    """Writes one batch of inputs for @train by their initializers, the same in every step; returns the flags for a run."""
    pick, flags = random.Random(5), []
    pathlib.Path(folder).mkdir(exist_ok=True)
    for name, (role, shape, init, numbers) in arguments(pathlib.Path(path).read_text(), "train").items():
        if role != "input" or init == "fill":
            continue
        count = 1
        for size in shape:
            count *= size
        file = pathlib.Path(folder, file_name(name))
        if init == "uniform_int":
            values = array.array("i", [pick.randrange(int(numbers[0]), int(numbers[1])) for _ in range(count)])
            write_npy(file, "<i4", tuple(shape), values.tobytes())
        else:
            values = array.array("f", [pick.gauss(*numbers) for _ in range(count)])
            write_npy(file, "<f4", tuple(shape), values.tobytes())
        flags += ["--input", f"{name}={file}"]
    return flags
