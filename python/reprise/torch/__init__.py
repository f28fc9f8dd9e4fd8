"""Reprise for PyTorch: ``reprise.torch.compile(model, budget="60%")``, or ``torch.compile(model, backend="reprise_plan")``.

docs/tutorials/PyTorch.md is the guide. Importing this module registers the backends; an installed package also registers them by
its entry points.
"""

from typing import TYPE_CHECKING as _IS_CHECKED

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("reprise.torch needs PyTorch 2.11 or newer, which is not installed") from error

from .._errors import Error as _Error
from ._seam import versions as _versions

_versions.require()

from . import _replayed_writes  # noqa: E402
from ._plan_report import GraphPlan, RegionPlan, plans  # noqa: E402
from ._region_budgets import region  # noqa: E402
from ._seam.dynamo import list_backends as _list_backends  # noqa: E402
from ._seam.dynamo import register_backend as _register_backend  # noqa: E402
from ._short import compile  # noqa: E402
from ._step_report import StepPlan, steps  # noqa: E402
from ._whole_errors import Unsupported  # noqa: E402

if _IS_CHECKED:
    from ._run_folders import checkpoint_to_run, read_run, run_to_checkpoint, write_run

try:
    from ._plan_backend import reprise_plan
except (ImportError, _Error) as error:
    reprise_plan = _versions.missing('backend="reprise_plan"', error, 'backend="reprise"')
try:
    from ._export import Exported, export
    from ._whole import reprise
    from ._whole_graphs import CompiledGraph, graphs
except (ImportError, _Error) as error:
    reprise = export = graphs = _versions.missing('backend="reprise"', error, 'backend="reprise_plan" with codegen="eager"')
    Exported = CompiledGraph = None

__all__ = ["CompiledGraph", "Exported", "GraphPlan", "RegionPlan", "StepPlan", "Unsupported", "checkpoint_to_run", "compile", "export", "graphs", "plans",
           "read_run", "region", "reprise", "reprise_plan", "run_to_checkpoint", "steps", "write_run"]



def __getattr__(name):
    """Imports the functions about outputs of runs when they are used, since torch.distributed.checkpoint takes long."""
    if name not in ("checkpoint_to_run", "read_run", "run_to_checkpoint", "write_run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _run_folders
    return getattr(_run_folders, name)


if "reprise_plan" not in _list_backends(exclude_tags=()):  # otherwise an entry point has registered it
    _register_backend(reprise_plan, name="reprise_plan")
if "reprise" not in _list_backends(exclude_tags=()):
    _register_backend(reprise, name="reprise")
_versions.warn_untested()
_replayed_writes.install()
