#!/usr/bin/env python3
"""Checks backend="reprise" of PyTorch on a GPU: equal bits under plans, bytes within budgets, and gradients beside eager code.

Usage: whole.py [FOLDER] [--emulator=FOLDER]      needs the package reprise in PyTorch's environment

Without a GPU it says so and does nothing. With --emulator it runs PyTorch's CUDA build on the emulated driver of that
folder, and sees that PyTorch launches no kernel of its own. Lines begin with ok, FAILED or skipped; the table has the
seconds of a step beside eager code.
"""
import argparse
import contextlib
import ctypes
import gc
import os
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
PLANS = (None, "100%", "60%", "40%")
STEPS, TOLERANCE = 10, 1e-4
#: Bytes of a step outside of its arena and its tensors: blocks of the allocator are larger than what was asked for.
BLOCKS = 1 << 12


def check(name, good, detail=""):
    print(f"{'ok' if good else 'FAILED'}: {name}" + (f": {detail}" if detail and not good else ""), flush=True)
    return bool(good)


def cases(torch, is_small):
    """Yields names, models and inputs, which have been made on the CPU."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, width, heads, dropout):
            super().__init__()
            self.heads, self.dropout = heads, dropout
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

        def forward(self, x):
            parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).flatten(2))
            return x + self.mlp(self.norms[1](x))

    class Language(nn.Module):
        def __init__(self, depth, width, heads, words, dropout=0.1):
            super().__init__()
            self.embedding, self.head = nn.Embedding(words, width), nn.Linear(width, words)
            self.blocks = nn.Sequential(*(Block(width, heads, dropout) for _ in range(depth)))

        def forward(self, tokens, targets):
            logits = self.head(self.blocks(self.embedding(tokens)))
            return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    class Images(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
                                        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Flatten())
            self.head = nn.LazyLinear(4)

        def forward(self, images, targets):
            return nn.functional.cross_entropy(self.head(self.layers(images)), targets)

    torch.manual_seed(0)
    deep, words, length, batch = (2, 40, 12, 2) if is_small else (8, 8192, 512, 8)
    tokens = torch.randint(0, words, (2, batch, length))
    yield "language", Language(deep, 16 if is_small else 512, 2 if is_small else 8, words), (tokens[0], tokens[1])
    size, width, count = (8, 4, 3) if is_small else (64, 64, 64)
    images = Images(width)
    given = torch.randn(count, 3, size, size), torch.randint(0, 4, (count,))
    images(*given)
    yield "images", images, given


@contextlib.contextmanager
def restoring(model):
    """Restores the buffers of a model."""
    buffers = {name: each.detach().cpu().clone() for name, each in model.named_buffers()}
    yield
    for name, each in model.named_buffers():
        each.data.copy_(buffers[name])


def run_step(torch, model, forward, given, is_bf16=False):
    """Returns the loss, the gradients and the buffers of a step."""
    model.zero_grad(set_to_none=True)
    torch.manual_seed(1)
    with torch.autocast(given[0].device.type, torch.bfloat16, enabled=is_bf16):
        loss = forward(*given)
    loss.backward(torch.ones(()).to(loss.device))
    return {"loss": loss.detach().cpu(), **{name: each.grad.cpu().clone() for name, each in model.named_parameters()},
            **{name: each.cpu().clone() for name, each in model.named_buffers()}}


def differing(torch, found, expected):
    return [name for name in expected if not torch.equal(found[name], expected[name])]


def measure_peak(torch, model, forward, given):
    """Returns the bytes that a step held at most, beside what was held before and the gradients it returns."""
    model.zero_grad(set_to_none=True)
    seed = torch.ones(()).cuda()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    forward(*given).backward(seed)
    peak = torch.cuda.max_memory_allocated() - before
    return peak - sum(each.grad.numel() * each.grad.element_size() for each in model.parameters())


def measure_seconds(torch, model, forward, given):
    times = []
    for _ in range(STEPS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        forward(*given).backward()
        model.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return sorted(times)[STEPS // 2]


def compiled(torch, model, budget):
    torch._dynamo.reset()
    return torch.compile(model, backend="reprise", options={"budget": budget} if budget else {})


def launches(arguments):
    """Returns the number of kernels that PyTorch has launched; 0 on hardware, where nobody counts."""
    return ctypes.CDLL(None).repriseNullLaunches() if arguments.emulator else 0


def try_model(torch, name, model, given, arguments):
    from reprise.torch import graphs
    on_cpu = None
    if arguments.emulator:
        with restoring(model):
            on_cpu = run_step(torch, model, compiled(torch, model, None), given)
    model.cuda()
    given = [each.cuda() for each in given]
    good, rows, whole = True, [], None
    for budget in PLANS:
        title = f"{name}, {budget or 'no budget'}"
        before = launches(arguments)
        forward = compiled(torch, model, budget)
        with restoring(model):
            found = run_step(torch, model, forward, given)
        if whole is None:
            whole = found
        others = differing(torch, found, whole)
        good &= check(f"{title}: bits of the step without a budget", not others, ", ".join(others[:5]))
        with restoring(model):
            peak, taken = measure_peak(torch, model, forward, given), graphs()[-1].step.taken
        if arguments.emulator:
            good &= check(f"{title}: PyTorch launches no kernel", launches(arguments) == before, str(launches(arguments) - before))
        good &= check(f"{title}: {peak:,} bytes beside gradients, for an arena of {taken:,}", peak <= taken + BLOCKS + 512 * len(found))
        with restoring(model):
            rows.append((title, peak, taken, None if arguments.emulator else measure_seconds(torch, model, forward, given)))
    good &= try_bf16(torch, name, model, given)
    if on_cpu:
        others = differing(torch, whole, on_cpu)
        good &= check(f"{name}: bits of the CPU", not others, ", ".join(others[:5]))
        return good, [], rows
    return good & try_eager(torch, name, model, given), [(f"{name}, eager", measure_peak(torch, model, model, given), None,
                                                         measure_seconds(torch, model, model, given))], rows


def try_bf16(torch, name, model, given):
    """Compares plans in bf16, on tensor cores."""
    made = []
    for budget in PLANS[::3]:
        with restoring(model):
            made.append(run_step(torch, model, compiled(torch, model, budget), given, is_bf16=True))
    others = differing(torch, *made)
    return check(f"{name}: plans in bf16 have equal bits", not others, ", ".join(others[:5]))


def try_eager(torch, name, model, given):
    """Compares with eager code on the GPU, in f32 and without dropout."""
    for each in model.modules():
        if isinstance(each, torch.nn.Dropout):
            each.p = 0.0
    made = []
    for forward in (compiled(torch, model, "60%"), model):
        with restoring(model):
            made.append(run_step(torch, model, forward, given))
    ours, eager = made
    far = [each for each in eager if not torch.allclose(ours[each].double(), eager[each].double(), rtol=TOLERANCE,
                                                        atol=TOLERANCE * max(1e-3, eager[each].double().abs().max().item()))]
    return check(f"{name}: near eager code", not far, ", ".join(far[:5]))


def uses(torch):
    """Yields names and functions of a device that train small models in other ways, and return tensors of that device."""
    grad = torch.autograd.grad

    @torch.library.custom_op("reprise_check::wave", mutates_args=())
    def wave(x: torch.Tensor) -> torch.Tensor:
        return x.cpu().sin().to(x.device)

    @torch.library.custom_op("reprise_check::wave_backward", mutates_args=())
    def wave_backward(x: torch.Tensor, cotangent: torch.Tensor) -> torch.Tensor:
        return (x.cpu().cos() * cotangent.cpu()).to(x.device)

    wave.register_fake(torch.empty_like)
    wave_backward.register_fake(lambda x, cotangent: torch.empty_like(x))
    wave.register_autograd(lambda ctx, cotangent: wave_backward(*ctx.saved_tensors, cotangent),
                           setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))

    def make(device, function):
        """Returns a compiled function of weights and inputs, leaves of the device, and a cotangent of a loss."""
        torch.manual_seed(5)
        leaves = [torch.randn(4, 4).to(device).requires_grad_() for _ in range(2)]
        torch._dynamo.reset()
        return torch.compile(function, backend="reprise", options={"budget": "60%"}), leaves, torch.ones(()).to(device)

    def loss_of(x, y):
        return (torch.tanh(x @ y) @ y).square().mean()

    def waiting(device):
        run, (x, y), one = make(device, loss_of)
        losses = [run(x, y), run(y, x)]
        return [each for loss in losses for each in grad(loss, (x, y), one)]

    def twice(device):
        run, leaves, one = make(device, loss_of)
        loss = run(*leaves)
        return [*grad(loss, leaves, one, retain_graph=True), *grad(loss, leaves, one)]

    def second(device):
        run, (x, y), one = make(device, loss_of)
        first, = grad(run(x, y), (x,), one, create_graph=True)
        return [first.detach(), *grad(first, (x, y), torch.ones(4, 4).to(device))]

    def called(device):
        run, leaves, one = make(device, lambda x, y: (wave(x @ y) @ y).square().mean())
        loss = run(*leaves)
        return [loss.detach(), *grad(loss, leaves, one)]

    def with_number(device):
        run, leaves, one = make(device, lambda x, y: (loss_of(x, y * number), number * 2))
        loss, more = run(*leaves)
        return [loss.detach(), more, *grad(loss, leaves, one)]

    def updated(device):
        def step(x, y, one):
            found = grad(loss_of(x, y), (x, y), one)
            with torch.no_grad():
                for each, gradient in zip((x, y), found):
                    each.sub_(0.1 * gradient)
        run, leaves, one = make(device, step)
        for _ in range(3):
            run(*leaves, one)
        return [each.detach() for each in leaves]

    def elsewhere(device):
        """A forward pass on one stream, and its backward pass on another."""
        run, leaves, one = make(device, loss_of)
        if device == "cpu":
            return grad(run(*leaves), leaves, one)
        first, usual = torch.cuda.Stream(), torch.cuda.current_stream()
        first.wait_stream(usual)
        with torch.cuda.stream(first):
            loss = run(*leaves)
        usual.wait_stream(first)
        found = grad(loss, leaves, one)
        torch.cuda.synchronize()
        return found

    def other_gpu(device):
        """A model on the second GPU, if there is one, while the first one is current."""
        run, leaves, one = make("cuda:1" if device == "cuda" and torch.cuda.device_count() > 1 else device, loss_of)
        found = grad(run(*leaves), leaves, one)
        current = torch.cuda.current_device()
        del run
        torch._dynamo.reset()
        gc.collect()
        return [*found, torch.tensor([current, torch.cuda.current_device()])]

    number = torch.tensor(1.5)
    for function in (waiting, twice, second, called, with_number, updated, elsewhere, other_gpu):
        yield function.__name__, function


def try_uses(torch, arguments):
    good = True
    for name, function in uses(torch):
        expected, before = [each.detach() for each in function("cpu")], launches(arguments)
        found = [each.detach().cpu() for each in function("cuda")]
        others = [number for number, (a, b) in enumerate(zip(found, expected, strict=True)) if not torch.equal(a, b)]
        good &= check(f"{name}: bits of the CPU", not others, str(others))
        if arguments.emulator:
            good &= check(f"{name}: PyTorch launches no kernel", launches(arguments) == before, str(launches(arguments) - before))
    return good


def run(torch, arguments):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.enabled = not arguments.emulator
    warnings.simplefilter("ignore")  # shares that no plan of a small model meets
    good, table = try_uses(torch, arguments), []
    for name, model, given in cases(torch, bool(arguments.emulator)):
        passed, eager, rows = try_model(torch, name, model, given, arguments)
        good, table = good and passed, table + eager + rows
    print("", "| step of backend=\"reprise\" | bytes beside gradients | arena bytes | seconds |", "|---|---:|---:|---:|", sep="\n")
    for title, peak, taken, seconds in table:
        print(f"| {title} | {peak:,} | {'-' if taken is None else f'{taken:,}'} | {'-' if seconds is None else f'{seconds:.3g}'} |")
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="ignored: gpu-check.sh gives it")
    parser.add_argument("--emulator", help="folder of the emulated driver")
    arguments = parser.parse_args()
    if arguments.emulator:
        sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cuda-allocator"))
        import null_cuda
        if null_cuda.STARTED not in os.environ:
            with tempfile.TemporaryDirectory() as folder:
                return null_cuda.start(folder, "EmulatedMemory.c", os.path.abspath(arguments.emulator))
    try:
        import torch

        import reprise.torch  # noqa: F401  the entry point of an installed package imports it too
    except ImportError as error:
        print(f"skipped: backend=\"reprise\": {error}")
        return 0
    if not torch.cuda.is_available():
        print("skipped: backend=\"reprise\": PyTorch finds no GPU")
        return 0
    return run(torch, arguments)


if __name__ == "__main__":
    sys.exit(main())
