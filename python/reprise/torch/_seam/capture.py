"""Private names of AOTAutograd's capture: its analysis of a graph's inputs and outputs, and the functional graph."""

from __future__ import annotations

from typing import Any

from torch._functorch._aot_autograd.descriptors import PlainAOTOutput
from torch._functorch._aot_autograd.functional_utils import assert_functional_graph
from torch._functorch._aot_autograd.graph_capture import _create_graph as create_graph
from torch._functorch._aot_autograd.graph_capture_wrappers import fn_prepped_for_autograd
from torch._functorch._aot_autograd.graph_compile import _apply_tensorify_python_scalars as tensorify_scalars
from torch._functorch._aot_autograd.graph_compile import _create_wrappers_for_dispatch as create_wrappers
from torch._functorch._aot_autograd.graph_compile import aot_stage1_graph_capture as capture_graph
from torch._functorch._aot_autograd.schemas import OutputType, TensorAlias
from torch._functorch._aot_autograd.subclass_utils import requires_subclass_dispatch
from torch._functorch.aot_autograd import create_aot_state

from .versions import SINCE_2_12

if SINCE_2_12:
    from torch._functorch._aot_autograd.graph_capture import _prepare_graph_capture_tracing as prepare_tracing
    from torch._functorch.aot_autograd import prepare_aot_module_simplified

    def prepare_aot(module: Any, inputs: Any) -> tuple:
        """Returns the parts of AOTAutograd's state for Dynamo's graph."""
        return prepare_aot_module_simplified(module, inputs, None, {}, False, False, flatten=False)
else:
    from .before_2_12 import prepare_aot, prepare_tracing

__all__ = ["OutputType", "PlainAOTOutput", "TensorAlias", "assert_functional_graph", "capture_graph", "create_aot_state", "create_graph",
           "create_wrappers", "fn_prepped_for_autograd", "prepare_aot", "prepare_tracing", "requires_subclass_dispatch",
           "tensorify_scalars"]
