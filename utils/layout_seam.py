"""Finds private names of PyTorch outside of the seam (python/reprise/torch/_seam), where they must be imported."""
import ast

PACKAGE = "python/reprise/torch/"
SEAM = PACKAGE + "_seam/"
#: Public by name, private by their documentation.
INTERNAL = ("torch.fx.experimental", "torch.fx.passes")


def is_private(path):
    """Returns whether a dotted path names something private of PyTorch. Names of operators are part of graphs."""
    parts = path.split(".")
    if parts[0] not in ("torch", "functorch") or parts[:2] == ["torch", "ops"]:
        return False
    return any(each.startswith("_") and not each.startswith("__") for each in parts) or path.startswith(INTERNAL)


def imported(tree):
    """Returns what each imported name of PyTorch or of the seam stands for, as dotted paths with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.asname or each.name.split(".")[0], each.name if each.asname else each.name.split(".")[0], each.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and (not node.level or (node.module or "").startswith("_seam") or node.module is None):
            module = "torch.seam" if node.level else node.module
            for each in node.names:
                if not node.level or node.module or each.name == "_seam":
                    yield each.asname or each.name, f"{module}.{each.name}", f"{module}.{each.name}", node.lineno


def dotted(node):
    """Returns the names of a chain of attributes from its root on, or none if its root is no name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def private_names(text):
    """Yields (line, dotted path) for every private name of PyTorch that a source file imports or reads of a module."""
    tree, stands_for = ast.parse(text), {}
    for name, path, whole, line in imported(tree):
        stands_for[name] = path
        if is_private(whole.replace("torch.seam._seam", "torch.seam")):
            yield line, whole
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            names = dotted(node)
            if names and names[0] in stands_for:
                path = ".".join([stands_for[names[0]], *names[1:]])
                if is_private(path.replace("torch.seam._seam", "torch.seam")) and not is_private(stands_for[names[0]]):
                    yield node.lineno, path


def check_seam(files, read):
    """Yields (file, problem or None) for every file of the package for PyTorch outside of its seam."""
    for name in files:
        if name.startswith(PACKAGE) and name.endswith(".py") and not name.startswith(SEAM):
            found = sorted(private_names(read(name)))
            yield f"{name} reads PyTorch's private names through _seam", ", ".join(
                f"line {line}: {path}" for line, path in found) or None
