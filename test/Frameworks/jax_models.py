"""MLP, GPT-2, layer by layer and as a scan, and ResNet in plain jax.numpy, with dropout by jax.random and
checkpoints."""
import jax
import jax.numpy as jnp


def draws(key, scale):
    """A function that draws parameters of a shape."""
    keys = iter(jax.random.split(key, 256))
    return lambda *shape: jax.random.normal(next(keys), shape) * scale


def dense(params, x):
    return x @ params["w"] + params["b"]


def mean_nll(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)
    return -chosen.mean()


def mlp_params(key, width=16, classes=3):
    draw = draws(key, 0.3)
    return {"layers": [{"w": draw(width, width), "b": draw(width)} for _ in range(6)],
            "head": {"w": draw(width, classes), "b": draw(classes)}}


def mlp_loss(params, x, labels):
    for layer in params["layers"]:
        x = jax.nn.relu(dense(layer, x))
    return mean_nll(dense(params["head"], x), labels)


def norm(params, x, axes=-1):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * params["scale"] + params["bias"]


def dropout(key, rate, x):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)


def attention(params, x, heads, key, rate):
    batch, length, width = x.shape
    parts = jnp.split(dense(params["qkv"], x), 3, axis=-1)
    query, keys, values = (part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = jnp.einsum("bhtd,bhsd->bhts", query, keys) / jnp.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhts,bhsd->bhtd", dropout(key, rate, jax.nn.softmax(scores)), values)
    return dense(params["out"], mixed.transpose(0, 2, 1, 3).reshape(batch, length, width))


def gpt2_layer(params, x, key, heads=2, rate=0.1):
    first, second, third = jax.random.split(key, 3)
    x = x + dropout(first, rate, attention(params["attention"], norm(params["ln1"], x), heads, second, rate))
    hidden = jax.nn.gelu(dense(params["up"], norm(params["ln2"], x)))
    return x + dropout(third, rate, dense(params["down"], hidden))


def gpt2_params(key, vocab=50, width=32, length=16, layers=2):
    draw = draws(key, 0.1)
    linear = lambda inner, outer: {"w": draw(inner, outer), "b": draw(outer)}
    scaling = lambda: {"scale": 1 + draw(width), "bias": draw(width)}
    layer = lambda: {"ln1": scaling(), "ln2": scaling(), "up": linear(width, 4 * width), "down": linear(4 * width, width),
                     "attention": {"qkv": linear(width, 3 * width), "out": linear(width, width)}}
    return {"wte": draw(vocab, width), "wpe": draw(length, width), "norm": scaling(),
            "layers": [layer() for _ in range(layers)]}


def gpt2_loss(params, tokens, key):
    x = params["wte"][tokens[:, :-1]] + params["wpe"]
    for number, layer in enumerate(params["layers"]):
        x = jax.checkpoint(gpt2_layer)(layer, x, jax.random.fold_in(key, number))
    return mean_nll(norm(params["norm"], x) @ params["wte"].T, tokens[:, 1:])


def gpt2_scan_params(key, layers=6):
    params = gpt2_params(key, layers=layers)
    return {**params, "layers": jax.tree.map(lambda *leaves: jnp.stack(leaves), *params["layers"])}


def gpt2_scan_loss(params, tokens, key):
    """Runs all layers through one body, with their parameters stacked."""
    def layer(x, row):
        return jax.checkpoint(gpt2_layer)(row[0], x, row[1]), None

    keys = jax.random.split(key, params["layers"]["up"]["b"].shape[0])
    x = params["wte"][tokens[:, :-1]] + params["wpe"]
    x, _ = jax.lax.scan(layer, x, (params["layers"], keys))
    return mean_nll(norm(params["norm"], x) @ params["wte"].T, tokens[:, 1:])


def convolve(x, filters, stride=1):
    return jax.lax.conv_general_dilated(x, filters, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def resnet_block(stride, params, x):
    y = jax.nn.relu(norm(params["norm1"], convolve(x, params["conv1"], stride), (0, 1, 2)))
    y = norm(params["norm2"], convolve(y, params["conv2"]), (0, 1, 2))
    if "project" in params:
        x = convolve(x, params["project"], stride)
    return jax.nn.relu(x + y)


def resnet_params(key, width=8, classes=5):
    draw = draws(key, 0.2)
    scaling = lambda size: {"scale": 1 + draw(size), "bias": draw(size)}
    block = lambda inner, outer: {"conv1": draw(3, 3, inner, outer), "conv2": draw(3, 3, outer, outer),
                                  "norm1": scaling(outer), "norm2": scaling(outer)}
    return {"stem": draw(3, 3, 3, width), "norm": scaling(width), "head": draw(2 * width, classes),
            "blocks": [block(width, width), {**block(width, 2 * width), "project": draw(1, 1, width, 2 * width)}]}


def resnet_loss(params, images, labels):
    x = jax.nn.relu(norm(params["norm"], convolve(images, params["stem"], 2), (0, 1, 2)))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for stride, block in enumerate(params["blocks"], 1):
        x = jax.checkpoint(resnet_block, static_argnums=0)(stride, block, x)
    logits = x.mean((1, 2)) @ params["head"]
    return -(jax.nn.one_hot(labels, logits.shape[-1]) * jax.nn.log_softmax(logits)).sum(-1).mean()


def cases():
    """Name, loss, parameters and arguments of each model, and the budget that its test gives."""
    keys = jax.random.split(jax.random.key(7), 6)
    rows, labels = jax.random.normal(keys[0], (64, 16)), jnp.arange(64) % 3
    yield "mlp", mlp_loss, mlp_params(keys[1]), (rows, labels), "90%"
    tokens = jax.random.randint(keys[2], (2, 17), 0, 50)
    yield "gpt2", gpt2_loss, gpt2_params(keys[3]), (tokens, jax.random.key(1)), "75%"
    yield "gpt2 by scan", gpt2_scan_loss, gpt2_scan_params(keys[3]), (tokens, jax.random.key(1)), "80%"
    images = jax.random.normal(keys[4], (2, 16, 16, 3))
    yield "resnet", resnet_loss, resnet_params(keys[5]), (images, jnp.array([1, 3])), "95%"
