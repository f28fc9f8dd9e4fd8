"""Private names of Dynamo: backends, frames, compilations."""

from typing import Callable

from torch._dynamo import compiled_autograd, eval_frame, list_backends, lookup_backend, register_backend, reset, trace_rules
from torch._dynamo import config
from torch._dynamo.backends.distributed import propagate_dynamo_source, propagate_metadata
from torch._dynamo.convert_frame import compile_lock
from torch._dynamo.utils import to_fake_tensor
from torch._guards import CompileContext
from torch.compiler import _compile_session_context as compile_session
from torch.utils import checkpoint

without_compiled_autograd = compiled_autograd._disable


def generate_checkpoint() -> Callable:
    """Returns the function that runs a region of torch.utils.checkpoint."""
    return checkpoint._checkpoint_without_reentrant_generator


def replace_generate_checkpoint(function: Callable) -> None:
    checkpoint._checkpoint_without_reentrant_generator = function


__all__ = ["CompileContext", "checkpoint", "compile_lock", "compile_session", "config", "eval_frame", "generate_checkpoint", "list_backends",
           "propagate_dynamo_source", "propagate_metadata", "register_backend", "replace_generate_checkpoint", "reset", "to_fake_tensor", "trace_rules",
           "without_compiled_autograd"]
