"""Private names of PyTorch's tracing: fake tensors, graphs, decompositions."""

from torch._decomp import decomposition_table
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx._lazy_graph_module import _make_graph_module as make_graph_module
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.graph import _BoxedCodeGen as BoxedCodeGen
from torch.fx.passes.split_module import split_module
from torch.utils._mode_utils import no_dispatch

__all__ = ["BoxedCodeGen", "FakeTensor", "FakeTensorMode", "decomposition_table", "detect_fake_mode", "make_fx", "make_graph_module",
           "no_dispatch", "split_module"]
