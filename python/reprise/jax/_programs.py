"""Programs of JAX (jaxprs), and the programs inside of their equations."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from ._jax import core


def _inside(value: Any) -> Iterator[Any]:
    """Yields the programs in a parameter of an equation."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _inside(each)
    else:
        program = getattr(value, "jaxpr", value)
        if hasattr(program, "eqns"):
            yield program


def programs_of(equation: Any) -> list[Any]:
    """Returns the programs that an equation runs, such as the body of a scan."""
    return [program for value in equation.params.values() for program in _inside(value)]


def equations_in(program: Any) -> Iterator[Any]:
    """Yields the equations of a program, and those of the programs inside of it."""
    for equation in program.eqns:
        yield equation
        for inner in programs_of(equation):
            yield from equations_in(inner)


def _map_programs(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_map_programs(each, change) for each in value)
    if isinstance(value, core.ClosedJaxpr):
        return value.replace(jaxpr=change(value.jaxpr))
    return change(value) if isinstance(value, core.Jaxpr) else value


def map_equations(program: Any, change: Callable[[Any], list[Any]]) -> Any:
    """Returns the program with each equation replaced by those of ``change``, in inner programs first."""
    equations = []
    for equation in program.eqns:
        if programs_of(equation):
            params = {key: _map_programs(value, lambda inner: map_equations(inner, change))
                      for key, value in equation.params.items()}
            equation = equation.replace(params=params)
        equations += change(equation)
    return program.replace(eqns=equations)
