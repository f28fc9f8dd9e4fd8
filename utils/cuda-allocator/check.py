#!/usr/bin/env python3
"""What PyTorch's caching allocator for CUDA gives to the steps of `reprise_plan`, on a machine without a GPU.

Usage: check.py [--codegen=eager|inductor] [--budgets=100%,60%,40%] [MODEL]...    MODEL: of test/Frameworks/models.py; default: all

Runs with the Python of an environment that has PyTorch's CUDA build, Reprise's package and those of test/Frameworks/requirements.txt.
The CUDA runtime and driver are replaced by ones that launch nothing (NullRuntime.c, NullDriver.c): allocations of a step do not
depend on what kernels write. cuDNN is off. For each plan: the peak that was predicted, the budget, and beside it what the allocator
gave (max_memory_allocated) and what was asked of it. Exits with 1 if that is more than 10 % from the prediction, or above the budget.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
STARTED = "REPRISE_NULL_CUDA"
#: Functions that PyTorch and Triton look up by name, or that Triton's modules are linked to, where success is all that is asked.
DRIVER = """cuCtxPushCurrent_v2 cuCtxSetCurrent cuCtxSetLimit cuFuncSetAttribute cuFuncSetCacheConfig cuLaunchCooperativeKernel
cuLaunchKernel cuLaunchKernelEx cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuMemExportToShareableHandle cuMemGetAddressRange
cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease
cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap cuMemsetD32Async cuModuleLoad cuModuleLoadDataEx cuModuleUnload cuOccupancyMaxActiveClusters
cuStreamWriteValue32 cuTensorMapEncodeTiled nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetGpuFabricInfoV
nvmlDeviceGetNvLinkRemoteDeviceType nvmlDeviceGetNvLinkRemotePciInfo_v2 nvmlInit_v2 nvmlSystemGetCudaDriverVersion_v2""".split()
#: What is computed outside of the graphs: a loss, or all of it that follows the model.
OUTSIDE = 1024


def packages():
    return next(each for each in sys.path if os.path.isdir(os.path.join(each, "triton")))


def symbols(path, kind):
    lines = subprocess.run(["nm", "-D", f"--{kind}-only", path], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def build(folder, name, source, others):
    """A library of a C file, and of functions without arguments that return success."""
    include = os.path.join(packages(), "triton", "backends", "nvidia", "include")
    stubs, made = os.path.join(folder, "stubs.c"), os.path.join(folder, name)
    with open(stubs, "w") as stream:
        stream.writelines(f"int {each}(void) {{ return 0; }}\n" for each in sorted(others))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-I", include, os.path.join(HERE, source), stubs, "-o", made,
                    f"-Wl,-soname,{name}", "-ldl"], check=True)
    return made


def start(folder):
    """Runs this script again, on libraries that compute nothing."""
    runtime = build(folder, "libnullruntime.so", "NullRuntime.c", ())
    needed = set()
    for path in glob.glob(os.path.join(packages(), "torch", "lib", "lib*.so")):
        needed |= {each for each in symbols(path, "undefined")
                   if each.lstrip("_").startswith(("cuda", "cublas", "cusparse", "cusolver", "cufft", "curand"))}
    runtime = build(folder, "libnullruntime.so", "NullRuntime.c", needed - symbols(runtime, "defined"))
    build(folder, "libcuda.so.1", "NullDriver.c", DRIVER)
    os.symlink("libcuda.so.1", os.path.join(folder, "libnvidia-ml.so.1"))
    environment = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache"),
                   "TRITON_CACHE_DIR": os.path.join(folder, "triton"), **os.environ}
    environment.update({STARTED: "1", "LD_PRELOAD": runtime, "LD_LIBRARY_PATH": folder})
    return subprocess.run([sys.executable, *sys.argv], env=environment).returncode


def on_gpu(value):
    import torch
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda each: each.cuda(), value)


def try_budget(name, case, budget, codegen):
    """Whether the peak of a step is as predicted, and within the budget unless a warning says otherwise."""
    import torch
    from reprise.torch import plans
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        forward = torch.compile(case.model, backend="reprise_plan", options={"budget": budget, "codegen": codegen})
        case.step(forward)
    case.step(forward)
    case.model.zero_grad(set_to_none=True)
    before = torch.cuda.memory_stats()
    torch.cuda.reset_peak_memory_stats()
    case.step(forward)
    after, plan = torch.cuda.memory_stats(), plans()[-1]
    given, asked = (after[f"{each}_bytes.all.peak"] - before[f"{each}_bytes.all.current"] for each in ("allocated", "requested"))
    is_over = any("does not hold" in str(each.message) for each in said)
    is_least = any("the least budget that was met" in str(each.message) for each in said)
    good = abs(given / plan.peak - 1) < 0.1 and (is_over or given <= plan.budget + OUTSIDE)
    print(f"| {name} | {budget}{', the least' * is_least}{', over' * is_over} | {plan.budget} | {plan.peak} | {given} "
          f"({100 * (given / plan.peak - 1):+.2f} %) | {asked} | {plan.replays} | {'yes' if good else '**no**'} |", flush=True)
    return good


def check(arguments):
    sys.path[:0] = [os.path.join(SOURCE, "test", each) for each in ("Frameworks", "Integration")]
    import models
    import torch
    cross_entropy = torch.nn.functional.cross_entropy
    torch.nn.functional.cross_entropy = lambda x, target, *more, **named: cross_entropy(x, target.to(x.device), *more, **named)
    torch.backends.cudnn.enabled = False
    models.prepare()
    print("| model | budget | bytes | predicted | given | asked for | replays | within |\n|---|---|---:|---:|---:|---:|---:|---|")
    good = True
    for name in arguments.models or models.CASES:
        case = models.build(name)
        case.model.cuda()
        case.args, case.kwargs = on_gpu(case.args), on_gpu(case.kwargs)
        for budget in arguments.budgets.split(","):
            good &= try_budget(name, case, budget, arguments.codegen)
    return not good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codegen", default="eager", choices=("eager", "inductor"))
    parser.add_argument("--budgets", default="100%,60%,40%")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    if STARTED in os.environ:
        return check(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return start(folder)


if __name__ == "__main__":
    sys.exit(main())
