"""Shardings of an exported step: rules for ``reprise-compile --shards`` from dimensions by PyTorch's names, or from the
placements of DTensors; and models whose DTensors are whole tensors."""

from __future__ import annotations

import copy
import fnmatch
from typing import Any, Mapping

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from .._errors import UsageError
from ._names import array_name, named_tensors
from ._seam.placements import drop_placement_hooks

#: Names of the dimension of a mesh that cuts layers. Other dimensions are of replicas, which own rows anyway.
AXES = ("model", "tp")


def _axis_of(name: str, tensor: DTensor) -> list[int]:
    """Returns the numbers of the dimensions of the mesh that cut layers."""
    names = tensor.device_mesh.mesh_dim_names
    if names is None:
        raise UsageError(f"the mesh of parameter '{name}' has no names: give mesh_dim_names, with '{AXES[0]}' or '{AXES[1]}' for "
                         "the dimension that cuts layers")
    return [number for number, each in enumerate(names) if each in AXES]


def placed_dim(name: str, tensor: DTensor) -> int | None:
    """Returns the dimension of a parameter that the placements cut along the model axis; None for a whole one."""
    names, found = tensor.device_mesh.mesh_dim_names, {}
    for number in _axis_of(name, tensor):
        placement, parts = tensor.placements[number], tensor.device_mesh.size(number)
        if placement.is_partial():
            raise UsageError(f"parameter '{name}' is a partial sum along mesh dimension '{names[number]}': expected Shard(dim) or Replicate()")
        if not placement.is_shard():
            continue
        dim = placement.dim % tensor.dim()
        if tensor.shape[dim] % parts:
            raise UsageError(f"dimension {dim} of parameter '{name}' has size {tensor.shape[dim]}, which the {parts} parts of mesh dimension "
                             f"'{names[number]}' do not divide")
        found[names[number]] = dim
    if len(found) > 1:
        both = " and ".join(f"dimension {dim} along '{axis}'" for axis, dim in found.items())
        raise UsageError(f"parameter '{name}' is cut twice, {both}: a rule cuts one dimension")
    return next(iter(found.values()), None)


def _checked(name: str, tensor: torch.Tensor, dim: int | None) -> int | None:
    """Returns a dimension that counts from the start."""
    if dim is not None and not -tensor.dim() <= dim < tensor.dim():
        raise UsageError(f"shards= cuts dimension {dim} of '{name}', which has {tensor.dim()} dimensions")
    return None if dim is None else dim % tensor.dim()


def cut_dims(model: torch.nn.Module, shards: Mapping[str, int | None] | None) -> dict[str, int | None]:
    """Returns the cut dimension of each parameter that ``shards`` or a placement names, by its first name."""
    if any(isinstance(each, FSDPModule) for each in model.modules()):
        raise UsageError("the model is under fully_shard: export the model without it, since --mesh=data=R gives replicas their rows")
    used: set[str] = set()
    dims: dict[str, int | None] = {}
    for name, tensor in named_tensors(model):
        glob = next((each for each in shards or () if fnmatch.fnmatchcase(name, each)), None)
        placed = placed_dim(name, tensor) if isinstance(tensor, DTensor) else None
        if placed is not None:
            dims[name] = placed
        if glob is None:
            continue
        used.add(glob)
        dims[name] = _checked(name, tensor, shards[glob])
        if placed is not None and dims[name] != placed:
            raise UsageError(f"shards= cuts dimension {dims[name]} of '{name}', and its placements cut dimension {placed}")
    unused = [each for each in shards or () if each not in used]
    if unused:
        raise UsageError(f"shards= names '{unused[0]}', and no parameter or buffer matches")
    return dims


def rules_of(model: torch.nn.Module, dims: Mapping[str, int | None]) -> dict[str, Any]:
    """Returns the content of a file for ``--shards``: a rule for each parameter that is cut."""
    ranks = {name: tensor.dim() for name, tensor in named_tensors(model)}
    rules = [{"match": {"name": array_name(name)}, "shard": ["model" if dim == each else None for each in range(ranks[name])]}
             for name, dim in dims.items() if dim is not None]
    return {"version": 1, "rules": rules}


def whole_tensor(tensor: Any) -> Any:
    """Returns a tensor of all parts; every process of the mesh must ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


class Whole:
    """A model without DTensors. Tensors that are no DTensors are those of the given model."""

    def __init__(self, model: torch.nn.Module) -> None:
        tensors = [*model.parameters(), *model.buffers()]
        self._twins: dict[int, torch.Tensor] = {id(each): each for each in tensors}
        self.model = model
        if not any(isinstance(each, DTensor) for each in tensors):
            return
        with torch.no_grad():
            for each in tensors:
                if isinstance(each, DTensor):
                    whole = each.full_tensor()
                    is_parameter = isinstance(each, torch.nn.Parameter)
                    self._twins[id(each)] = torch.nn.Parameter(whole, each.requires_grad) if is_parameter else whole
        self.model = copy.deepcopy(model, dict(self._twins))
        drop_placement_hooks(self.model)

    def find(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns the tensor of this model for one of the given model."""
        return self._twins.get(id(tensor), tensor)
