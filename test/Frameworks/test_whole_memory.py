"""Memory of steps without a budget: stacks of checkpointed layers take at most what eager code takes."""
import checks
import torch
from memory import measure_peak
from torch import nn
from torch.utils.checkpoint import checkpoint
from whole import compiled, run_parts

from reprise.torch import graphs


class Stack(nn.Module):
    def __init__(self, layers, is_checkpointed=True):
        super().__init__()
        self.layers, self.is_checkpointed = nn.ModuleList(layers), is_checkpointed

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.is_checkpointed else layer(x)
        return x.float().square().mean()


def encoders(count, rate=0.0, width=64):
    return [nn.TransformerEncoderLayer(width, 4, 4 * width, rate, batch_first=True) for _ in range(count)]


def mlps(count):
    return [nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.LayerNorm(64)) for _ in range(count)]


def images(count):
    return [nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)) for _ in range(count)]


#: Layers and the shape of their input.
STACKS = {"encoders": (lambda: encoders(5), (16, 96, 64)), "encoders with dropout": (lambda: encoders(4, 0.1), (16, 96, 64)),
          "wide encoders": (lambda: encoders(4, width=192), (8, 96, 192)), "MLPs": (lambda: mlps(6), (4096, 64)),
          "convolutions": (lambda: images(4), (8, 8, 48, 48))}


def peak_of(model, call, x, is_mixed):
    """Returns the bytes that a step requests from PyTorch's allocator."""
    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
            loss = call(x)
        loss.backward()

    for _ in range(2):
        step()
        model.zero_grad()
    return measure_peak(step)


def try_stacks():
    for name, (make, shape) in STACKS.items():
        for is_mixed in (False, True):
            torch.manual_seed(0)
            model, x = Stack(make()), torch.randn(shape)
            eager = peak_of(model, model, x, is_mixed)
            model.zero_grad()
            whole = peak_of(model, compiled(model), x, is_mixed) + graphs()[-1].step.taken
            report = graphs()[-1].report
            # Products pack their operands: bf16 in f32. The library of eager code does so outside of the allocator.
            packed = report.workspace_bytes + max((each["bytes"] for each in report.buffers if each["part"] == "scratch"), default=0)
            text = f"{name}{', autocast' if is_mixed else ''}"
            print(f"   {text}: {whole:,} bytes of {eager:,}, {whole / eager:.3f}; {(whole - packed) / eager:.3f} without packed operands")
            checks.check(f"{text}: at most eager's bytes", whole - (packed if is_mixed else 0) <= eager, f"{whole} - {packed} > {eager}")


def try_ownership():
    """Gradients belong to PyTorch: they stay as they are in later steps, and may be written to."""
    torch.manual_seed(0)
    model, x = Stack(mlps(2), False), torch.randn(64, 64)
    call, kept = compiled(model), []
    for _ in range(3):
        call(x).backward()
        kept.append([each.grad for each in model.parameters()])
        model.zero_grad()
    checks.check("gradients of later steps are other memory", all(torch.equal(a, b) and a.data_ptr() != b.data_ptr()
                                                                  for a, b in zip(kept[0], kept[2])))
    for each in kept[0]:
        each.fill_(1)
    checks.check("writes do not meet", all(torch.equal(a, b) for a, b in zip(kept[1], kept[2])))
    for _ in range(2):
        call(x).backward()
    checks.check("gradients are added up", all(torch.allclose(each.grad, own * 2) for each, own in zip(model.parameters(), kept[1])))


if __name__ == "__main__":
    run_parts(try_stacks, try_ownership)
