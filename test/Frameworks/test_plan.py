"""backend="reprise_plan" on small modules: faults of PyTorch's partitioner, labels, and everything around a graph."""
import os
import threading
import warnings

import checks
import memory
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy

import reprise
from reprise.torch import _plan_partition, plans

aten = torch.ops.aten


class Net(nn.Module):
    """Layers with dropout whose activations outweigh the gradients."""

    def __init__(self, layers=4, width=24):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + F.dropout(F.gelu(layer(x)), 0.3, self.training)
        return x.square().mean()


class Broken(nn.Module):
    """Two nets, between which Dynamo breaks the graph."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Net(), Net()

    def forward(self, x):
        x = x * self.first(x)
        torch._dynamo.graph_break()
        return self.second(x)


class Drawn(nn.Module):
    """A random op that Inductor has no decomposition for."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 24)

    def forward(self, x):
        x = self.linear(x).sigmoid()
        picked = torch.multinomial(x, 12, replacement=True)
        return (x.gather(1, picked) * torch.poisson(x).gather(1, picked)).tanh().square().mean()


def step(model, forward, *inputs):
    """The loss and all gradients of one step, from a fixed seed."""
    model.zero_grad(set_to_none=True)
    torch.manual_seed(3)
    loss = forward(*inputs)
    loss.backward()
    return [loss.detach()] + [each.grad.clone() for each in model.parameters()]


def compiled(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="reprise_plan", options={"codegen": "eager", **options})


def equal(left, right):
    return len(left) == len(right) and all(map(torch.equal, left, right))


def refused(kind, *words, call):
    """Returns whether a call raises an error of the given kind that contains the words."""
    try:
        call()
    except reprise.Error as error:
        return type(error) is kind and all(word in str(error) for word in words), str(error)
    return False, "nothing was raised"


def try_random_words():
    """Checks pytorch#190758 and #190717: a replayed dropout drops the same elements, also at the smallest budget."""
    x = torch.randn(256, 24)
    for model in (Net(), Drawn()):
        expected = step(model, model, x)
        for budget in ("80%", "50%", "1%"):
            found = step(model, compiled(model, budget=budget), x)
            checks.check(f"pytorch#190758: {type(model).__name__} at {budget} draws the same words", equal(found, expected))
        must = dict.fromkeys((aten.native_dropout, aten.multinomial, aten.poisson), CheckpointPolicy.MUST_RECOMPUTE)
        found = step(model, compiled(model, policy=must), x)
        checks.check(f"pytorch#190717: {type(model).__name__} replays random ops, with the same words",
                     equal(found, expected) and plans()[-1].random_replays > 0, str(plans()[-1]))


def try_peaks():
    """Checks pytorch#197838 and #197871: a smaller budget never needs more memory, and no peak exceeds its budget."""
    model, x = Net(layers=6), torch.randn(512, 24)
    before = None
    for share in (100, 90, 80, 70, 60, 50, 40, 30):
        run = compiled(model, budget=f"{share}%")
        step(model, run, x)
        model.zero_grad(set_to_none=True)
        executed, plan = memory.measure_peak(lambda: run(x).backward()), plans()[-1]
        print(f"   {share}%: budget {plan.budget}, executed {executed}, {plan}")
        checks.check(f"pytorch#197871: at {share}% the peak is within the budget", executed <= plan.budget, str(executed))
        if before:
            checks.check(f"pytorch#197838: {share}% takes no more than what is above it", executed <= before[0], f"{executed} {before}")
            checks.check(f"{share}% costs no less than what is above it", plan.extra_seconds >= before[1], str(plan))
        before = executed, plan.extra_seconds
    budget = plans()[-2].budget
    run = compiled(model, budget=budget)
    step(model, run, x)
    checks.check("a budget in bytes holds", plans()[-1].peak <= budget == plans()[-1].budget, str(plans()[-1]))
    shown = repr(plans()[-1])
    checks.check("a plan shows sizes that people read", f"KiB ({plans()[-1].peak:,} bytes)" in shown and "peak=" not in shown, shown)


class Masked(nn.Module):
    """Model that writes the elements of a mask, by ops that first list the elements' positions."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 24)

    def forward(self, x):
        y = torch.index_put(self.linear(x), (x > -1,), torch.tensor(0.5), accumulate=True)
        return y.square().mean()


class Bags(nn.Module):
    """Model of the largest rows of bags, whose gradient visits the bags that are not empty."""

    def __init__(self):
        super().__init__()
        self.bags, self.linear = nn.EmbeddingBag(16, 24, mode="max"), nn.Linear(24, 24)

    def forward(self, x):
        return self.linear(self.bags(x)).square().mean()


class Solved(nn.Module):
    """Model of a system of equations, whose pivots count from 1."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 24)

    def forward(self, x):
        return torch.linalg.solve(x.T @ self.linear(x) + 500 * torch.eye(24), x.T).square().mean()


def try_values():
    """Checks ops whose workspace depends on values: the plan contains the largest workspace."""
    for model, x in ((Masked(), torch.randn(512, 24)), (Bags(), torch.randint(16, (256, 5))),
                     (Solved(), torch.randn(64, 24))):
        expected = step(model, model, x)
        run = compiled(model, budget="100%")
        found = step(model, run, x)
        model.zero_grad(set_to_none=True)
        executed, plan = memory.measure_peak(lambda: run(x).backward()), plans()[-1]
        checks.check(f"{type(model).__name__}: equal bits, and a peak within the budget",
                     equal(found, expected) and executed <= plan.budget + 64, f"{executed}, {plan}")


class Columns(nn.Module):
    """Gradients that come out in another layout than the parameter's: of a filter, from both orders of its channels."""

    def __init__(self, memory_format):
        super().__init__()
        self.linear, self.conv = nn.Linear(256, 48 * 64), nn.Conv2d(48, 96, 5)
        self.conv.to(memory_format=memory_format)

    def forward(self, x):
        image = self.linear(x).view(-1, 8, 8, 48).permute(0, 3, 1, 2)
        return self.conv(image).tanh().square().mean()


class Alike(nn.Module):
    """Model of two parameters with one gradient. The gradient of a mean has a single element in memory."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = (nn.Parameter(torch.randn(512, 256)) for _ in range(3))

    def forward(self, x):
        return ((self.first + self.second).mean() + self.third.mean()) * x.mean()


def try_gradients():
    """Checks that the plan contains the copies of gradients that PyTorch makes when it receives them."""
    for name, model, x in (("contiguous", Columns(torch.contiguous_format), torch.randn(4, 256)),
                           ("channels last", Columns(torch.channels_last), torch.randn(4, 256)),
                           ("alike", Alike(), torch.randn(24))):
        expected = step(model, model, x)
        for budget in ("100%", "70%", "50%") if name != "alike" else ("100%",):
            run = compiled(model, budget=budget)
            found = step(model, run, x)
            model.zero_grad(set_to_none=True)
            executed, plan = memory.measure_peak(lambda: run(x).backward()), plans()[-1]
            checks.check(f"gradients that are {name}, at {budget}: equal bits, and a peak within the plan's",
                         equal(found, expected) and executed <= plan.peak + 64, f"{executed}, {plan}")
        strides = [(each.grad.stride(), each.stride()) for each in model.parameters()]
        checks.check(f"gradients that are {name} have the parameters' layout", all(a == b for a, b in strides), str(strides))


def try_sparse_gradients():
    """A sparse gradient stays one."""
    for codegen in ("eager", "inductor"):
        table, rows = nn.Embedding(6, 3, sparse=True), torch.tensor([1, 1, 2])
        compiled(lambda rows: table(rows).square().sum(), codegen=codegen)(rows).backward()
        found, table.weight.grad = table.weight.grad, None
        table(rows).square().sum().backward()
        checks.check(f"{codegen}: a sparse gradient is eager's", found.is_sparse and torch.equal(found.to_dense(), table.weight.grad.to_dense()))


def try_labels():
    model, x = Net(), torch.randn(256, 24)
    expected = step(model, model, x)
    found = step(model, compiled(model, policy="recompute-all"), x)
    checks.check("recompute-all replays, and changes no bit", equal(found, expected) and plans()[-1].replays > 8, str(plans()[-1]))
    step(model, compiled(model, policy={aten.addmm: CheckpointPolicy.MUST_RECOMPUTE}), x)
    checks.check("MUST_RECOMPUTE is obeyed without a budget", plans()[-1].replays > 0, str(plans()[-1]))
    everything = plans()[-1].peak_without_replays

    def keep(node):
        return CheckpointPolicy.MUST_SAVE if node.target is not aten.t.default else None
    good, text = refused(reprise.Error, "MUST label", "the least budget that was met is", "in forward",
                         call=lambda: step(model, compiled(model, budget="50%", policy=keep), x))
    checks.check("MUST_SAVE and a budget clash in one error", good, text)
    good, text = refused(reprise.Error, "cannot be met", "the least budget that was met is", "test_plan.py:",
                         call=lambda: step(model, compiled(model, budget=everything // 20), x))
    checks.check("bytes that no plan meets are an error that names the line", good, text)


def try_state():
    """Checks that results of the forward pass such as a batch norm's statistics are written once and never read by a
    replay."""
    def make():
        torch.manual_seed(1)
        blocks = [each for _ in range(4) for each in (nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU())]
        return nn.Sequential(*blocks)
    x = torch.randn(4, 8, 24, 24)
    plain, planned, written = make(), make(), []
    write = _plan_partition.Carrier.backward

    def backward(self):
        written.append(write(self))
        return written[-1]
    _plan_partition.Carrier.backward = backward
    run = compiled(planned, policy="recompute-all")
    for _ in range(3):
        expected = step(plain, lambda x: plain(x).square().mean(), x)
        found = step(planned, lambda x: run(x).square().mean(), x)
    _plan_partition.Carrier.backward = write
    again = [node.target for graph in written for node in graph.graph.nodes if "reprise_replay" in node.meta]
    checks.check("a batch norm that runs again has no running statistics", aten._native_batch_norm_legit.no_stats in again
                 and aten._native_batch_norm_legit_functional.default not in again, str(again))
    checks.check("gradients of batch norms are equal to the bit", equal(found, expected), str(plans()[-1]))
    checks.check("running statistics are equal to the bit", equal(list(plain.buffers()), list(planned.buffers())))


class Scaled(nn.Module):
    """Model that copies a buffer that the step overwrites; the backward pass reads the copy. aot_eager copies it after
    the update."""

    def __init__(self):
        super().__init__()
        self.net, self.layer = nn.Linear(24, 24), nn.Linear(24, 24)
        self.register_buffer("scale", torch.ones(256, 24))

    def forward(self, x):
        y = self.layer(x) * self.scale.clone()
        with torch.no_grad():
            self.scale.mul_(0.5)
        return self.net(y.tanh()).square().mean()


def try_overwritten():
    x, budgets = torch.randn(256, 24), ("100%", "50%", "1%")
    plain, planned = Scaled(), Scaled()
    planned.load_state_dict(plain.state_dict())
    # Within Inductor's error; reading the new value halves the gradients.
    expected, found = step(plain, plain, x), step(planned, compiled(planned, codegen="inductor", budget="60%"), x)
    checks.check("a buffer that is overwritten, with Inductor's code", all(map(torch.allclose, found, expected))
                 and torch.equal(plain.scale, planned.scale), str(plans()[-1]))
    for budget in budgets:
        expected, found = step(plain, plain, x), step(planned, compiled(planned, budget=budget), x)
        checks.check(f"a buffer that is overwritten, at {budget}", equal(found, expected) and torch.equal(plain.scale, planned.scale))


def try_breaks():
    """Checks Dynamo's graph breaks: each graph has a plan, which is reported once."""
    model, x = Broken(), torch.randn(256, 24)
    expected = step(model, model, x)
    for budget in ("60%", 600000):
        made = len(plans())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = step(model, compiled(model, budget=budget), x)
        told = [str(each.message) for each in said if issubclass(each.category, reprise.RepriseWarning)]
        checks.check(f"a graph break at {budget}: two plans, and no warning but that of a share", equal(found, expected)
                     and len(plans()) - made == 2 and all(each.startswith(f"the budget of {budget} (") and budget == "60%" for each in told),
                     f"{len(plans()) - made} {told}")
    first, second = plans()[-2:]
    checks.check("a graph before a break saves the fewest bytes at first, because the budget is the step's",
                 first.saved_bytes < second.saved_bytes and second.budget < first.budget == 600000, f"{first}; {second}")


def try_sizes():
    """Sizes that vary are planned one by one, each once."""
    model = Net()
    run, made = torch.compile(model, backend="reprise_plan", dynamic=True,
                              options={"codegen": "eager", "budget": "50%"}), len(plans())
    for batch in (64, 256, 64, 128, 256):
        x = torch.randn(batch, 24)
        checks.check(f"a batch of {batch} under dynamic=True", equal(step(model, run, x), step(model, model, x)))
    checks.check("each size is planned once", len(plans()) - made == 3, str(len(plans()) - made))
    rows, found = (40, 48, 56, 72, 80, 88), []

    def work(count):
        try:
            found.append(torch.isfinite(run(torch.ones(count, 24))))
        except Exception as error:  # noqa: BLE001  told below
            found.append(f"{type(error).__name__}: {error}"[:400])
    threads = [threading.Thread(target=work, args=(count,)) for count in rows]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    checks.check("threads that meet new sizes at once", found == [True] * len(rows), f"{found}")


def try_ddp():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.distributed.init_process_group("gloo", rank=0, world_size=1)
    model, x = Net(), torch.randn(256, 24)
    expected, made = step(model, model, x), len(plans())
    wrapped = nn.parallel.DistributedDataParallel(model)
    checks.check("a model that DDP wraps, compiled", equal(step(model, compiled(wrapped, budget="60%"), x), expected))
    outside = nn.parallel.DistributedDataParallel(compiled(model, budget="60%"))
    checks.check("a compiled model that DDP wraps", equal(step(model, outside, x), expected))
    checks.check("both have plans", len(plans()) - made >= 2, str(len(plans()) - made))
    torch.distributed.destroy_process_group()


def try_equal():
    """Checks that ops whose numbers differ in the sign of a zero stay two, and that equal ops become one."""
    def signs(x):
        up, down = (torch.copysign(x.exp(), torch.full_like(x, each)) for each in (0.0, -0.0))
        return (up * 3 + down).sum() + (x.exp() * x.exp().sin()).sum()
    x = torch.randn(64, requires_grad=True)
    expected = torch.autograd.grad(signs(x), x)
    run = compiled(signs, budget="100%")
    checks.check("numbers that differ in the sign of a zero", equal(torch.autograd.grad(run(x), x), expected))
    names = [each.label for each in plans()[-1].spans]
    checks.check("equal ops are merged", sum("aten.exp" in each for each in names) == 1, str(names))


def try_cache():
    """A later run finds the plan; the planner is not asked."""
    model, x = Net(layers=3), torch.randn(256, 24)
    expected = step(model, compiled(model, budget="55%"), x)
    ask = _plan_partition.plan_problem
    _plan_partition.plan_problem = None
    try:
        found = step(model, compiled(model, budget="55%"), x)
    finally:
        _plan_partition.plan_problem = ask
    checks.check("a plan is found again in the cache", equal(found, expected))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_random_words, try_peaks, try_values, try_gradients, try_sparse_gradients,
                 try_labels, try_state, try_overwritten, try_breaks, try_sizes, try_ddp, try_equal, try_cache):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
