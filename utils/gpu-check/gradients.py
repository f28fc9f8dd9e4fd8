"""Makes a program that measures the distance of a model's 16-bit gradients from those in f32, as one number: a GPU
needs only the runtime for the check."""
import re

PLACE = re.compile(r"\s*loc\((?:#loc\d*|unknown)\)")


def find_functions(text):
    """The functions of a module of reprise-zoo by name, without places."""
    functions = {}
    for match in re.finditer(r"^  func\.func (?:private )?@(\w+)\(.*?^  \}", text, re.M | re.S):
        functions[match[1]] = PLACE.sub("", match[0])
    return functions


def split_types(text):
    """Splits at the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "(<{") - (letter in ")>}")
        if letter == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [*parts, text[begin:].strip()]


def rename(text, suffix):
    return re.sub(r"@(\w+)", rf"@\1_{suffix}", text)


def compare(full, half):
    """Merges the texts of one model in two precisions to a step whose loss is |difference| / |gradient|, over all
    parameters."""
    kept, (signature, results) = [], (None, None)
    for suffix, text in (("full", full), ("half", half)):
        functions = find_functions(text)
        kept += [rename(functions[name], suffix) for name in functions if name not in ("train", "hvp", "directional")]
        head = functions["grad"].split("\n")[0]
        signature, results = re.match(r"  func\.func @grad\((.*)\) -> \((.*)\) (?:attributes .*)?\{$", head).groups()
    arguments = [part.split(":")[0] for part in split_types(signature)]
    types = [re.match(r"%\w+: (tensor<[^>]*>)", part)[1] for part in split_types(signature)]
    gradients = [re.match(r"tensor<[^>]*>", part)[0] for part in split_types(results)][1:]
    lines = [f"  func.func @train({signature}) -> (tensor<f32> {{reprise.name = \"loss\"}}) {{"]
    call = f"({', '.join(arguments)}) : ({', '.join(types)}) -> ({', '.join(['tensor<f32>', *gradients])})"
    lines += [f"    %{suffix}:{len(gradients) + 1} = func.call @grad_{suffix}{call}" for suffix in ("full", "half")]
    sums = {"own": None, "gap": None}
    for i, kind in enumerate(gradients, 1):
        lines.append(f"    %difference{i} = reprise.sub %half#{i}, %full#{i} : {kind}")
        for name, value in (("own", f"%full#{i}"), ("gap", f"%difference{i}")):
            dims = ", ".join(map(str, range(kind.count("x"))))
            lines.append(f"    %{name}{i} = reprise.mul {value}, {value} : {kind}")
            lines.append(f"    %{name}sum{i} = reprise.sum %{name}{i} dims [{dims}] : ({kind}) -> tensor<f32>")
            if sums[name]:
                lines.append(f"    %{name}all{i} = reprise.add {sums[name]}, %{name}sum{i} : tensor<f32>")
            sums[name] = f"%{name}all{i}" if sums[name] else f"%{name}sum{i}"
    lines += [f"    %share = reprise.div {sums['gap']}, {sums['own']} : tensor<f32>",
              "    %distance = reprise.sqrt %share : tensor<f32>", "    return %distance : tensor<f32>", "  }"]
    return "\n".join(["module {", *kept, *lines, "}"]) + "\n"
