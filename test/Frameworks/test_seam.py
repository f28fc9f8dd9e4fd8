"""The seam to PyTorch's private names: patches of functions that have changed, and versions that were not tested."""
import contextlib
import threading
import types
import warnings
from unittest import mock

import checks
import torch
from test_plan import Net, compiled, refused
from test_plan_alone import run_alone

import reprise
from reprise.torch._seam import patches, sharded, versions, wrappers
from reprise.torch._step_gauge import CpuGauge

#: One training step with the default options: whether its gradients are eager's, and whether Inductor's code was counted.
STEP = ("warnings.simplefilter('ignore'); import reprise.torch, sys; torch.manual_seed(0); "
        "m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4)); x = torch.randn(8, 4); "
        "m(x).sum().backward(); old = [p.grad for p in m.parameters()]; m.zero_grad(); "
        "torch.compile(m, backend='reprise_plan', options={'budget': '90%'})(x).sum().backward(); "
        "print('equal', all(torch.equal(a, p.grad) for a, p in zip(old, m.parameters())), "
        "'fused', 'reprise.torch._plan_fused' in sys.modules)")


def changed(*arguments, **named):
    """Stands for a function that another version of PyTorch has."""


@contextlib.contextmanager
def as_new():
    """Makes patches forget that they were checked."""
    for each in patches.ALL:
        each._is_checked = False
    yield
    for each in patches.ALL:
        each._is_checked = False


def try_functions():
    """Every patch refuses a function that it does not know, or that is not there, and says what works."""
    for patch in patches.ALL:
        place, works = f"{patch._name(patch.names[0])}", patches._WORKS[patch.part]
        with as_new():
            patch.check()
            checks.check(f"{place} is known", patch._is_checked)
        with as_new(), mock.patch.object(patch.owner, patch.names[0], changed):
            good, text = refused(reprise.Error, torch.__version__, place, "has another", works, call=patch.check)
            checks.check(f"{place} has changed", good, text)
        own = vars(patch.owner).get(patch.names[0])
        with as_new():
            delattr(patch.owner, patch.names[0])  # the base of a class may have another one
            try:
                says = "has another" if hasattr(patch.owner, patch.names[0]) else "lacks"
                good, text = refused(reprise.Error, torch.__version__, f"{says} {place}", works, call=patch.check)
            finally:
                setattr(patch.owner, patch.names[0], own)
            checks.check(f"{place} is missing", good, text)
    absent = patches.Patch(patches.PLAN, "torch._functorch.nowhere:Nothing", "run")
    good, text = refused(reprise.Error, "lacks torch._functorch.nowhere.Nothing", 'backend="reprise" works', call=absent.check)
    checks.check("a module that is missing", good, text)


def try_shards():
    """A class of FSDP2 without what a budget counts is an error; one whose function has changed, too, unless nothing is sharded."""
    good, text = refused(reprise.Error, "has a SimpleNamespace without first or second", 'backend="reprise_plan" without a budget works',
                         call=lambda: sharded._read(types.SimpleNamespace(), "first", "second"))
    checks.check("a class without a part", good, text)
    with as_new(), mock.patch.object(patches.SHARDED[1].owner, "lazy_init", changed):
        checks.check("nothing is sharded", sharded.held() == [])
    with as_new(), mock.patch.object(patches.SHARDED[1].owner, "lazy_init", changed):
        module = fully_shard_alone(torch.nn.Linear(4, 4))
        good, text = refused(reprise.Error, "FSDPCommContext.lazy_init", 'and backend="reprise"', call=sharded.held)
        checks.check("a sharded module with a changed function", good, text)
    del module


def fully_shard_alone(module):
    """Shards a module over one process."""
    from torch.distributed.fsdp import fully_shard
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    return fully_shard(module, mesh=torch.distributed.init_device_mesh("cpu", (1,)))


def try_count():
    """The gauge sees what another thread frees, at the next mark."""
    blocks, gauge = [], CpuGauge()
    gauge.start()
    blocks += [torch.empty(1 << 20, dtype=torch.uint8), torch.empty(1 << 16, dtype=torch.uint8)]
    gauge.mark()
    thread = threading.Thread(target=lambda: blocks.pop(0))
    thread.start()
    thread.join()
    gauge.mark()
    blocks.append(torch.empty(1 << 18, dtype=torch.uint8))
    found, large, small, more = gauge.stop(), 1 << 20, 1 << 16, 1 << 18
    checks.check("another thread's frees", found == [(large + small, large + small), (small, large + small), (small + more, small + more)], str(found))


def try_models():
    """A changed function of Inductor stops Inductor's code only."""
    model, x = Net(), torch.randn(8, 24)
    with as_new(), mock.patch.object(patches.CHOICES.owner, "can_fuse", changed):
        good, text = refused(reprise.Error, "InductorChoices.can_fuse", 'codegen="eager" works',
                             call=lambda: compiled(model, codegen="inductor", budget="90%")(x))
        checks.check("Inductor's code is refused", good, text)
        compiled(model, codegen="eager", budget="90%")(x).backward()
        checks.check("eager code is not", all(each.grad is not None for each in model.parameters()))


def try_compiled_functions():
    """Compiled functions without a part that is changed are an error."""
    with mock.patch.object(wrappers, "_PARTS", (*wrappers._PARTS, "_absent")):
        good, text = refused(reprise.Error, "makes functions without _absent", 'backend="reprise" works',
                             call=lambda: compiled(Net(), codegen="eager")(torch.randn(8, 24)))
        checks.check("a compiled function lacks a part", good, text)


def try_untested():
    """Functions of an untested version may have other code, and no other parameters."""
    patch = patches.FAKE
    own = vars(patch.owner)["dispatch"]
    with mock.patch.object(patches, "is_tested", lambda: False):
        def dispatch(self, func, types, args=(), kwargs=None):
            return own(self, func, types, args, kwargs)
        with as_new(), mock.patch.object(patch.owner, "dispatch", dispatch):
            patch.check()
            checks.check("other code of an untested version", patch._is_checked)
        with as_new(), mock.patch.object(patch.owner, "dispatch", changed):
            good, text = refused(reprise.Error, "has another", 'backend="reprise" works', call=patch.check)
            checks.check("other parameters of an untested version", good, text)


def try_versions():
    for version, expected in (("2.10.0", False), ("2.11.0", True), ("2.13.0+cpu", True), ("2.15.3", True), ("2.16.0", False),
                              ("2.15.0.dev20261101", False), ("2.14.0a0+git1", False), ("3.0.0", False)):
        checks.check(f"{version} is {'' if expected else 'not '}tested", versions.is_tested(version) is expected)
    told = run_alone("torch.__version__ = '2.10.1'; import reprise.torch")
    checks.check("an older version is an ImportError",
                 f"ImportError: reprise.torch needs PyTorch {versions.RANGE}, and PyTorch 2.10.1 is installed" in told, told)
    told = run_alone(STEP)
    checks.check("a tested version runs Inductor's code", "fused True\n" in told, told)
    if not versions.SINCE_2_13:
        return  # this version lacks names of newer ones
    told = run_alone("torch.__version__ = '2.99.1+cpu'; import reprise.torch; import reprise.torch")
    checks.check("a newer version is one warning", told.count("RepriseWarning") == 1 and versions.RANGE in told
                 and "PyTorch 2.99.1+cpu has not been tested" in told and "eager code" in told, told)
    told = run_alone("torch.__version__ = '2.99.1+cpu'; " + STEP)
    checks.check("and eager code with eager's bits", "equal True fused False\n" in told, told)


def try_names():
    """A backend whose names are missing is an error when it is used, and the other one works."""
    program = ("warnings.simplefilter('ignore'); import torch._functorch.aot_autograd; "
               "from torch._functorch._aot_autograd import functional_utils as f; del f.{}; "
               "import reprise.torch; m = torch.nn.Linear(2, 2); "
               "torch.compile(m, backend='reprise_plan', options={{'codegen': 'eager'}})(torch.ones(2, 2)).sum().backward(); "
               "print('planned'); torch.compile(m, backend='reprise')(torch.ones(2, 2))").format("assert_functional_graph")
    told = run_alone(program)
    checks.check("a missing name stops one backend", "planned" in told and f'backend="reprise" does not work with PyTorch {torch.__version__}'
                 in told and "assert_functional_graph" in told and 'codegen="eager" may work' in told, told[-1500:])


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_functions, try_shards, try_count, try_models, try_compiled_functions, try_untested, try_versions, try_names):
        torch.manual_seed(0)
        torch._dynamo.reset()
        part()
    checks.finish()


if __name__ == "__main__":
    main()
