#!/usr/bin/env python3
"""The zoo's models against the same models written in PyTorch: loss, gradients, Hessian-vector products,
parameters and states after some steps.

PyTorch computes in f64. Our f64 programs (the zoo's text with f32 replaced) must agree with it to F64 and the f32
programs as the zoo writes them to the tolerances of F32. An array's error is the norm of its difference over the norm
of PyTorch's array, or over a thousandth of the largest norm among the arrays of its kind if that is larger: the gradient of a
key's bias, for one, is zero but for rounding.
"""

import math
import os
import pathlib
import re
import sys

from arrays import file_name, read_npy, write_npy
from checks import check, compile_model, finish, run, skip

try:
    import torch
except ImportError:
    skip("comparison with PyTorch", "torch is not installed (pip install torch)")
    finish()

from models_torch import LOSSES
from zoo_models import SIZES, arguments, write_model

STEPS = 3
# All other models: momentum.
OPTIMIZERS_OF = {"gpt2": ["sgd", "momentum", "adamw"], "mlp": ["sgd", "momentum", "adamw"]}
F64 = {"loss": 1e-13, "gradient": 1e-11, "hvp": 1e-11, "parameter": 1e-10, "state": 1e-11}
F32 = {"loss": 1e-5, "gradient": 5e-5, "hvp": 2e-4, "parameter": 5e-5, "state": 2e-4}
DTYPES = {"<f4": torch.float32, "<f8": torch.float64, "<i4": torch.int32}


def read(path):
    descr, shape, data = read_npy(path)
    return torch.frombuffer(bytearray(data), dtype=DTYPES[descr]).reshape(shape)


def write(path, tensor):
    descr = next(descr for descr, dtype in DTYPES.items() if dtype == tensor.dtype)
    write_npy(path, descr, tuple(tensor.shape), bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()))


def make_values(model):
    """Values of all arguments except the learning rate, which is the optimizer's own.

    Parameters that the zoo fills with a constant are perturbed, so that each bias and each scale counts.
    """
    generator = torch.Generator().manual_seed(20)
    values = {}
    for name, (role, shape, init, numbers) in arguments(model, "hvp").items():
        if init == "uniform_int":
            values[name] = torch.randint(int(numbers[0]), int(numbers[1]), shape, generator=generator, dtype=torch.int32)
            continue
        mean, deviation = numbers if init == "normal" else (numbers[0], 0.0)
        deviation = max(deviation, 0.1) if role == "parameter" else deviation
        # Sixteen bottlenecks of full strength amplify a rounding ten thousandfold (Goyal et al. 2017, section 5.1).
        mean = 0.2 if name.endswith("conv3/norm/weight") else mean
        # Values are rounded to f32, so that all programs start from the same numbers.
        values[name] = (mean + deviation * torch.randn(shape, generator=generator)).double()
    return values


def write_folder(folder, values, dtype):
    os.makedirs(folder)
    for name, value in values.items():
        write(os.path.join(folder, file_name(name)), value.to(dtype) if value.is_floating_point() else value)


class Reference:
    """PyTorch's results for a model and its values."""

    def __init__(self, name, values, train):
        roles = {key: role for key, (role, *_) in train.items()}
        self.inputs = {name: value.long() if value.dtype == torch.int32 else value
                       for name, value in values.items() if roles.get(name) == "input"}
        self.parameters = {name: value.clone().requires_grad_() for name, value in values.items()
                           if roles.get(name) == "parameter"}
        self.directions = {name: values["direction/" + name] for name in self.parameters}
        self.running = {key: torch.full(shape, numbers[0], dtype=torch.float64)
                        for key, (_, shape, _, numbers) in train.items() if key.startswith("running_")}
        self.evaluate = lambda: LOSSES[name](self.parameters | self.running, self.inputs, SIZES[name])

    def gradients(self):
        loss = self.evaluate()
        gradients = torch.autograd.grad(loss, list(self.parameters.values()), create_graph=True)
        along = sum((gradient * self.directions[name]).sum() for name, gradient in zip(self.parameters, gradients))
        products = torch.autograd.grad(along, list(self.parameters.values()))
        named = {f"gradient/{name}": gradient.detach() for name, gradient in zip(self.parameters, gradients)}
        return {"loss": loss.detach()} | named, {f"hvp/{name}": value for name, value in zip(self.parameters, products)}

    def train(self, optimizer):
        """Returns the last loss, parameters and optimizer state after STEPS steps from the same values."""
        start = {name: value.detach().clone() for name, value in self.parameters.items()}
        for name, value in self.running.items():
            value.fill_("variance" in name)
        rule = OPTIMIZERS[optimizer](list(self.parameters.values()))
        for _ in range(STEPS):
            rule.zero_grad()
            loss = self.evaluate()
            loss.backward()
            rule.step()
        results = {"loss": loss.detach()} | self.running | {name: value.detach().clone() for name, value in self.parameters.items()}
        for name, value in self.parameters.items():
            for ours, theirs in STATE[optimizer].items():
                results[f"{ours}/{name}"] = rule.state[value][theirs]
            value.data.copy_(start[name])
        return results


OPTIMIZERS = {
    "sgd": lambda values: torch.optim.SGD(values, lr=0.1),
    "momentum": lambda values: torch.optim.SGD(values, lr=0.01, momentum=0.9),
    "adamw": lambda values: torch.optim.AdamW(values, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01),
}
STATE = {"sgd": {}, "momentum": {"momentum": "momentum_buffer"}, "adamw": {"mean": "exp_avg", "variance": "exp_avg_sq"}}


def kind_of(name):
    head = name.split("/")[0]
    if head in ("loss", "gradient", "hvp"):
        return head
    return "state" if head in ("momentum", "mean", "variance", "running_mean", "running_variance") else "parameter"


def compare(title, folder, expected, tolerances):
    """Makes one check per kind of result; the message names the worst array."""
    names = {path.name for path in pathlib.Path(folder).glob("*.npy")} - {"offset.npy"}
    known = {file_name(name) for name in expected} | {"beta1_power.npy", "beta2_power.npy"}
    check(f"{title}: PyTorch has every result", names <= known and {file_name(name) for name in expected} <= names,
          str(names ^ known))
    largest, worst = {}, {}
    for name, value in expected.items():
        head = name.split("/")[0] if kind_of(name) == "state" else kind_of(name)
        largest[head] = max(largest.get(head, 0.0), value.norm().item())
    for name, value in expected.items():
        kind = kind_of(name)
        if tolerances is F32 and "adamw" in title and name.endswith("key/bias"):
            # AdamW scales a gradient that is pure rounding to the size of any other.
            continue
        head = name.split("/")[0] if kind == "state" else kind
        error = (read(pathlib.Path(folder, file_name(name))).double() - value).norm().item()
        error /= max(value.norm().item(), 1e-3 * largest[head])
        if math.isnan(error) or error >= worst.get(kind, (-1.0,))[0]:
            worst[kind] = error if not math.isnan(error) else math.inf, name
    for kind, (error, name) in worst.items():
        check(f"{title}: {kind} (tolerance {tolerances[kind]:g})", error <= tolerances[kind], f"{name} is off by {error:.3g}")
        if "--verbose" in sys.argv:
            print(f"  {kind}: worst error {error:.2e} of {name}")


def widen(model):
    """Returns the module in f64; a constant that f32 had rounded, such as 0.899999976, becomes the intended decimal
    again."""
    exact = lambda found: f"dense<{float(found.group(1)):.6e}> : {found.group(2)}"
    return re.sub(r"dense<(-?\d[^>]*)> : (tensor<[^>]*f64>)", exact, model.replace("f32", "f64"))


def compare_model(name, suffix, dtype, tolerances):
    models = {}
    for optimizer in OPTIMIZERS_OF.get(name, ["momentum"]):
        path = pathlib.Path(f"{name}.{optimizer}.{suffix}.mlir")
        write_model(path, name, SIZES[name], f"--optimizer={optimizer}")
        if dtype == torch.float64:
            path.write_text(widen(path.read_text()))
        models[optimizer] = path
    model = next(iter(models.values()))
    text = model.read_text()
    values = make_values(text)
    write_folder(f"{name}.{suffix}.values", values, dtype)
    reference = Reference(name, values, arguments(text, "train"))
    gradients, products = reference.gradients()
    jobs = [("grad", model, "grad", 1, gradients)]
    # The program of resnet50 is the largest: one type is enough.
    if name != "resnet50" or dtype == torch.float64:
        jobs.append(("hvp", model, "hvp", 1, products))
    jobs += [(optimizer, path, "train", STEPS, reference.train(optimizer)) for optimizer, path in models.items()]
    for job, path, entry, steps, expected in jobs:
        title = f"{name}.{suffix}.{job}"
        compile_model(path, f"{title}.rpb", f"--entry={entry}", "--threads=2")
        run(f"{title}.rpb", title, f"--steps={steps}", f"--input-dir={name}.{suffix}.values", "--threads=2")
        compare(title, title, expected, tolerances)


def main():
    torch.set_num_threads(2)
    for name in [name for name in sys.argv[1:] if name in SIZES] or SIZES:
        compare_model(name, "f64", torch.float64, F64)
        compare_model(name, "f32", torch.float32, F32)
    finish()


if __name__ == "__main__":
    main()
