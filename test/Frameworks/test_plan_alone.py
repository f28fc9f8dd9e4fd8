"""backend="reprise_plan" in a process of its own, its options, what it tells, and versions of PyTorch."""
import contextlib
import io
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from unittest import mock

import checks
import torch
from test_plan import Net, compiled, refused, step
from torch.cuda import _memory_viz

import reprise
from reprise.torch import _plan_progress
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


def run_alone(program, **variables):
    """Runs a program in a process with caches of its own; returns its output."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", "import torch, warnings; " + program], capture_output=True, text=True,
                              env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, **variables})
    return re.sub(r".*triton not found.*\n", "", done.stdout + done.stderr)  # a CUDA build without Triton says so


TRAIN = ("m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()); f = torch.compile(m, backend='reprise_plan', "
         "options={'codegen': 'eager', 'budget': '60%'}); f(torch.ones(2, 4)).sum().backward(); print('trained')")


def try_log():
    """Checks that TORCH_LOGS turns the log on in a program that does not import Reprise."""
    for name in ("+reprise", "reprise.torch"):
        told = run_alone("warnings.simplefilter('ignore'); " + TRAIN + "; f(torch.ones(2, 4)).sum().backward()", TORCH_LOGS=name)
        checks.check(f"TORCH_LOGS={name} logs the plan", len(re.findall(r"plan 1: budget .*peak .*saved", told)) == 1
                     and told.startswith("trained\n"), told[-2000:])


def replay(events):
    """Returns the highest sum of bytes of a snapshot's events, and the sum at the end."""
    live = peak = 0
    for each in events:
        live += {"alloc": each["size"], "free_completed": -each["size"]}.get(each["action"], 0)
        peak = max(peak, live)
    return peak, live


def try_snapshot():
    """Checks that the snapshot of a plan has its peak, and that PyTorch's viewer reads the snapshot."""
    model = Net()
    step(model, compiled(model, budget="50%"), torch.randn(256, 24))
    plan = plans()[-1]
    with tempfile.TemporaryDirectory() as folder:
        plan.write_snapshot(os.path.join(folder, "plan.pickle"))
        with open(os.path.join(folder, "plan.pickle"), "rb") as stream:
            found = pickle.load(stream)
    events = found["device_traces"][0]
    peak, end = replay(events)
    checks.check("the snapshot has the plan's peak", peak == plan.peak and plan.replays > 0, f"{peak}, {plan}")
    checks.check("its end has the gradients", end >= plan.gradient_bytes and end == sum(each["total_size"] for each in found["segments"]),
                 f"{end}, {plan.gradient_bytes}")
    names = [frame["name"] for each in events for frame in each["frames"]]
    checks.check("its events have ops and lines", any("replay" in each for each in names) and "forward" in names, str(names[:9]))
    views = (_memory_viz.trace(found), _memory_viz.segsum(found), _memory_viz.trace_plot(found), _memory_viz.segment_plot(found))
    checks.check("PyTorch's viewer reads it", all(views) and "total_allocated" in views[1])


def search(seconds, is_terminal):
    """Returns what a search of some seconds tells."""
    told = io.StringIO()
    told.isatty = lambda: is_terminal
    with contextlib.redirect_stderr(told), mock.patch.object(_plan_progress, "QUIET", 0.05), \
            _plan_progress.searching("a plan of 7 ops", "60%"):
        time.sleep(seconds)
    return told.getvalue()


def try_progress():
    told = [search(0.5, True), search(0, True), search(0.5, False)]
    expected = ["reprise: searching a plan of 7 ops within 60%\n", "", ""]
    checks.check("only a long search tells, and only a terminal", told == expected, str(told))


def try_alone():
    """Programs that do not import Reprise, and that PyTorch's version suits or not."""
    told = run_alone("warnings.simplefilter('ignore'); " + TRAIN)
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
    for part in (try_usage, try_short, try_alone, try_log, try_snapshot, try_progress):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
