import glob
import os
import shutil
import sys

import lit.formats

config.name = "Reprise"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "data", "Inputs", "CMakeLists.txt", "Consumer"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.reprise_obj_root, "test")
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
# See utils/run-tests.py.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
config.environment["PATH"] = os.pathsep.join([config.reprise_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%src", config.reprise_src_root))
config.substitutions.append(("%build", config.reprise_obj_root))
# The driver that runs PTX on the CPU, before any other.
emulator = os.path.join(config.reprise_obj_root, "gpu-emulator")
config.substitutions.append(("%gpu", "env LD_LIBRARY_PATH=" + os.pathsep.join(filter(None, [emulator, os.environ.get("LD_LIBRARY_PATH")]))))
config.substitutions.append(("%llvm_include", os.path.join(config.llvm_tools_dir, "..", "include")))
config.substitutions.append(("%expect", sys.executable + " " + os.path.join(config.test_source_root, "Tools", "Inputs", "expect-code.py")))


def find_ptxas():
    """Returns the path of NVIDIA's assembler: in the path, beside nvcc, in a CUDA folder, or in pip's nvidia-cuda-nvcc.
    None without one."""
    nvcc = shutil.which("nvcc")
    folders = [os.path.dirname(os.path.realpath(nvcc))] if nvcc else []
    folders += [os.path.join(os.environ[name], "bin") for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ]
    for packages in filter(os.path.isdir, sys.path):
        folders += glob.glob(os.path.join(packages, "nvidia", "**", "bin"), recursive=True)
    return shutil.which("ptxas", path=os.pathsep.join([os.environ["PATH"]] + folders))


if shutil.which("clang-format-22"):
    config.available_features.add("clang-format")
# `utils/run-tests.py --quick` leaves out slow tests.
if not lit_config.params.get("quick"):
    config.available_features.add("slow")
# Libraries of ours load into any process but under the sanitizers.
if not config.reprise_sanitizer:
    config.available_features.add("loadable")
ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas_folder", os.path.dirname(ptxas)))
    config.substitutions.append(("%ptxas", ptxas))
for tool in os.listdir(config.reprise_tools_dir) if os.path.isdir(config.reprise_tools_dir) else []:
    config.available_features.add(tool)
