"""Finds private names of PyTorch outside of the seam (python/reprise/torch/_seam), where they must be imported."""
import ast

PACKAGE = "python/reprise/torch/"
SEAM = PACKAGE + "_seam/"
#: Modules without an underscore that PyTorch's documentation does not promise.
INTERNAL = ("torch.fx.experimental", "torch.fx.passes")


def is_private(path):
    """Returns whether a dotted path names something private of PyTorch. Names of operators are part of graphs."""
    parts = path.split(".")
    if parts[0] != "torch" or parts[:2] == ["torch", "ops"]:
        return False
    return any(each.startswith("_") and not each.startswith("__") for each in parts) or path.startswith(INTERNAL)


def imports(tree):
    """Yields (name, dotted path, line) for each name that a source file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.asname or each.name.split(".")[0], each.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield each.asname or each.name, "." * node.level + ".".join(filter(None, (node.module, each.name))), node.lineno


def chains(tree):
    """Yields (root, names, line) for each longest chain of attributes that begins with a name."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        names, root = [], node
        while isinstance(root, ast.Attribute):
            names.append(root.attr)
            root = root.value
        if names and isinstance(root, ast.Name) and id(node) not in inner:
            yield root.id, names[::-1], node.lineno


def private_names(text):
    """Yields (line, description) for each private name that a source file imports from PyTorch, or reads of a module
    of PyTorch or of the seam."""
    tree, known = ast.parse(text), {}
    for name, path, line in imports(tree):
        known[name] = "torch" if path.startswith("torch.") and name == "torch" else path
        if is_private(path):
            yield line, path
    for root, names, line in chains(tree):
        path = known.get(root, "")
        if is_private(".".join([path, *names])) and not is_private(path):
            yield line, ".".join([path, *names])
        elif path.lstrip(".").startswith("_seam") and names[0].startswith("_") and not names[0].startswith("__"):
            yield line, f"{root}.{names[0]} of _seam"


def check_seam(files, read):
    """Yields (description, problem or None) for every file of the package outside of the seam."""
    for name in files:
        if name.startswith(PACKAGE) and name.endswith(".py") and not name.startswith(SEAM):
            found = ", ".join(f"line {line}: {what}" for line, what in sorted(private_names(read(name))))
            yield name, "reads private names of PyTorch outside of _seam: " + found if found else None
