"""Versions of the frameworks that the tests have run on."""

from __future__ import annotations

import warnings

from ._errors import RepriseWarning

TESTED = {"PyTorch": ("2.13.0",)}


def warn_untested(framework: str, version: str) -> None:
    """Warns of a version that the tests have not run on. Builds of one version, such as 2.13.0+cpu, are equal."""
    tested = TESTED[framework]
    if version.split("+")[0] not in tested:
        warnings.warn(f"{framework} {version} has not been tested with Reprise, which reads internals of {framework}: tested with "
                      f"{', '.join(tested)}", RepriseWarning, stacklevel=3)
