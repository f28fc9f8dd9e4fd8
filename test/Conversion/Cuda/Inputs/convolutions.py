"""Prints a model that runs the convolution and both of its gradients in a few geometries, each in its own type."""

# Samples, channels, outputs, groups; then per spatial dimension: image, window, strides, zeros before, zeros after,
# dilation; then the type.
CASES = {
    "padded on one side": (2, 3, 4, 1, [7, 12], [2, 5], [3, 1], [0, 4], [1, 2], [2, 1], "f32"),
    "more than one block of threads": (3, 5, 7, 1, [9, 9], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f32"),
    "phases": (2, 4, 6, 2, [9, 8], [3, 3], [2, 2], [1, 1], [1, 0], [1, 1], "bf16"),
    "phases that read nothing": (1, 2, 3, 1, [11, 7], [2, 1], [4, 3], [1, 0], [0, 2], [2, 1], "f32"),
    "phases of a dilated window": (1, 2, 3, 1, [17, 10], [3, 2], [4, 3], [1, 2], [1, 0], [2, 3], "f64"),
    "a group per channel": (2, 5, 5, 5, [6, 5], [3, 3], [1, 2], [1, 1], [1, 1], [1, 1], "f16"),
    "one dimension": (2, 4, 6, 2, [13], [4], [2], [3], [0], [1], "f32"),
    "a window of one": (2, 9, 8, 1, [3, 3], [1, 1], [1, 1], [0, 0], [0, 0], [1, 1], "bf16"),
    "one of everything": (1, 1, 1, 1, [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [1, 1], "f32"),
    "outputs in the padding": (1, 2, 2, 1, [1, 2], [1, 1], [1, 1], [2, 1], [2, 3], [1, 1], "f32"),
    "two chains of channels": (1, 460, 2, 1, [2, 2], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f32"),
    "two chains of positions": (1, 1, 2, 1, [66, 66], [2, 2], [1, 1], [1, 0], [0, 1], [1, 1], "f32"),
    "tiles": (2, 5, 18, 1, [9, 7], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f32"),
    "tiles of neighbours": (1, 16, 20, 1, [8, 8], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f32"),
    "tiles of phases in groups": (2, 32, 34, 2, [9, 9], [3, 3], [2, 2], [1, 1], [1, 1], [1, 1], "bf16"),
    "tiles of two chains": (1, 460, 17, 1, [4, 4], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f64"),
    "no samples": (0, 2, 3, 1, [4, 4], [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "f32"),
}

OPERANDS = {"convolution": ("image", "filter"), "convolution_transpose": ("output", "filter"),
            "convolution_filter": ("image", "output")}


def tensor(sizes, element):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element + ">"


def main():
    arguments, body, results = [], [], []
    for number, (name, case) in enumerate(globals().get("CHOSEN", CASES).items()):
        samples, channels, outputs, groups, image, window, strides, low, high, dilation, element = case
        positions = [(i + l + h - (w - 1) * d - 1) // s + 1
                     for i, l, h, w, d, s in zip(image, low, high, window, dilation, strides)]
        types = {"image": tensor([samples, channels] + image, element),
                 "filter": tensor([outputs, channels // groups] + window, element),
                 "output": tensor([samples, outputs] + positions, element)}
        windows = f"strides {strides} low {low} high {high} dilation {dilation} {{groups = {groups} : i64}}"
        for role, kind in types.items():
            arguments.append(f'%{role}{number}: {kind} {{reprise.role = "input", reprise.name = "{role}{number}", '
                             "reprise.init = #reprise.normal<0.0, 1.0>}")
        body.append(f"  // {name}")
        for (op, (lhs, rhs)), kind in zip(OPERANDS.items(), (types["output"], types["image"], types["filter"])):
            value = f"%{op}{number}"
            body.append(f"  {value} = reprise.{op} %{lhs}{number}, %{rhs}{number} {windows} : "
                        f"({types[lhs]}, {types[rhs]}) -> {kind}")
            results.append((value, kind))
    named = [f'{kind} {{reprise.name = "{value[1:]}"}}' for value, kind in results]
    print("func.func @train(" + ",\n    ".join(arguments) + ")\n    -> (" + ",\n    ".join(named) + ") {")
    print("\n".join(body))
    print("  return " + ", ".join(value for value, _ in results) + " : " + ", ".join(kind for _, kind in results) + "\n}")


main()
