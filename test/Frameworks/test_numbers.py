"""Floats of Python that vary from step to step, such as a weight of a loss that is annealed, alone and beside sizes that vary."""
import warnings

import checks
import torch
import torch.nn.functional as F

FUNCTIONS = {
    "a factor": lambda x, w, number: ((x @ w).tanh() * number).sin().square().mean(),
    "the weight of a loss": lambda x, w, number: (x @ w).tanh().mean() * (1 - number) + number * (x @ w).square().mean(),
    "a factor of the result": lambda x, w, number: (x @ w).square().mean() * max(number, 0.15) ** 0.5,
    "an exponent": lambda x, w, number: ((x @ w).sigmoid() ** (number + 1)).sum() * number ** 2,
    "a temperature": lambda x, w, number: ((x @ w) / (number * 2 + 1)).softmax(1).square().sum(),
    "a bound": lambda x, w, number: (x @ w).clamp(-number, number).square().sum(),
    "a rate": lambda x, w, number: F.dropout((x @ w).tanh(), number).square().mean(),
}
STEPS = ((8, 0.1), (8, 0.2), (12, 0.3), (16, 0.4), (12, 0.3))
BACKENDS = (("reprise_plan", {"codegen": "eager", "budget": "70%"}, 0.0), ("reprise", {"budget": "70%"}, 1e-5))


def step(function, weight, rows, number):
    x = torch.randn(rows, 16, generator=torch.Generator().manual_seed(rows), requires_grad=True)
    torch.manual_seed(1)
    value = function(x, weight, number)
    return value.detach(), *torch.autograd.grad(value, (x, weight))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    weight = torch.randn(16, 16, requires_grad=True)
    for backend, options, tolerance in BACKENDS:
        for name, function in FUNCTIONS.items():
            if backend == "reprise" and name == "a rate":  # masks of Reprise differ from eager's
                continue
            torch._dynamo.reset()
            compiled = torch.compile(function, backend=backend, options=options)
            for rows, number in STEPS:
                found, expected = step(compiled, weight, rows, number), step(function, weight, rows, number)
                checks.check(f"{backend}, {name}: {rows} rows, {number}", all(
                    ((one - other).abs() <= tolerance * other.abs().max()).all() for one, other in zip(found, expected)))
    checks.finish()


if __name__ == "__main__":
    main()
