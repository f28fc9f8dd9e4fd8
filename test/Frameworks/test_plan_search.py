"""backend="reprise_plan": searches that depend on no clock, and budgets that no plan fits."""
import os
import subprocess
import sys
import tempfile
import warnings

import checks
import torch
import torch.nn.functional as F
from test_plan import Net, compiled, step
from torch import nn

from reprise.torch import _plan_partition, plans


class Cells(nn.Module):
    """Model of cells whose gates are joined and split: no plan comes near a half."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList(nn.LSTMCell(16, 16) for _ in range(2))

    def forward(self, x):
        states = [(x.new_zeros(x.shape[0], 16),) * 2 for _ in self.cells]
        for value in x.unbind(1):
            for i, cell in enumerate(self.cells):
                states[i] = cell(value, states[i])
                value = F.dropout(states[i][0], 0.1)
        return value.square().mean()


def try_shares_that_none_fits():
    """Checks that all shares that are too small have one plan, and that a larger share never costs more."""
    model, x = Cells(), torch.randn(4, 12, 16)
    found = []
    for share in (70, 60, 55, 50, 40, 30, 20):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            step(model, compiled(model, budget=f"{share}%"), x)
        found.append((share, any("cannot be met" in str(each.message) for each in said), plans()[-1].peak, plans()[-1].extra_seconds))
        print(f"   {found[-1]}")
    checks.check("some shares are too small", sum(refused for _, refused, _, _ in found) >= 3, str(found))
    checks.check("these have one plan", len({each[2:] for each in found if each[1]}) == 1, str(found))
    checks.check("more bytes never cost more", all(more[3] <= less[3] for more, less in zip(found, found[1:])), str(found))


def try_slow_clock():
    """Checks that the planner counts its steps: the plan is the same on a slower machine."""
    problem = {}
    ask, read = _plan_partition.plan_problem, _plan_partition.cache.read
    _plan_partition.plan_problem = lambda text, **options: problem.update(text=text, options=options) or ask(text, **options)
    _plan_partition.cache.read = lambda name: None
    try:
        model, x = Net(layers=5), torch.randn(256, 24)
        step(model, compiled(model, budget="57%"), x)
    finally:
        _plan_partition.plan_problem, _plan_partition.cache.read = ask, read
    checks.check("the planner is given no time", "time_limit" not in problem["options"], str(problem["options"]))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        found = ask(problem["text"], **problem["options"])[1]
    finally:
        for each in busy:
            each.kill()
            each.wait()
    checks.check("a busy machine has the same plan", found == ask(problem["text"], **problem["options"])[1])


def try_cells_of_a_library():
    """Checks a step whose second op needs internal state of oneDNN from the first, so that the op cannot be measured
    alone. PyTorch's own backends refuse such a step, too; it must not end the process."""
    lstm = ("import torch; torch._dynamo.config.allow_rnn = True; m = torch.nn.LSTM(16, 16); f = torch.compile(m, backend='reprise_plan', "
            "options={'codegen': 'eager'}); f(torch.ones(5, 2, 16))[0].sum().backward()")
    with tempfile.TemporaryDirectory() as cache:
        code = subprocess.run([sys.executable, "-c", lstm], capture_output=True, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}).returncode
    checks.check("nothing made up is given to oneDNN's cells", code >= 0, str(code))


def main():
    torch.set_num_threads(1)
    for part in (try_shares_that_none_fits, try_slow_clock, try_cells_of_a_library):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
