"""Private names of eager PyTorch: tensors, modes, autograd, trees, profiler."""

from typing import Any

from torch._C import DispatchKey
from torch._C import _AutoDispatchBelowAutograd as BelowAutograd
from torch._C import _current_graph_task_id as current_graph_task
from torch._C import _get_cudnn_enabled as get_cudnn_enabled
from torch._C import _get_mkldnn_enabled as get_mkldnn_enabled
from torch._C import _is_any_autocast_enabled as is_any_autocast_enabled
from torch._C import _set_cudnn_enabled as set_cudnn_enabled
from torch._C import _set_grad_enabled as set_grad_enabled
from torch._C import _set_mkldnn_enabled as set_mkldnn_enabled
from torch._C._autograd import _get_current_graph_task_keep_graph as keeps_graph
from torch._C._autograd import _get_data_attr as get_data
from torch._C._functorch import get_unwrapped, is_functorch_wrapped_tensor
from torch._C._profiler import _ExperimentalConfig as ExperimentalConfig
from torch._ops import HigherOrderOperator, OpOverload
from torch._prims_common import is_non_overlapping_and_dense_or_false
from torch.amp import _enter_autocast as enter_autocast
from torch.amp import _exit_autocast as exit_autocast
from torch.autograd import _disable_profiler_legacy as disable_profiler
from torch.autograd import _enable_profiler_legacy as enable_profiler
from torch.nn.modules.batchnorm import _BatchNorm as BatchNorm
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass
from torch.utils._python_dispatch import _disable_current_modes as disable_current_modes
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_only, tree_unflatten


def run_eagerly(operator: HigherOrderOperator, *arguments: Any, **named: Any) -> Any:
    """Runs the eager form of a higher-order operator, whose ops autograd sees one by one."""
    return operator.py_kernels[DispatchKey.CompositeExplicitAutograd](*arguments, **named)


__all__ = [
    "BatchNorm", "BelowAutograd", "ExperimentalConfig", "HigherOrderOperator", "OpOverload", "TorchDispatchMode",
    "current_graph_task", "disable_current_modes", "disable_profiler", "enable_profiler", "enter_autocast", "exit_autocast", "get_data",
    "get_cudnn_enabled", "get_mkldnn_enabled", "get_unwrapped", "is_any_autocast_enabled", "is_functorch_wrapped_tensor",
    "is_non_overlapping_and_dense_or_false", "is_traceable_wrapper_subclass", "keeps_graph", "run_eagerly", "set_cudnn_enabled",
    "set_grad_enabled", "set_mkldnn_enabled", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only", "tree_unflatten",
]
