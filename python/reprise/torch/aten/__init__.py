"""Writes ATen ops in the dialect, by area. ``CONVERTERS`` has a converter for each supported op."""

from .. import _whole_ops  # noqa: F401  ops of ours that the converters name
from ._builder import Builder
from ._registry import CONVERTERS
from ._values import Line, Missing, Refused, Value
from .contractions import register_third_party
from . import attention, bounds, contractions, convolutions, creation, elementwise, functions, indexing  # noqa: F401
from . import logistic, losses, movement, normalizations, random, reductions, scatters, volumes  # noqa: F401

__all__ = ["Builder", "CONVERTERS", "Line", "Missing", "Refused", "Value", "register_third_party"]
