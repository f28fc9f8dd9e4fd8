"""Reprise for PyTorch: ``torch.compile(model, backend="reprise_plan", options={"budget": "60%"})``, or "reprise".

docs/tutorials/PyTorch.md is the guide. Importing this module registers the backends; an installed package also registers them by
its entry points.
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("reprise.torch needs PyTorch 2.13, which is not installed") from error

from .._versions import warn_untested
from . import _replayed_writes
from ._export import Exported, export
from ._plan_backend import reprise_plan
from ._plan_report import GraphPlan, plans
from ._seam.dynamo import list_backends as _list_backends
from ._seam.dynamo import register_backend as _register_backend
from ._whole import reprise
from ._whole_errors import Unsupported
from ._whole_graphs import CompiledGraph, graphs

__all__ = ["CompiledGraph", "Exported", "GraphPlan", "Unsupported", "export", "graphs", "plans", "reprise", "reprise_plan"]

if "reprise_plan" not in _list_backends(exclude_tags=()):  # otherwise an entry point has registered it
    _register_backend(reprise_plan, name="reprise_plan")
if "reprise" not in _list_backends(exclude_tags=()):
    _register_backend(reprise, name="reprise")
warn_untested("PyTorch", _torch.__version__)
_replayed_writes.install()
