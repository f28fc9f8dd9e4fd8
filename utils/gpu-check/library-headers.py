#!/usr/bin/env python3
"""Compares what the runtime declares of NVIDIA's libraries with their headers.

Usage: library-headers.py FOLDER...      each folder holds cublasLt.h or cudnn_version.h, anywhere below it

Packages `nvidia-cublas`, `nvidia-cublas-cu12`, `nvidia-cudnn-cu12` and `nvidia-cudnn-cu13` of pip have the headers.
Constants, sizes of structs, and the number of each function's parameters are compared, by a compiler that includes
both. No library is opened.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CUBLASLT = {
    "compute32F": "CUBLAS_COMPUTE_32F", "typeF32": "CUDA_R_32F", "typeF16": "CUDA_R_16F", "typeBF16": "CUDA_R_16BF",
    "transA": "CUBLASLT_MATMUL_DESC_TRANSA", "transB": "CUBLASLT_MATMUL_DESC_TRANSB",
    "epilogue": "CUBLASLT_MATMUL_DESC_EPILOGUE", "biasPointer": "CUBLASLT_MATMUL_DESC_BIAS_POINTER",
    "epilogueBias": "CUBLASLT_EPILOGUE_BIAS",
    "operationN": "CUBLAS_OP_N", "operationT": "CUBLAS_OP_T",
    "layoutBatch": "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT", "layoutStride": "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET",
    "preferWorkspace": "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
    "preferReductions": "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK",
    "preferAlignmentA": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES",
    "preferAlignmentA + 1": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES",
    "preferAlignmentA + 2": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES",
    "preferAlignmentA + 3": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES",
    "configReduction": "CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME",
    "reductionNone": "CUBLASLT_REDUCTION_SCHEME_NONE", "reductionComputeType": "CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE",
}
CUBLASLT_SIZES = {
    "sizeof(ours::Algorithm)": "sizeof(cublasLtMatmulAlgo_t)", "sizeof(ours::Heuristic)": "sizeof(cublasLtMatmulHeuristicResult_t)",
    "offsetof(ours::Heuristic, workspaceBytes)": "offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)",
    "offsetof(ours::Heuristic, state)": "offsetof(cublasLtMatmulHeuristicResult_t, state)",
}
CUDNN = {
    "typeF32": "CUDNN_DATA_FLOAT", "typeF16": "CUDNN_DATA_HALF", "typeBF16": "CUDNN_DATA_BFLOAT16", "formatRows": "CUDNN_TENSOR_NCHW",
    "crossCorrelation": "CUDNN_CROSS_CORRELATION", "mathDefault": "CUDNN_DEFAULT_MATH", "mathTensor": "CUDNN_TENSOR_OP_MATH",
    "isDeterministic": "CUDNN_DETERMINISTIC", "forwardImplicit": "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM",
    "forwardPrecomputed": "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM", "forwardProduct": "CUDNN_CONVOLUTION_FWD_ALGO_GEMM",
    "dataOrdered": "CUDNN_CONVOLUTION_BWD_DATA_ALGO_1", "filterOrdered": "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1",
}
CUDNN_SIZES = {}
for theirs in ("Fwd", "BwdData", "BwdFilter"):
    struct = f"cudnnConvolution{theirs}AlgoPerf_t"
    CUDNN_SIZES[f"sizeof(ours::Performance) + 0 * sizeof({struct})"] = f"sizeof({struct})"
    for own, member in (("workspaceBytes", "memory"), ("determinism", "determinism"), ("math", "mathType")):
        CUDNN_SIZES[f"offsetof(ours::Performance, {own}) + 0 * sizeof({struct})"] = f"offsetof({struct}, {member})"
# Header that names the folder, headers that are included, file of ours, its namespace, constants and sizes.
LIBRARIES = (("cublasLt.h", ["cublasLt.h"], "CublasLt.h", "cublaslt", CUBLASLT, CUBLASLT_SIZES),
             ("cudnn_version.h", ["cudnn_version.h", "cudnn.h"], "Cudnn.h", "cudnn", CUDNN, CUDNN_SIZES))
# The toolkit's headers are in other packages, and only small parts are needed.
STUBS = {
    "cuda_runtime_api.h": '#pragma once\n#include <cstddef>\n#include "library_types.h"\ntypedef struct CUstream_st *cudaStream_t;\n',
    "cuda_runtime.h": '#include "cuda_runtime_api.h"\n',
    "driver_types.h": '#include "cuda_runtime_api.h"\n',
    "cuComplex.h": "struct cuComplex { float x, y; };\nstruct cuDoubleComplex { double x, y; };\n",
    "cuda_fp16.h": "struct __half;\nstruct __half2;\n", "cuda_bf16.h": "struct __nv_bfloat16;\n", "cuda_fp8.h": "",
    # These types are as in library_types.h of CUDA 12 and 13.
    "library_types.h": "#pragma once\n#define __LIBRARY_TYPES_H__\nenum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_C_32F = 4,\n"
                       "CUDA_C_64F = 5, CUDA_R_32I = 10, CUDA_R_16BF = 14 };\n"
                       "typedef enum cudaDataType cudaDataType_t;\ntypedef enum libraryPropertyType_t { MAJOR_VERSION } libraryPropertyType;\n"
                       "typedef enum cudaEmulationStrategy { cudaEmulationAny } cudaEmulationStrategy_t;\n"
                       "typedef enum cudaEmulationMantissaControl { cudaMantissaAny } cudaEmulationMantissaControl_t;\n"
                       "typedef enum cudaEmulationSpecialValuesSupport { cudaSpecialAny } cudaEmulationSpecialValuesSupport_t;\n",
}


def find_header(folder, name):
    return next((path for path, _, files in os.walk(folder) if name in files), None)


def find_functions(header):
    """Returns the names of X(member, name, result, parameters), with the number of parameters."""
    text = open(header, encoding="utf-8").read().replace("\\\n", " ")
    for name, parameters in re.findall(r"X\(\w+,\s*(\w+),\s*[\w *]+?,\s*\(([^()]*)\)\)", text):
        yield name, len(parameters.split(",")) if parameters.strip() else 0


def make_program(includes, own, space, constants, sizes, functions):
    lines = ["#include <cstdint>", "#include <cstddef>", *(f"#include <{name}>" for name in includes), f'#include "{own}"',
             f"namespace ours = reprise::runtime::{space};",
             "template <typename R, typename... P> constexpr int count(R (*)(P...)) { return sizeof...(P); }"]
    lines += [f'static_assert(int(ours::{ours}) == int({theirs}), "{ours}");' for ours, theirs in constants.items()]
    lines += [f'static_assert({ours} == {theirs}, "{ours}");' for ours, theirs in sizes.items()]
    lines += [f'static_assert(count(&{name}) == {parameters}, "{name}");' for name, parameters in functions]
    return "\n".join(lines) + "\n"


def compare(folder, found, included, own, space, constants, sizes):
    runtime = os.path.join(SOURCE, "lib", "reprise", "Runtime")
    functions = list(find_functions(os.path.join(runtime, own)))
    if len(functions) < 10:
        sys.exit(f"library-headers: {own} lists no functions")
    with tempfile.TemporaryDirectory() as work:
        program = make_program(included, own, space, constants, sizes, functions)
        for name, text in {**STUBS, "check.cpp": program}.items():
            with open(os.path.join(work, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        includes = [runtime, os.path.join(SOURCE, "include"), found]
        # Stubs replace headers that the folder lacks.
        command = ["c++", "-std=c++17", "-w", "-fsyntax-only", *(f"-I{each}" for each in includes), f"-idirafter{work}"]
        if subprocess.run([*command, os.path.join(work, "check.cpp")], check=False).returncode:
            sys.exit(f"library-headers: what the runtime declares differs from {folder}")
    print(f"{folder}: {own}: {len(constants)} constants, {len(sizes)} sizes, {len(functions)} functions")


def main():
    for folder in sys.argv[1:] or sys.exit(__doc__):
        found = [(find_header(folder, name), *rest) for name, *rest in LIBRARIES]
        if not any(path for path, *_ in found):
            sys.exit(f"library-headers: no cublasLt.h and no cudnn_version.h below {folder}")
        for path, *rest in found:
            if path:
                compare(folder, path, *rest)


if __name__ == "__main__":
    main()
