"""Outputs of runs and PyTorch's models: what a run has trained becomes the state of a model and its optimizer, and the
reverse. Also under FSDP2, and as checkpoints of ``torch.distributed.checkpoint``."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict, set_model_state_dict, set_optimizer_state_dict
from torch.distributed.tensor import DTensor, distribute_tensor

from .._arrays import Arrays, write_arrays
from .._errors import UsageError
from ._names import STATES, all_names, array_name, named_tensors, power_after, steps_of_power, trained_names

Path = str | os.PathLike[str]
#: PyTorch's types of the elements of tensors in files.
TYPES = {"F32": torch.float32, "F64": torch.float64, "BF16": torch.bfloat16, "F16": torch.float16, "I32": torch.int32,
         "I64": torch.int64, "BOOL": torch.bool}
START = {"seed": 0, "offset": 0, "step": 0}


def _tensor_names(name: str) -> tuple[str, str]:
    """Returns the names of an argument in files: the one of --names, as export writes it, and the one without."""
    kind, slash, parameter = name.partition("/")
    default = name.replace("/", ".")
    return (f"state.{parameter.replace('/', '.')}.{STATES[kind]}", default) if slash and kind in STATES else (default, default)


def _fill(tensor: Any, arrays: Arrays, name: str, others: list[str]) -> bool:
    """Copies an array into a tensor, or into the local part of one; returns whether there is one."""
    found = arrays.find(*_tensor_names(name), *others)
    if found is None:
        return False
    array, kind = found
    is_brain = tensor.dtype is torch.bfloat16 and array.dtype == "uint16"
    if not is_brain and TYPES[kind] is not tensor.dtype:
        raise UsageError(f"'{arrays.path}' has '{name}' as {kind}, the model as {tensor.dtype}")
    if tuple(array.shape) != tuple(tensor.shape):
        raise UsageError(f"'{arrays.path}' has '{name}' of shape {list(array.shape)}, the model of shape {list(tensor.shape)}")
    whole = torch.from_numpy(array)
    whole = whole.view(torch.bfloat16) if is_brain else whole
    with torch.no_grad():
        if isinstance(tensor, DTensor):
            whole = whole.to(tensor.to_local().device)
            whole = distribute_tensor(whole, tensor.device_mesh, tensor.placements, src_data_rank=None)
        tensor.copy_(whole)
    return True


def _groups(state: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the groups of an optimizer, with what export puts behind the names of their scalars."""
    groups = state["param_groups"]
    for number, group in enumerate(groups):
        yield f"_{number}" if len(groups) > 1 else "", group


def _steps(arrays: Arrays, suffix: str, betas: tuple[float, float]) -> int:
    """Returns the number of steps that Adam has made, from the powers of its betas."""
    least = int(arrays.record["next_step"]) if arrays.record else 0
    steps = []
    for number, beta in enumerate(betas, 1):
        found = arrays.find(f"beta{number}_power{suffix}")
        if found is None:
            raise UsageError(f"'{arrays.path}' has no 'beta{number}_power{suffix}': the output is of a step with another optimizer")
        made = steps_of_power(beta, float(found[0]))
        if made is None:
            raise UsageError(f"'{arrays.path}': 'beta{number}_power{suffix}' is {float(found[0])!r}, no power of {beta}")
        stays = power_after(beta, made + 1) == power_after(beta, made)
        steps.append(max(made, least) if stays else made)
    return max(steps)


def _read_optimizer(arrays: Arrays, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    state = get_optimizer_state_dict(model, optimizer)
    for suffix, group in _groups(state):
        steps = _steps(arrays, suffix, group["betas"]) if "betas" in group else 0
        for name in group["params"]:
            own = state["state"].get(name, {})
            for kind, key in STATES.items():
                argument = f"{kind}/{array_name(name)}"
                if isinstance(own.get(key), torch.Tensor) and not _fill(own[key], arrays, argument, []):
                    raise UsageError(f"'{arrays.path}' has no '{argument}'")
            if "step" in own:
                own["step"] = torch.full_like(own["step"], steps) if isinstance(own["step"], torch.Tensor) else steps
    set_optimizer_state_dict(model, optimizer, state)


def read_run(path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None) -> dict[str, int]:
    """Copies parameters, buffers and the optimizer's state from the output of a run, of an exported step, into a model.

    The path is a folder, a .safetensors file or its index. Types and shapes must be equal. The model may be sharded by
    FSDP2 or ``distribute_tensor``: each process copies its part. Returns seed, offset and number of the next step.
    """
    arrays, names = Arrays(path), all_names(model)
    firsts = {each: first for first, others in names.items() for each in others}
    trained, state = trained_names(model), get_model_state_dict(model)
    for name, tensor in state.items():
        first = firsts.get(name, name)
        if isinstance(tensor, torch.Tensor) and not _fill(tensor, arrays, array_name(first), names.get(first, [])) and first in trained:
            raise UsageError(f"'{path}' has no parameter '{array_name(first)}'")
    set_model_state_dict(model, state)
    if optimizer is not None:
        _read_optimizer(arrays, model, optimizer)
    record = arrays.record or {}
    return {key: int(record.get(name, 0)) for key, name in (("seed", "seed"), ("offset", "next_offset"), ("step", "next_step"))}


class _Written:
    """Arrays of a model by the names of tensors; the first process keeps them."""

    def __init__(self) -> None:
        self.is_first = not dist.is_initialized() or dist.get_rank() == 0
        self.arrays: dict[str, tuple[Any, str]] = {}

    def add(self, name: str, tensor: torch.Tensor) -> None:
        """Adds a whole tensor; all processes gather the parts of a sharded one."""
        whole = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        kind = next((kind for kind, dtype in TYPES.items() if dtype is whole.dtype), None)
        if kind is None:
            raise UsageError(f"'{name}' is {whole.dtype}, which an exported step has not")
        if self.is_first:
            array = whole.detach().cpu().contiguous()
            array = array.view(torch.uint16) if kind == "BF16" else array
            self.arrays[name.replace("/", ".")] = array.numpy().copy(), kind

    def add_optimizer(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        state = get_optimizer_state_dict(model, optimizer)
        for suffix, group in _groups(state):
            steps = set()
            for name in group["params"]:
                own = state["state"].get(name, {})
                steps |= {int(own["step"])} if "step" in own else set()
                for kind, key in STATES.items():
                    if isinstance(own.get(key), torch.Tensor):
                        self.add(f"{kind}/{array_name(name)}", own[key])
            if "betas" not in group:
                continue
            if len(steps) > 1:
                raise UsageError(f"parameters of one group have made {sorted(steps)} steps; an exported step has one number")
            for number, beta in enumerate(group["betas"], 1):
                self.add(f"beta{number}_power{suffix}", torch.tensor(power_after(beta, *steps)))


def write_run(path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None, *,
              state: Mapping[str, int] | None = None) -> None:
    """Writes parameters, buffers and the optimizer's state for ``--input-dir`` of a run of the exported step.

    The path becomes a folder of .npy files, or one file if it ends with .safetensors. ``state`` is what ``read_run`` has
    returned, with the steps made since; by default a run starts with seed 0 at step 0. All processes of a sharded model
    make this call, and the first one writes.
    """
    written = _Written()
    for name, tensor in named_tensors(model):
        written.add(array_name(name), tensor)
    if optimizer is not None:
        written.add_optimizer(model, optimizer)
    if written.is_first:
        write_arrays(path, written.arrays, {**START, **(state or {})})
    if dist.is_initialized():
        dist.barrier()


def run_to_checkpoint(path: Path, checkpoint: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Reads the output of a run into the model and the optimizer, and saves them as a checkpoint of
    ``torch.distributed.checkpoint``: {"model": …, "optim": …, "run": seed, offset and step}."""
    state = read_run(path, model, optimizer)
    dcp.save({**_states(model, optimizer), "run": state}, checkpoint_id=checkpoint)


def checkpoint_to_run(checkpoint: Path, path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Loads a checkpoint of ``torch.distributed.checkpoint`` into the model and the optimizer, and writes them for a run.

    The checkpoint has "model" and "optim" as ``get_state_dict`` returns them, and may have "run".
    """
    states: dict[str, Any] = _states(model, optimizer)
    known = dcp.FileSystemReader(checkpoint).read_metadata().state_dict_metadata
    if any(key.startswith("run.") for key in known):
        states["run"] = dict(START)
    dcp.load(states, checkpoint_id=checkpoint)
    set_model_state_dict(model, states["model"])
    set_optimizer_state_dict(model, optimizer, states["optim"])
    write_run(path, model, optimizer, state=states.get("run"))


def _states(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    return {"model": get_model_state_dict(model), "optim": get_optimizer_state_dict(model, optimizer)}


