"""Replaces functions of PyTorch, after a check that they are the ones that the replacements were tested with."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
from typing import Any, Iterator
from unittest import mock

import torch

from ..._errors import Error
from .known import KNOWN
from .versions import is_tested, release

#: Parts of the package, each with what works without it.
PLAN, INDUCTOR, WATCH = 'backend="reprise_plan"', 'codegen="inductor"', "the watch of replayed writes"
SHARDS, PIPES = "a budget of a step of modules that fully_shard shards", "a budget of a step of a pipeline"
_WORKS = {PLAN: 'backend="reprise" works', INDUCTOR: 'backend="reprise_plan" with codegen="eager" works, and backend="reprise"',
          WATCH: "both backends work without it",
          SHARDS: 'backend="reprise_plan" without a budget works, and backend="reprise"',
          PIPES: 'backend="reprise_plan" without a budget works, and backend="reprise"'}
#: Functions of Inductor's C++ code whose bits depend on vectors.
FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "erfc", "erfinv", "exp", "exp2", "expm1",
             "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "sigmoid", "sin", "sinh", "tan", "tanh")


def _function(value: Any) -> Any:
    """Returns the function of a static or class method, or of a wrapper."""
    return inspect.unwrap(getattr(value, "__func__", value))


class Patch:
    """Functions of a module or class of PyTorch that this package replaces, or whose code it relies on."""

    def __init__(self, part: str, owner: str, *names: str) -> None:
        self.part, self.names = part, names
        self._module, _, self._class = owner.partition(":")
        self.key = f"{owner}.{names[0]}"
        self._is_checked = False

    @functools.cached_property
    def owner(self) -> Any:
        """Returns the module or class whose attributes are replaced."""
        try:
            module = importlib.import_module(self._module)
            return getattr(module, self._class) if self._class else module
        except (ImportError, AttributeError):
            raise self.refuse(f"lacks {self._module}.{self._class}".rstrip(".")) from None

    def originals(self) -> list[Any]:
        """Returns the functions as they are now."""
        return [getattr(self.owner, name) for name in self.names]

    def refuse(self, what: str) -> Error:
        """Returns the error about what this version of PyTorch lacks or has changed, with what still works."""
        return Error(f"PyTorch {torch.__version__} {what}, which {self.part} needs: {_WORKS[self.part]}")

    def digests(self) -> tuple[str, str]:
        """Returns hashes of the functions' sources and of the names of their parameters."""
        sources, parameters = hashlib.sha256(), hashlib.sha256()
        for name in self.names:
            try:
                function = _function(inspect.getattr_static(self.owner, name))
            except AttributeError:
                raise self.refuse(f"lacks {self._name(name)}") from None
            parameters.update(repr([*inspect.signature(function).parameters]).encode())
            try:
                sources.update(inspect.getsource(function).encode())
            except (OSError, TypeError):  # a build without sources, or a function of C in the place of Python's
                code = getattr(function, "__code__", None)
                sources.update(code.co_code if code else repr(function).encode())
        return sources.hexdigest()[:12], parameters.hexdigest()[:12]

    def _name(self, name: str) -> str:
        return ".".join(filter(None, (self._module, self._class, name)))

    def check(self) -> None:
        """Raises an Error if a function is not a known one. Of an untested version, only parameters are compared."""
        if self._is_checked:
            return
        source, parameters = self.digests()
        known = KNOWN.get(self.key, {})
        if is_tested():
            is_known = source in [each.split()[0] for each in known.get("{}.{}".format(*release(torch.__version__)), ())]
        else:
            is_known = parameters in [each.split()[1] for every in known.values() for each in every]
        if not is_known:
            others = f" or one of {len(self.names) - 1} functions beside it" if len(self.names) > 1 else ""
            raise self.refuse(f"has another {self._name(self.names[0])}{others} than the tested versions")
        self._is_checked = True

    def install(self, value: Any) -> None:
        """Replaces the only function for good."""
        self.check()
        setattr(self.owner, self.names[0], value)

    @contextlib.contextmanager
    def replaced(self, *values: Any, **named: Any) -> Iterator[None]:
        """Replaces the functions within this context: all of them in order, or some by name."""
        self.check()
        with mock.patch.multiple(self.owner, **dict(zip(self.names, values)), **named):
            yield


#: Functions that Inductor's code is changed by, or whose marks of nodes it relies on.
FALLBACK = Patch(INDUCTOR, "torch._inductor.ir:FallbackKernel", "create")
UNALIGNED = Patch(INDUCTOR, "torch._inductor.ir", "is_unaligned")
LOW_PRECISION = Patch(INDUCTOR, "torch._inductor.codegen.cpp", "get_loop_body_lowp_fp")
TILING = Patch(INDUCTOR, "torch._inductor.codegen.cpp:TilingSelect", "select_tiling", "_select_tiling_indices")
SCALARS = Patch(INDUCTOR, "torch._inductor.codegen.cpp:CppOverrides", *FUNCTIONS)
VECTORS = Patch(INDUCTOR, "torch._inductor.codegen.cpp:CppVecOverrides", *FUNCTIONS)
FLUSH = Patch(INDUCTOR, "torch._inductor.codegen.cpp:CppScheduling", "ready_to_flush")
CHOICES = Patch(INDUCTOR, "torch._inductor.choices:InductorChoices", "can_fuse", "can_fuse_horizontal")
#: Readers of the marks that store or round a value.
STORED = Patch(INDUCTOR, "torch._inductor.graph:GraphLowering", "run_node")
ROUNDED = Patch(INDUCTOR, "torch._inductor.lowering", "make_pointwise")
LINES = Patch(INDUCTOR, "torch._inductor.codegen.wrapper:PythonWrapperCodegen", "memory_plan_reuse")
#: Class whose objects lower a graph. A graph whose text exists is not lowered again.
LOWERED = Patch(INDUCTOR, "torch._inductor.compile_fx", "GraphLowering")
#: Function that gives the decompositions, in versions before 2.13.
DECOMPOSITIONS = Patch(INDUCTOR, "torch._inductor.compile_fx", "select_decomp_table")
#: Functions of tracing and of the code around compiled graphs.
FAKE = Patch(PLAN, "torch._subclasses.fake_tensor:FakeTensorMode", "dispatch")
WRAPPER = Patch(PLAN, "torch._functorch._aot_autograd.runtime_wrappers:RuntimeWrapper", "post_compile")
REPLAYS = Patch(PLAN, "torch._functorch._activation_checkpointing.remat_using_tags_for_fwd_loss_bwd_graph_pass",
                "remat_using_tags_for_fwd_loss_bwd_graph")
#: Function through which a program calls the engine of autograd.
ENGINE = Patch(PLAN, "torch.autograd", "_engine_run_backward")
#: Regions of torch.utils.checkpoint outside of graphs.
REGION = Patch(WATCH, "torch.utils.checkpoint", "_checkpoint_without_reentrant_generator")
REENTRANT = Patch(WATCH, "torch.utils.checkpoint:CheckpointFunction", "forward")
#: Functions of FSDP2 that set, fill and drop what the budget of a step counts.
_FSDP = "torch.distributed.fsdp._fully_shard."
SHARDED = (
    Patch(SHARDS, f"{_FSDP}_fsdp_state:FSDPState", "__init__"),
    Patch(SHARDS, f"{_FSDP}_fsdp_param_group:FSDPCommContext", "lazy_init"),
    Patch(SHARDS, f"{_FSDP}_fsdp_param_group:FSDPParamGroup", "__init__", "unshard", "wait_for_unshard", "reshard", "post_backward",
          "finalize_backward"),
    Patch(SHARDS, f"{_FSDP}_fsdp_param:FSDPParam", "init_all_gather_outputs", "init_unsharded_param", "to_sharded_post_forward",
          "free_unsharded_param"),
    Patch(SHARDS, f"{_FSDP}_fsdp_collectives", "foreach_all_gather", "foreach_reduce"),
    Patch(SHARDS, "torch.distributed._composable_state", "_insert_module_state"),
)
#: Functions of pipelines that keep and drop the results of micro-batches.
STAGES = Patch(PIPES, "torch.distributed.pipelining.stage:_PipelineStageBase", "forward_one_chunk", "clear_runtime_states")

ALL = [*(each for each in globals().values() if isinstance(each, Patch)), *SHARDED]
