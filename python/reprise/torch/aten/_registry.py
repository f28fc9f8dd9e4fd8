"""The table of converters."""

from __future__ import annotations

from typing import Any, Callable

#: Converters by op overload, ``converter(builder, node, *arguments, **keywords)``, which return the op's results:
#: values of the dialect in place of tensors.
CONVERTERS: dict[Any, Callable[..., Any]] = {}


def converts(*targets: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a converter of some op overloads."""

    def register(converter: Callable[..., Any]) -> Callable[..., Any]:
        for target in targets:
            CONVERTERS[target] = converter
        return converter

    return register


def shape_of(node: Any, index: int | None = None) -> tuple[int, ...]:
    """Returns the shape of a node's result, or of one of its tensors."""
    value = node.meta["val"] if index is None else node.meta["val"][index]
    return tuple(int(size) for size in value.shape)


def dtype_of(node: Any, index: int | None = None) -> Any:
    return (node.meta["val"] if index is None else node.meta["val"][index]).dtype
