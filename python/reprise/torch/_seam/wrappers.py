"""Private names of AOTAutograd's code around compiled graphs."""

from torch._functorch._activation_checkpointing import remat_using_tags_for_fwd_loss_bwd_graph_pass as inner_replays
from torch._functorch._aot_autograd import runtime_wrappers
from torch._functorch._aot_autograd.runtime_wrappers import AOTDispatchAutograd, RuntimeWrapper, post_compile, pre_compile
from torch._functorch._aot_autograd.runtime_wrappers import _AOTDispatchAutogradFunctionFactory as FunctionFactory
from torch._functorch._aot_autograd.runtime_wrappers import _AutogradBackwardCompiler as BackwardCompiler
from torch._functorch._aot_autograd.runtime_wrappers import _AutogradForwardEpilogue as ForwardEpilogue

__all__ = ["AOTDispatchAutograd", "BackwardCompiler", "ForwardEpilogue", "FunctionFactory", "RuntimeWrapper", "inner_replays",
           "post_compile", "pre_compile", "runtime_wrappers"]
