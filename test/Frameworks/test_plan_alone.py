"""backend="reprise_plan" in a process of its own, its options, and versions of PyTorch."""
import os
import re
import subprocess
import sys
import tempfile
import warnings

import checks
import torch
from test_plan import Net, compiled, refused

import reprise
from reprise.torch._seam import versions
from reprise.torch import plans


def try_usage():
    model, x = Net(), torch.randn(8, 24)
    for options, word in (({"budget": "lots"}, "budget"), ({"budget": -1}, "budget"), ({"codegen": "fast"}, "codegen"),
                          ({"polici": 1}, "polici"), ({"policy": "save-some"}, "policy")):
        good, text = refused(reprise.UsageError, word, call=lambda: compiled(model, **options)(x))
        checks.check(f"{options} is a usage error", good, text)
    for budget, size in (("1MB", 10 ** 6), ("1.5GiB", 3 << 29), ("2,000,000", 2 * 10 ** 6), (10 ** 6, 10 ** 6)):
        compiled(model, budget=budget)(x)
        checks.check(f"a budget of {budget!r} is {size} bytes", plans()[-1].budget == size, str(plans()[-1]))
    with torch.no_grad():
        checks.check("without gradients the graph just runs", torch.equal(compiled(model.eval())(x), model(x)))


def try_short():
    """The short form hands its arguments to torch.compile."""
    x = torch.randn(8, 24)
    for backend, options in (("reprise_plan", {"codegen": "eager"}), ("reprise", {})):
        losses = []
        for make in (lambda model: reprise.torch.compile(model, "60%", backend=backend, **options),
                     lambda model: torch.compile(model, backend=backend, options={"budget": "60%", **options})):
            torch._dynamo.reset()
            torch.manual_seed(0)
            model = Net()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", reprise.RepriseWarning)
                loss = make(model)(x).square().sum()
                loss.backward()
            losses.append([loss.detach(), *(each.grad for each in model.parameters())])
        checks.check(f"{backend}: the short form has the bits of the long one", all(map(torch.equal, *losses)))
    torch._dynamo.reset()
    good, text = refused(reprise.UsageError, "budgets", call=lambda: reprise.torch.compile(Net(), budgets="60%")(x))
    checks.check("an unknown option of the short form is a usage error", good, text)


def run_alone(program):
    """Runs a program in a process with caches of its own; returns its output."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", "import torch, warnings; " + program], capture_output=True, text=True,
                              env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder})
    return re.sub(r".*triton not found.*\n", "", done.stdout + done.stderr)  # a CUDA build without Triton says so


def try_alone():
    """Programs that do not import Reprise, and that PyTorch's version suits or not."""
    train = ("m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()); f = torch.compile(m, backend='reprise_plan', "
             "options={'codegen': 'eager', 'budget': '60%'}); f(torch.ones(2, 4)).sum().backward(); print('trained')")
    told = run_alone("warnings.simplefilter('ignore'); " + train)
    checks.check("the backend is known without an import, and prints nothing", told == "trained\n", told[-2000:])
    told = run_alone("import reprise.torch")
    checks.check("the tested one is none", not told, told)
    with open(os.path.join(os.path.dirname(__file__), "requirements.txt")) as stream:
        pinned = dict(each.split("==") for each in stream.read().split() if "==" in each)
    checks.check("the tested versions include that of requirements.txt",
                 versions.is_tested(pinned["torch"]), versions.RANGE)


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_usage, try_short, try_alone):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
