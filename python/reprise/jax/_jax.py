"""Imports names of JAX that this package uses, and warns of a version that it was not tested with."""

from __future__ import annotations

import warnings

from .._errors import RepriseWarning

try:
    import jax
    from jax._src import ad_checkpoint, ad_util, core, custom_derivatives
    from jax._src.interpreters import mlir, partial_eval
    from jaxlib.mlir import ir
except ImportError as error:
    raise ImportError("reprise.jax needs jax: pip install jax") from error

#: Versions of JAX, without their last number, that the tests have run with.
TESTED = ("0.10",)

if ".".join(jax.__version__.split(".")[:2]) not in TESTED:
    warnings.warn(f"reprise.jax is tested with JAX {', '.join(TESTED)}, not with {jax.__version__}", RepriseWarning, stacklevel=3)

__all__ = ["ad_checkpoint", "ad_util", "core", "custom_derivatives", "ir", "jax", "mlir", "partial_eval"]
