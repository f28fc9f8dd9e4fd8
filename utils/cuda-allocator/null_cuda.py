"""Runs PyTorch's CUDA build without a GPU, on libraries that launch nothing.

Memory is that of the host (NullMemory.c), or that of the emulated driver (EmulatedMemory.c), on which Reprise's kernels
compute. Libraries of NVIDIA that are not installed become libraries whose functions return success.
"""
import glob
import importlib.util
import os
import re
import subprocess
import sys

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
#: Names of functions that are replaced in every case.
FUNCTIONS = ("cuda", "cublas", "cusparse", "cusolver", "cufft", "curand")
NEEDED = re.compile(r"NEEDED.*\[(lib(?:cu|nv|nccl)[^\]]*)\]")
#: Libraries whose versions of functions a library needs, and these versions.
VERSIONS = re.compile(r"File: (\S+)|Name: (\S+) ")


def headers():
    """Returns the folder of cuda.h: Triton's, or that of the toolkit."""
    triton = importlib.util.find_spec("triton")
    folders = [os.path.join(each, "backends", "nvidia", "include") for each in (triton.submodule_search_locations if triton else ())]
    folders += [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"), *sorted(glob.glob("/usr/local/cuda-*/include"))]
    return next(each for each in folders if os.path.exists(os.path.join(each, "cuda_runtime_api.h")))


def libraries():
    """Returns PyTorch's libraries."""
    folder, = importlib.util.find_spec("torch").submodule_search_locations
    return glob.glob(os.path.join(folder, "lib", "lib*.so"))


def symbols(path, kind):
    lines = output_of("nm", "-D", f"--{kind}-only", path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(folder, name, sources, others=(), version=None, text=""):
    """Makes a library of C files, of a text, and of functions without arguments that return success; all functions have
    one version."""
    stubs, made, script = (os.path.join(folder, each) for each in ("stubs.c", name, "versions.map"))
    with open(stubs, "w") as stream:
        stream.writelines(f"int {each}(void) {{ return 0; }}\n" for each in sorted(others))
        stream.write(text)
    with open(script, "w") as stream:
        stream.write(f"{version or ''} {{ global: *; }};\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-I", headers(), *(os.path.join(HERE, each) for each in sources), stubs, "-o", made,
                    f"-Wl,-soname,{name}", f"-Wl,--version-script={script}", "-ldl"], check=True)
    return made


def find_versions():
    """Returns the version that PyTorch's libraries need of another library's functions, by the name of that library."""
    found = {}
    for path in libraries():
        file = None
        for named, version in VERSIONS.findall(output_of("readelf", "-V", path)):
            file = named or file
            if version and file:
                found[file] = version
    return found


def build_driver(folder, emulator):
    """Makes a libcuda of the emulated driver's functions, and of those that only PyTorch calls."""
    path = os.path.join(emulator, "libcuda.so.1")
    names = sorted(symbols(path, "defined"))
    text = "#include <dlfcn.h>\n" + "".join(
        f'__attribute__((visibility("hidden"))) void *at_{each};\n'
        f'__attribute__((naked)) void {each}(void) {{ __asm__("jmp *at_{each}(%rip)"); }}\n' for each in names)
    text += f'__attribute__((constructor)) static void open_driver(void) {{\n  void *driver = dlopen("{path}", RTLD_NOW);\n'
    text += "".join(f'  at_{each} = dlsym(driver, "{each}");\n' for each in names) + "}\n"
    build(folder, "libcuda.so.1", ["EmulatedDriver.c"], set(DRIVER) - set(names), text=text)


def is_installed(name):
    return subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({name!r})"], stderr=subprocess.DEVNULL).returncode == 0


def build_missing(folder, undefined):
    """Makes the libraries of NVIDIA that PyTorch is linked to, if neither the system nor a package has them."""
    roots = [root for each in sys.path for root in glob.glob(os.path.join(each, "nvidia", "**", "lib"), recursive=True)]
    versions = find_versions()
    for name in sorted({name for path in libraries() for name in NEEDED.findall(output_of("readelf", "-d", path))}):
        if name != "libcuda.so.1" and not any(os.path.exists(os.path.join(root, name)) for root in roots) and not is_installed(name):
            own = re.split(r"[._]", name[3:])[0].lower()
            build(folder, name, (), {each for each in undefined if each.lower().startswith(own)}, versions.get(name))


def start(folder, memory="NullMemory.c", emulator=None):
    """Runs the calling script again, with libraries that compute nothing; on the emulated driver in folder ``emulator``, if that is given."""
    sources = ["NullRuntime.c", memory]
    defined = symbols(build(folder, "libnullruntime.so", sources), "defined")
    undefined = set().union(*(symbols(path, "undefined") for path in libraries()))
    needed = {each for each in undefined if each.lstrip("_").startswith(FUNCTIONS)}
    runtime = build(folder, "libnullruntime.so", sources, needed - defined)
    build_missing(folder, undefined - needed)
    if not emulator:
        build(folder, "libcuda.so.1", ["NullDriver.c"], DRIVER)
    else:
        build_driver(folder, emulator)
    os.symlink("libcuda.so.1", os.path.join(folder, "libnvidia-ml.so.1"))
    environment = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache"), "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
                   **({} if emulator else {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}), **os.environ}
    if emulator:
        environment.setdefault("REPRISE_EMULATED_DEVICES", "2")
    environment.update({STARTED: "1", "LD_PRELOAD": runtime, "LD_LIBRARY_PATH": folder})
    return subprocess.run([sys.executable, *sys.argv], env=environment).returncode
