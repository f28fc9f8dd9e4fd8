"""Generates problems for the planner: graphs as networkx's node-link JSON, of training steps from the shapes of
networks and random layered ones, and buffers as CSV."""

import math
import random

# Sizes of the values of Gagrani's published graphs: (share, bytes at most).
SIZES = [(0, 50), (0.01, 50), (0.05, 170), (0.1, 290), (0.2, 570), (0.3, 820), (0.4, 1110), (0.5, 1500), (0.6, 2040), (0.7, 2660),
         (0.8, 3400), (0.9, 4430), (0.95, 5180), (0.99, 6270), (1, 8180)]
# Spread of layer widths; density of edges between layers; share of edges that skip.
SPREAD, DENSITY, SKIPS = 0.75, 0.2, 0.14


def as_graph(nodes, edges):
    return {"nodes": [{"id": i, "cost_cpu": cost, "cost_ram": size} for i, (cost, size) in enumerate(nodes)],
            "links": [{"source": source, "target": target} for source, target in edges]}


def pick_size(pick):
    share = pick.random()
    for (low, small), (high, large) in zip(SIZES, SIZES[1:]):
        if share <= high and high > low:
            return int(small + (large - small) * (share - low) / (high - low)) // 10 * 10
    return SIZES[-1][1]


def link_layers(pick, one, other):
    """Returns edges between neighbours: each node of the wider layer links to as many contiguous nodes of the other as
    exist."""
    count = math.floor(DENSITY * len(one) * len(other) + (1 - DENSITY) * max(len(one), len(other)))
    wide, narrow = (one, other) if len(one) >= len(other) else (other, one)
    more = set(pick.sample(range(len(wide)), count % len(wide)))
    for i, node in enumerate(wide):
        reach = min(count // len(wide) + (i in more), len(narrow))
        middle = math.ceil(i * (len(narrow) - 1) / max(1, len(wide) - 1))
        first = max(0, min(middle - reach // 2, len(narrow) - reach))
        for peer in narrow[first:first + reach]:
            yield (node, peer) if wide is one else (peer, node)


def layered(count, seed):
    """Gagrani et al., Neural Topological Ordering for Computation Graphs (NeurIPS 2022), appendix A."""
    pick = random.Random(seed)
    depth = math.ceil(math.sqrt(count * (1 / pick.uniform(0.25, 0.5) - 1)))
    least, most = math.ceil((1 - SPREAD) * count / depth), max(1, math.floor((1 + SPREAD) * count / depth))
    layers, made = [[0]], 1
    while made < count - 1:
        width = min(pick.randint(least, most), count - 1 - made)
        layers.append(list(range(made, made + width)))
        made += width
    layers.append([count - 1])
    edges = {edge for one, other in zip(layers, layers[1:]) for edge in link_layers(pick, one, other)}
    for _ in range(math.ceil(len(edges) * SKIPS / (1 - SKIPS))):
        source = pick.randrange(len(layers) - 2)
        target = pick.randrange(source + 2, len(layers))
        x = pick.random()
        y = min(x + 0.2 * pick.random(), 0.999)
        edges.add((layers[source][int(x * len(layers[source]))], layers[target][int(y * len(layers[target]))]))
    costs = [0, *(pick.randrange(1000) for _ in range(count - 2)), 0]
    return as_graph([(cost, pick_size(pick)) for cost in costs], sorted(edges))


def chain(count, seed):
    """Returns a training step of `count` operations whose forward pass is a chain."""
    pick = random.Random(seed)
    half = count // 2
    nodes = [(pick.randint(1, 9), pick.randint(8, 72)) for _ in range(half)] + [(pick.randint(2, 10), 8) for _ in range(half)]
    edges = [(i, i + 1) for i in range(2 * half - 1)] + [(half - 2 - i, half + 1 + i) for i in range(half - 1)]
    return as_graph(nodes, edges)


def step_buffers(count, seed):
    """Yields lower, upper and size of the buffers of a training step: half wait for the backward pass, which reads them
    in reverse order, the others are temporaries."""
    pick, end = random.Random(seed), 5 * count // 3
    sizes = [int(2 ** pick.uniform(3, 27)) for _ in range(count // 6)]
    for _ in range(count):
        if pick.random() < 0.5:
            lower = pick.randrange(end // 2)
            upper = min(end, end - lower + pick.randrange(40))
        else:
            life = max(2, int(pick.expovariate(1 / 60)))
            lower = pick.randrange(end - life)
            upper = lower + life
        yield lower, upper, pick.choice(sizes)


def buffers(count, seed):
    """Returns the buffers of a training step as CSV."""
    rows = [f"{number},{lower},{upper},{size}" for number, (lower, upper, size) in enumerate(step_buffers(count, seed))]
    return "\n".join(["id,lower,upper,size", *rows]) + "\n"


class Network:
    """The forward pass of a network of f32 images, layer by layer; shapes are (channels, side)."""

    def __init__(self, batch, channels, side):
        self.batch, self.layers = batch, []
        self.input = self.add([], (channels, side), 0)

    def add(self, sources, shape, flops_per_image):
        self.layers.append((sources, shape, flops_per_image))
        return len(self.layers) - 1

    def shape(self, layer):
        return self.layers[layer][1]

    def conv(self, source, channels, kernel=3, stride=1):
        depth, side = self.shape(source)
        side //= stride
        return self.add([source], (channels, side), 2 * depth * channels * kernel * kernel * side * side)

    def resize(self, source, factor):
        """Adds a pooling layer, or an enlarging one."""
        channels, side = self.shape(source)
        return self.add([source], (channels, int(side * factor)), channels * side * side * 4)

    def dense(self, source, width):
        channels, side = self.shape(source)
        return self.add([source], (width, 1), 2 * channels * side * side * width)

    def join(self, one, other, concatenates=False):
        channels, side = self.shape(one)
        total = channels + self.shape(other)[0] if concatenates else channels
        return self.add([one, other], (total, side), total * side * side)

    def graph(self):
        """Adds the backward pass: a layer's gradient reads that of its result and the layer's operands, at twice its
        cost."""
        size = lambda layer: 4 * self.batch * self.shape(layer)[0] * self.shape(layer)[1] ** 2
        nodes, edges = [], []
        for layer, (sources, _, flops) in enumerate(self.layers):
            nodes.append((flops * self.batch / 1e6, size(layer)))
            edges += [(source, layer) for source in sources]
        nodes.append((size(len(self.layers) - 1) / 1e6, size(len(self.layers) - 1)))
        edges.append((len(self.layers) - 1, len(self.layers)))
        gradients = {len(self.layers) - 1: [len(self.layers)]}
        for layer in reversed(range(1, len(self.layers))):
            sources, _, flops = self.layers[layer]
            for source in sources:
                edges += [(gradient, len(nodes)) for gradient in gradients[layer]]
                edges += [(read, len(nodes)) for read in sources]
                gradients.setdefault(source, []).append(len(nodes))
                nodes.append((2 * flops * self.batch / 1e6 / len(sources), size(source)))
        return as_graph(nodes, edges)


VGG = {16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}
WIDTHS = [64, 128, 256, 512, 512]


def encode(network, repeats):
    """VGG's convolutions; the last layer of each of five scales."""
    last, scales = network.input, []
    for width, count in zip(WIDTHS, repeats):
        for _ in range(count):
            last = network.conv(last, width)
        scales.append(last)
        last = network.resize(last, 0.5)
    return last, scales


def vgg19():
    network = Network(256, 3, 224)
    last, _ = encode(network, VGG[19])
    for width in (4096, 4096, 1000):
        last = network.dense(last, width)
    return network.graph()


def segnet():
    network = Network(32, 3, 416)
    last, _ = encode(network, VGG[16])
    for width, count in zip([512, 256, 128, 64, 64], reversed(VGG[16])):
        last = network.resize(last, 2)
        for _ in range(count):
            last = network.conv(last, width)
    network.conv(last, 12)
    return network.graph()


def unet():
    network = Network(32, 3, 416)
    last, scales = network.input, []
    for width in (64, 128, 256, 512):
        last = network.conv(network.conv(last, width), width)
        scales.append(last)
        last = network.resize(last, 0.5)
    last = network.conv(network.conv(last, 1024), 1024)
    for width, scale in zip((512, 256, 128, 64), reversed(scales)):
        last = network.join(network.conv(network.resize(last, 2), width), scale, concatenates=True)
        last = network.conv(network.conv(last, width), width)
    network.conv(last, 2, kernel=1)
    return network.graph()


def resnet50():
    network = Network(256, 3, 224)
    last = network.resize(network.conv(network.input, 64, kernel=7, stride=2), 0.5)
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(count):
            stride = 2 if block == 0 and width > 64 else 1
            inner = network.conv(network.conv(last, width, kernel=1), width, stride=stride)
            inner = network.conv(inner, 4 * width, kernel=1)
            outer = last if block else network.conv(last, 4 * width, kernel=1, stride=stride)
            last = network.join(inner, outer)
    network.dense(last, 1000)
    return network.graph()


NETWORKS = {"ResNet50": resnet50, "SegNet": segnet, "U-Net": unet, "VGG19": vgg19}
