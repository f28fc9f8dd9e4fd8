"""Random programs of PyTorch's ops: parameters that are shared or used transposed, both layouts of images, dropout,
batch norms, buffers that the step overwrites, in-place ops, and regions of torch.utils.checkpoint. Programs with `more`
also have ops whose fake results have other strides than real ones, losses that the program keeps, and regions that lie
in regions or that Dynamo breaks."""
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

ROWS, WIDTHS, CHANNELS, SIDE = 48, (16, 24, 64), (4, 8), 8
#: Losses of two values. Some return a scalar in memory that is as large as the value.
LOSSES = (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss, lambda x, y: F.soft_margin_loss(x, y.detach().sign()),
          lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.detach().sigmoid(), reduction="sum"),
          lambda x, y: F.kl_div(x, y.sigmoid(), reduction="batchmean"))
#: Functions whose results have other strides than the operand if it is transposed.
TURNED = (F.logsigmoid, lambda x: torch.pow(2.0, x.sigmoid()), lambda x: F.log_softmax(x, 0), lambda x: torch.copysign(x, x.cos()),
          lambda x: x + torch.div(x, 0.3, rounding_mode="floor"))


class Program(nn.Module):
    """Steps over the values so far: each a function of the values at some places. The result is a scalar."""

    def __init__(self, seed, steps=24, drops=True, more=False):
        super().__init__()
        #: Flag of dropout: if False, no element is dropped, so that another generator's draws do not matter.
        self.drops, self.more = drops, more
        torch.manual_seed(seed)
        self.random = random.Random(seed)
        self.weights, self.layers, self.steps = nn.ParameterList(), nn.ModuleList(), []
        #: Flags of steps that write buffers, and of steps with regions of torch.utils.checkpoint.
        self.is_stateful = self.has_regions = False
        self.register_buffer("moving", torch.ones(ROWS, 1))
        self.input = torch.randn(ROWS, self.random.choice(WIDTHS))
        values = [self.input]
        makers = [self.linear, self.linear, self.pointwise, self.pointwise, self.dropout, self.residual, self.norm, self.scores,
                  self.image, self.image, self.convolution, self.convolution, self.batch_norm, self.pool, self.flat, self.joined,
                  self.cut, self.gated, self.rows, self.state, self.in_place, self.attention, self.region] + [self.turned] * more
        while len(self.steps) < steps:
            made = self.random.choice(makers)(values)
            if made:
                values.append(made[0](*(values[place] for place in made[1])).detach())
                self.steps.append(made)
        self.read = sorted({len(self.steps), *self.random.sample(range(1, len(self.steps) + 1), min(4, len(self.steps)))})
        count = self.random.randrange(4) if more else 0
        self.losses = [(self.random.choice(LOSSES), *(self.any(values, 2) or self.pick(values, 2, 2))) for _ in range(count)]
        #: Places of outputs that are no views and share no memory. AOTAutograd returns some views as other tensors.
        self.plain = self._find_plain()
        self.moving.fill_(1)

    @torch.no_grad()
    def _find_plain(self):
        outputs = self.outputs(self.input)
        storages = [each.untyped_storage().data_ptr() for each in (self.input, *outputs)]
        return [place for place, each in enumerate(outputs) if not each._is_view() and storages.count(storages[place + 1]) == 1]

    def forward(self, x):
        return sum(each.square().mean() for each in self.outputs(x))

    def outputs(self, x):
        """The values that the loss is made of."""
        values = [x]
        for function, places in self.steps:
            values.append(function(*(values[place] for place in places)))
        losses = [loss(values[one], values[other]) for loss, one, other in self.losses]
        if losses:
            # Values that a program keeps of a step, such as for a log, live until the next step.
            self.told = losses
        return [*(values[place] for place in self.read), *losses]

    def loss_and_outputs(self, x):
        outputs = self.outputs(x)
        return sum(each.square().mean() for each in outputs), *outputs

    def zero_grad(self, set_to_none=True):
        super().zero_grad(set_to_none)
        self.told = None

    def pick(self, values, dims, count=1):
        """Picks a recent value of `dims` dimensions, and others of its shape."""
        places = [place for place, each in enumerate(values) if each.dim() == dims]
        if not places:
            return None
        first = self.random.choice(places[-4:])
        alike = [place for place in places if values[place].shape == values[first].shape]
        return [first] + [self.random.choice(alike) for _ in range(count - 1)]

    def any(self, values, count=1):
        return self.pick(values, self.random.choice((2, 2, 4)), count)

    def weight(self, *shape):
        """Returns a parameter, a new one or an existing one of the shape."""
        alike = [each for each in self.weights if each.shape == shape]
        if alike and self.random.random() < 0.3:
            return self.random.choice(alike)
        self.weights.append(nn.Parameter(torch.randn(shape) / shape[-1] ** 0.5))
        return self.weights[-1]

    def linear(self, values):
        places = self.pick(values, 2)
        inner, outer = values[places[0]].shape[1], self.random.choice(WIDTHS)
        form = self.random.randrange(3)
        if form == 0:
            weight = self.weight(inner, outer)
            return lambda x: x @ weight, places
        weight, bias = self.weight(outer, inner), self.weight(outer) if form == 1 else None
        return lambda x: F.linear(x, weight, bias), places

    def pointwise(self, values):
        places = self.any(values)
        function = self.random.choice((torch.tanh, torch.relu, torch.sigmoid, F.gelu, F.silu, torch.cos, lambda x: (-x.square()).exp()))
        return places and (function, places)

    def dropout(self, values):
        places, rate = self.any(values), self.random.choice((0.1, 0.5)) * self.drops
        return places and (lambda x: F.dropout(x, rate), places)

    def residual(self, values):
        places = self.any(values, 2)
        return places and (self.random.choice((torch.add, torch.mul, torch.maximum)), places)

    def norm(self, values):
        places = self.pick(values, 2)
        weight, bias = (self.weight(values[places[0]].shape[1]) for _ in range(2))
        return lambda x: F.layer_norm(x, x.shape[1:], weight, bias), places

    def scores(self, values):
        places = self.pick(values, 2, 2)
        return lambda x, y: (x @ y.T / 8).softmax(1) @ y, places

    def image(self, values):
        """Rows as images, channels first or last in memory."""
        places, channels = self.pick(values, 2), self.random.choice(CHANNELS)
        weight = self.weight(channels * SIDE * SIDE // 4, values[places[0]].shape[1])
        if self.random.random() < 0.5:
            return lambda x: F.linear(x, weight).view(ROWS // 4, channels, SIDE, SIDE), places
        return lambda x: F.linear(x, weight).view(ROWS // 4, SIDE, SIDE, channels).permute(0, 3, 1, 2), places

    def convolution(self, values):
        places = self.pick(values, 4)
        if not places:
            return None
        window, last = self.random.choice((1, 3)), self.random.random() < 0.4
        layer = nn.Conv2d(values[places[0]].shape[1], self.random.choice(CHANNELS), window, padding=window // 2)
        self.layers.append(layer.to(memory_format=torch.channels_last if last else torch.contiguous_format))
        return layer, places

    def batch_norm(self, values):
        places = self.any(values)
        if not places:
            return None
        kind = nn.BatchNorm2d if values[places[0]].dim() == 4 else nn.BatchNorm1d
        self.layers.append(kind(values[places[0]].shape[1]))
        self.is_stateful = True
        return self.layers[-1], places

    def pool(self, values):
        places, function = self.pick(values, 4), self.random.choice((F.max_pool2d, F.avg_pool2d))
        if not places or values[places[0]].shape[2] < 4:
            return None
        return lambda x: F.interpolate(function(x, 2), scale_factor=2), places

    def flat(self, values):
        """Converts images to rows, all through one contraction."""
        places = self.pick(values, 4)
        if not places:
            return None
        weight = self.weight(24, values[places[0]].shape[1] * SIDE * SIDE // 4)
        return lambda x: F.linear(x.reshape(ROWS, -1), weight), places

    def joined(self, values):
        places = self.pick(values, 2, 2)
        return (lambda x, y: torch.cat((x, y), 1), places) if values[places[0]].shape[1] <= 64 else None

    def cut(self, values):
        places = self.pick(values, 2)
        return (lambda x: x[:, ::2].sin(), places) if values[places[0]].shape[1] >= 16 else None

    def gated(self, values):
        def halves(x):
            left, right = x.chunk(2, 1)
            return left * right.sigmoid()
        places = self.pick(values, 2)
        return (halves, places) if values[places[0]].shape[1] >= 16 else None

    def rows(self, values):
        """Reads a table's rows as an embedding does; one row is read often."""
        places = self.pick(values, 2)
        table = self.weight(ROWS, values[places[0]].shape[1])
        chosen = torch.tensor([self.random.randrange(ROWS // 2) for _ in range(ROWS)])
        return lambda x: x + F.embedding(chosen, table), places

    def state(self, values):
        """Overwrites and reads a buffer. If a buffer is overwritten later, PyTorch's own backends read the later
        value."""
        self.is_stateful = True

        def scaled(x):
            with torch.no_grad():
                self.moving.mul_(0.9).add_(0.1 * x.detach().abs().mean(1, keepdim=True))
            return x * self.moving.clone()
        return scaled, self.pick(values, 2)

    def in_place(self, values):
        places = self.any(values)
        return places and (lambda x: (x * 0.5).sin_().add_(x), places)

    def turned(self, values):
        """A function of columns, read by rows."""
        places, function, back = self.pick(values, 2), self.random.choice((*TURNED, F.dropout)), self.random.random() < 0.5
        if function is F.dropout:
            rate = 0.2 * self.drops
            function = lambda x: F.dropout(x, rate)  # noqa: E731
        return (lambda x: function(x.T).T if back else function(x.T).reshape(x.shape)), places

    def attention(self, values):
        places, rate = self.pick(values, 2, 3), self.random.choice((0.0, 0.2)) * self.drops

        def heads(x):
            return x.view(4, ROWS // 4, 2, -1).transpose(1, 2)

        def attend(*each):
            return F.scaled_dot_product_attention(*map(heads, each), dropout_p=rate).transpose(1, 2).reshape(ROWS, -1)
        return attend, places

    def region(self, values):
        """Adds several steps that a checkpoint replays, some of them in a region of their own. No step writes a buffer:
        torch.utils.checkpoint would write it twice."""
        inner, chain = [values[self.pick(values, 2)[0]]], []
        place = next(place for place, each in enumerate(values) if each is inner[0])
        for _ in range(self.random.randrange(2, 5)):
            function, places = self.random.choice((self.linear, self.pointwise, self.dropout, self.norm, self.scores))(inner) or (None, None)
            if function and all(each < len(inner) for each in places):
                inner.append(function(*(inner[each] for each in places)).detach())
                chain.append((function, places))

        kind = self.random.choice(("plain", "nested", "nested", "broken")) if self.more else "plain"
        cut = self.random.randrange(len(chain) + 1)

        def walk(found, chain):
            found = list(found)
            for function, places in chain:
                found.append(function(*(found[each] for each in places)))
            return found

        def run(x):
            found = walk([x], chain[:cut])
            if kind == "broken":
                torch._dynamo.graph_break()
            if kind == "nested":
                return checkpoint(lambda *each: walk(each, chain[cut:])[-1], *found, use_reentrant=False)
            return walk(found, chain[cut:])[-1]
        self.has_regions = True
        return lambda x: checkpoint(run, x, use_reentrant=False), [place]
