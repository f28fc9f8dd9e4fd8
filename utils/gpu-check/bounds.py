"""Programs that measure the distance of 16-bit contractions from exact ones, as one number: the largest error over its
bound.

Against sums in f64, with K terms and u = 2⁻⁸ for bf16, 2⁻¹¹ for f16,

    |error| ≤ 2·K·2⁻²⁴·Σ|a·b| + u·|Σ a·b|.

The first part holds for sums in f32 in any order (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1),
twice, because tensor cores truncate instead of rounding; the second one is the result's rounding. A bias is one more
term; a product that is rounded before the bias is added has that rounding, too. A sum with rounded parts, or with a
missing term, is farther away if terms cancel.
"""

UNIT = {"bf16": 2**-8, "f16": 2**-11}
DRAWN = 'reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>'
# Dimensions of both operands and of the result, the form, and the number of terms.
PRODUCTS = [([48, 64], [64, 40], [48, 40], "contracting [1] x [0]", 64), ([4104, 32], [4104, 24], [32, 24], "contracting [0] x [0]", 4104),
            ([16, 640], [24, 640], [16, 24], "contracting [1] x [1]", 640), ([40, 16], [16, 32], [40, 32], "contracting [1] x [0]", 16),
            ([3, 32, 72], [3, 72, 24], [3, 32, 24], "batch [0] x [0] contracting [2] x [1]", 72)]
IMAGE, FILTER, OUTPUT, SMALL = [2, 16, 9, 8], [24, 16, 3, 3], [2, 24, 9, 8], [2, 24, 5, 4]
PLAIN, STRIDED = ("strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1]", "strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1]")
CONVOLUTIONS = [("convolution", IMAGE, FILTER, OUTPUT, PLAIN, 144), ("convolution_transpose", OUTPUT, FILTER, IMAGE, PLAIN, 216),
                ("convolution_filter", IMAGE, OUTPUT, FILTER, PLAIN, 144), ("convolution", IMAGE, FILTER, SMALL, STRIDED, 144)]
BIASED = ("dot_bias", [48, 64], [40, 64], [48, 40], "bias %c contracting [1] x [1]", 64)
PROGRAMS = {"products": [*(("dot_general", *each) for each in PRODUCTS), BIASED], "convolutions": CONVOLUTIONS}


def tensor(shape, dtype):
    return f"tensor<{'x'.join(map(str, [*shape, dtype]))}>"


def operands_of(op, left, right, result):
    return [("a", left), ("b", right)] + ([("c", result[-1:])] if op == "dot_bias" else [])


def judge(op, left, right, result, form, terms, dtype, n):
    """Lines that make %ratio of one contraction of %a and %b, and a bias %c, with their numbers."""
    half, wide, scalar = (lambda shape: tensor(shape, dtype)), (lambda shape: tensor(shape, "f64")), "tensor<f64>"
    dims, operands = ", ".join(map(str, range(len(result)))), operands_of(op, left, right, result)

    def run(name, prefix, kind):
        kinds = ", ".join(kind(shape) for _, shape in operands)
        return (f"%{name}{n} = reprise.{op} %{prefix}a{n}, %{prefix}b{n} {form.replace('%c', f'%{prefix}c{n}')}"
                f" : ({kinds}) -> {kind(result)}")

    before = [f"%size{n} = reprise.abs %exact{n} : {wide(result)}"]
    if op == "dot_bias":
        before = [f"%dot{n} = reprise.sub %exact{n}, %wc{n} : ({wide(result)}, {wide(result[-1:])}) -> {wide(result)}",
                  f"%after{n} = reprise.abs %exact{n} : {wide(result)}", f"%first{n} = reprise.abs %dot{n} : {wide(result)}",
                  f"%size{n} = reprise.add %first{n}, %after{n} : {wide(result)}"]
    return [
        run("own", "", half),
        *(f"%w{side}{n} = reprise.cast %{side}{n} : {half(shape)} to {wide(shape)}" for side, shape in operands),
        run("exact", "w", wide),
        *(f"%abs{side}{n} = reprise.abs %w{side}{n} : {wide(shape)}" for side, shape in operands),
        run("sum", "abs", wide),
        f"%wide{n} = reprise.cast %own{n} : {half(result)} to {wide(result)}",
        f"%gap{n} = reprise.sub %wide{n}, %exact{n} : {wide(result)}",
        f"%error{n} = reprise.abs %gap{n} : {wide(result)}",
        f"%each{n} = reprise.constant dense<{2 * terms * 2**-24:.17e}> : {scalar}",
        f"%order{n} = reprise.mul %sum{n}, %each{n} : ({wide(result)}, {scalar}) -> {wide(result)}",
        *before,
        f"%unit{n} = reprise.constant dense<{UNIT[dtype]:.17e}> : {scalar}",
        f"%last{n} = reprise.mul %size{n}, %unit{n} : ({wide(result)}, {scalar}) -> {wide(result)}",
        f"%bound{n} = reprise.add %order{n}, %last{n} : {wide(result)}",
        f"%share{n} = reprise.div %error{n}, %bound{n} : {wide(result)}",
        f"%ratio{n} = reprise.max %share{n} dims [{dims}] : ({wide(result)}) -> {scalar}",
    ]


def program(name, dtype):
    arguments, lines, most = [], [], None
    for n, (op, left, right, result, form, terms) in enumerate(PROGRAMS[name]):
        arguments += [f'%{side}{n}: {tensor(shape, dtype)} {{reprise.name = "{side}{n}", {DRAWN}}}' for side, shape in operands_of(op, left, right, result)]
        lines += judge(op, left, right, result, form, terms, dtype, n)
        if most:
            lines.append(f"%most{n} = reprise.maximum {most}, %ratio{n} : tensor<f64>")
        most = f"%most{n}" if most else f"%ratio{n}"
    lines += [f"%loss = reprise.cast {most} : tensor<f64> to tensor<f32>", "return %loss : tensor<f32>"]
    body = "".join(f"  {line}\n" for line in lines)
    return f'func.func @train({", ".join(arguments)}) -> (tensor<f32> {{reprise.name = "loss"}}) {{\n{body}}}\n'
