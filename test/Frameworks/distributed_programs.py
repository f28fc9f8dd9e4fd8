"""Programs that train a small model on several processes: FSDP2, DDP, tensor parallel layers, pipelines."""
import contextlib
import functools
import math
import time

import memory
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleavedZeroBubble, ScheduleZBVZeroBubble
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

from reprise.torch import steps

WIDTH, TOKENS, VOCABULARY, BATCH = 32, 32, 64, 16
#: Steps of a training run, and measured steps behind them.
STEPS, MEASURED = 3, 3


class Layer(nn.Module):
    """Transformer layer, whose linear layers may be split over processes."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (each(y).unflatten(-1, (-1, 8)).transpose(1, 2) for each in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + F.dropout(self.o(y), 0.1)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), 0.1)


class Part(nn.Module):
    """Layers of a model, with the embedding if they are the first and the head if they are the last."""

    def __init__(self, layers, is_first, is_last):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH) if is_first else None
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY) if is_last else None

    def forward(self, x):
        x = self.embed(x) if self.embed is not None else x
        for each in self.layers:
            x = each(x)
        return self.head(x) if self.head is not None else x


def loss_of(logits, targets):
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def compile_parts(model, where, options):
    """Compiles a model's layers, or the model as a whole; returns the module to call."""
    if options is None:
        return model
    if where == "layers":
        for each in model.layers:
            each.compile(**options)
        return model
    return torch.compile(model, **options)


def shard(model, by_layers=True, reshard=True, low=False):
    """Shards a model by FSDP2."""
    named = {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)} if low else {}
    for each in model.layers if by_layers else ():
        fully_shard(each, reshard_after_forward=reshard, **named)
    return fully_shard(model, reshard_after_forward=reshard, **named)


def split(model, mesh):
    """Splits the linear layers over the processes of a mesh."""
    for each in model.layers:
        each = getattr(each, "_checkpoint_wrapped_module", each)
        parallelize_module(each, mesh, {**{name: ColwiseParallel() for name in ("q", "k", "v", "up")},
                                        **{name: RowwiseParallel() for name in ("o", "down")}})
    return model


def replicate(model, **options):
    dist._DEFAULT_FIRST_BUCKET_BYTES = 30_000
    return DistributedDataParallel(model, bucket_cap_mb=0.05, **options)


def split_and_shard(model):
    """Splits over two processes, and shards over the others."""
    mesh = init_device_mesh("cpu", (dist.get_world_size() // 2, 2), mesh_dim_names=("data", "split"))
    split(model, mesh["split"])
    for each in model.layers:
        fully_shard(each, mesh=mesh["data"])
    return fully_shard(model, mesh=mesh["data"])


def shard_and_replicate(model):
    """Shards over two processes, and replicates over the others."""
    mesh = init_device_mesh("cpu", (dist.get_world_size() // 2, 2), mesh_dim_names=("replicate", "shard"))
    for each in model.layers:
        fully_shard(each, mesh=mesh)
    return fully_shard(model, mesh=mesh)


WRAPS = {
    "fsdp": shard,
    "fsdp regions": shard,
    "hsdp": shard_and_replicate,
    "fsdp kept": lambda model: shard(model, reshard=False),
    "fsdp whole": lambda model: shard(model, by_layers=False),
    "fsdp whole kept": lambda model: shard(model, by_layers=False, reshard=False),
    "fsdp bf16": lambda model: shard(model, low=True),
    "ddp": replicate,
    "ddp views": lambda model: replicate(model, gradient_as_bucket_view=True),
    "tp": lambda model: split(model, init_device_mesh("cpu", (dist.get_world_size(),))),
    "tp regions": lambda model: split(model, init_device_mesh("cpu", (dist.get_world_size(),))),
    "fsdp and tp": split_and_shard,
}


@contextlib.contextmanager
def without_sync(model, is_last):
    """Accumulates gradients without communication, unless the pass is the last one."""
    if hasattr(model, "no_sync"):
        with contextlib.nullcontext() if is_last else model.no_sync():
            yield
        return
    if hasattr(model, "set_requires_gradient_sync"):
        model.set_requires_gradient_sync(is_last)
    yield


class Training:
    """Training of a wrapped model. ``when``: the model is compiled before it is wrapped, or after that."""

    def __init__(self, wrap, when, where, options, micro=1):
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.model = Part(3, True, True)
        if "regions" in wrap:
            self.model.layers = nn.ModuleList(map(checkpoint_wrapper, self.model.layers))
        if when == "before":
            self.call = self.wrapped = WRAPS[wrap](compile_parts(self.model, where, options))
        else:
            self.wrapped = WRAPS[wrap](self.model)
            self.call = compile_parts(self.wrapped if where == "whole" else self.model, where, options)
            self.call = self.wrapped if where == "layers" else self.call
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)
        #: Bytes of tokens, and of the embedding in front of compiled layers, which no budget counts.
        self.inputs = micro * BATCH * (TOKENS + 1) * 8 + (BATCH * TOKENS * WIDTH * (2 if "bf16" in wrap else 4) if where == "layers" else 0)
        self.micro, self.rank = micro, 0 if wrap.startswith("tp") else dist.get_rank() // (2 if wrap == "fsdp and tp" else 1)

    def step(self, number):
        """Runs both passes of a step."""
        torch.manual_seed(number)
        draw = torch.Generator().manual_seed(100 * number + self.rank)
        tokens = torch.randint(VOCABULARY, (self.micro, BATCH, TOKENS + 1), generator=draw)
        total = torch.zeros(())
        for place, each in enumerate(tokens):
            with without_sync(self.wrapped, place == self.micro - 1):
                loss = loss_of(self.call(each[:, :-1]), each[:, 1:]) / self.micro
                loss.backward()
            total += loss.detach()
            del loss
        return total

    def finish(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def parameters(self):
        return self.model.parameters()


#: Schedules of pipelines, those of two stages on each process with the place of the second one.
SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B, "zb": ScheduleInterleavedZeroBubble, "zbv": ScheduleZBVZeroBubble}
SECOND = {"zb": lambda rank, size: size + rank, "zbv": lambda rank, size: 2 * size - 1 - rank}


class Pipeline:
    """Training of a pipeline, one or two stages on each process."""

    def __init__(self, schedule, where, options, micro=4):
        torch._dynamo.reset()
        rank, size = dist.get_rank(), dist.get_world_size()
        self.numbers = [rank, SECOND[schedule](rank, size)] if schedule in SECOND else [rank]
        self.last = size * len(self.numbers) - 1
        self.model = nn.ModuleList(map(self.make_part, self.numbers))
        self.stages = [PipelineStage(compile_parts(each, where, options), number, self.last + 1, torch.device("cpu"))
                       for each, number in zip(self.model, self.numbers)]
        self.schedule = SCHEDULES[schedule](self.stages if schedule in SECOND else self.stages[0], micro, loss_fn=loss_of)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)
        self.inputs = 2 * BATCH * (TOKENS + 1) * 8

    def make_part(self, number):
        torch.manual_seed(number)
        return Part(2 // len(self.numbers), number == 0, number == self.last)

    def step(self, number):
        torch.manual_seed(number)
        tokens = torch.randint(VOCABULARY, (2 * BATCH, TOKENS + 1), generator=torch.Generator().manual_seed(number))
        given, losses = (tokens[:, :-1].contiguous(),) if 0 in self.numbers else (), []
        named = {"target": tokens[:, 1:].contiguous(), "losses": losses} if self.last in self.numbers else {}
        self.schedule.step(*given, **named)
        return torch.stack(losses).detach() if losses else torch.zeros(())

    def finish(self):
        Training.finish(self)
        # Stages keep the results of a step until the next step begins. A measured step would free them, and seem to need less.
        for each in self.stages:
            each.clear_runtime_states()

    parameters = Training.parameters


def whole(tensor):
    """Returns a copy of a tensor that processes share."""
    tensor = tensor.detach()
    return (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).clone()


def let_go(collective):
    """Returns a collective behind which the threads of the process group have dropped its buffers. The profiler does not
    see what these threads free."""
    @functools.wraps(collective)
    def run(*arguments, **named):
        made = collective(*arguments, **named)
        time.sleep(0.002)
        return made
    return run


for name in ("all_gather_into_tensor", "reduce_scatter_tensor"):
    setattr(dist, name, let_go(getattr(dist, name)))
#: Waits of tensor parallel layers, which are ops of graphs.
WAITS = torch.library.Library("_c10d_functional", "IMPL")
WAITS.impl("wait_tensor", let_go(functools.partial(torch.ops._c10d_functional.wait_tensor.default.redispatch, torch._C.DispatchKeySet(
    torch._C.DispatchKey.CompositeExplicitAutograd))), "CPU")


def train(make, count=STEPS):
    """Trains some steps; returns losses and parameters, and the lowest peak of some more."""
    training, found = make(), []
    for number in range(count):
        found.append(training.step(number))
        training.finish()
    found += [whole(each) for each in training.parameters()]
    peaks = []
    for number in range(count, count + MEASURED):
        peaks.append(memory.measure_peak(lambda: training.step(number)) - training.inputs)  # noqa: B023
        training.finish()
    return found, min(peaks)


def equal(found, expected):
    return len(found) == len(expected) and all(map(torch.equal, found, expected))


def most(number):
    """Returns the highest of a number on all processes."""
    held = torch.tensor(float(number), dtype=torch.float64)
    dist.all_reduce(held, dist.ReduceOp.MAX)
    return math.floor(held.item())


def plan_of_step():
    """Returns the limits of the last step's plan, its prediction, and its budget."""
    plan = steps()[-1]
    return [(each.peak_limit, each.saved_limit) for each in plan.graphs], plan.peak, plan.budget
