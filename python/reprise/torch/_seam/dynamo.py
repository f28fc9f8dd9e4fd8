"""Private names of Dynamo: backends, frames, compilations."""

from torch._dynamo import compiled_autograd, eval_frame, list_backends, lookup_backend, register_backend, reset, trace_rules
from torch._dynamo import config
from torch._dynamo.backends.distributed import propagate_dynamo_source, propagate_metadata
from torch._dynamo.convert_frame import compile_lock
from torch._dynamo.utils import counters, to_fake_tensor
from torch._guards import CompileContext

from .versions import SINCE_2_13

if SINCE_2_13:
    from torch.compiler import _compile_session_context as compile_session
else:
    from .before_2_13 import compile_session

def count_compilation() -> None:
    """Tells DDP's splitter of graphs that AOTAutograd has compiled one: the first call of its code returns fake tensors."""
    counters["aot_autograd"]["total"] += 1


without_compiled_autograd = compiled_autograd._disable

__all__ = ["CompileContext", "compile_lock", "compile_session", "config", "count_compilation", "eval_frame", "list_backends",
           "lookup_backend",
           "propagate_dynamo_source", "propagate_metadata", "register_backend", "reset", "to_fake_tensor", "trace_rules",
           "without_compiled_autograd"]
