"""Calls the emulated cuBLASLt wrongly, one fault at a time; the last call is right. Each fault has a line on standard error."""
import ctypes
import sys

cuda, library = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublasLt.so.13")
F32, F16, BF16 = 0, 2, 14
context, address, handle = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()


def good(status):
    if status:
        sys.exit(f"status {status}")


def make(name, *arguments):
    made = ctypes.c_void_p()
    good(getattr(library, name)(ctypes.byref(made), *arguments))
    return made


def layout(kind, rows, columns, pitch):
    return make("cublasLtMatrixLayoutCreate", kind, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(pitch))


def find(a, b, d):
    """Returns an algorithm for D = A·B, or the status."""
    preference, found, count = make("cublasLtMatmulPreferenceCreate"), (ctypes.c_uint64 * 16)(), ctypes.c_int()
    limit, alignment = ctypes.c_uint64(1 << 20), ctypes.c_uint32(16)
    good(library.cublasLtMatmulPreferenceSetAttribute(preference, 1, ctypes.byref(limit), ctypes.c_size_t(8)))
    for operand in range(5, 9):
        good(library.cublasLtMatmulPreferenceSetAttribute(preference, operand, ctypes.byref(alignment), ctypes.c_size_t(4)))
    status = library.cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, d, d, preference, 1, found, ctypes.byref(count))
    return found if status == 0 else status


def describe(attribute, value):
    return library.cublasLtMatmulDescSetAttribute(description, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))


def multiply(a, b, d, algorithm, offset=0, workspace=1 << 16, beta=0.0):
    one, other = ctypes.c_float(1), ctypes.c_float(beta)
    at = [ctypes.c_void_p(address.value + place) for place in (offset, 1 << 16, 2 << 16, 3 << 16)]
    return library.cublasLtMatmul(handle, description, ctypes.byref(one), at[0], a, at[1], b, ctypes.byref(other), at[2], d, at[2], d,
                                  algorithm, at[3], ctypes.c_size_t(workspace), None)


good(cuda.cuInit(0))
good(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
good(cuda.cuCtxSetCurrent(context))
good(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 19)))
good(library.cublasLtCreate(ctypes.byref(handle)))
description = make("cublasLtMatmulDescCreate", 68, F32)
a, b, d = layout(BF16, 32, 64, 32), layout(BF16, 64, 48, 64), layout(BF16, 32, 48, 32)
statuses = [find(layout(BF16, 32, 64, 31), b, d), find(a, layout(BF16, 63, 48, 64), d), find(a, layout(F16, 64, 48, 64), d)]
algorithm = find(a, b, d)
wrong = (ctypes.c_uint64 * 16)(*algorithm)
wrong[0] = 7
statuses += [multiply(a, b, d, algorithm, offset=8), multiply(a, b, d, algorithm, workspace=100),
             multiply(a, b, d, algorithm, beta=1.0), multiply(a, b, d, wrong)]
# The bias is null, then unaligned; the third case is an unsupported epilogue.
good(describe(7, ctypes.c_uint32(4)))
statuses.append(find(a, b, d))
good(describe(8, ctypes.c_void_p(address.value + (4 << 16) + 2)))
statuses += [multiply(a, b, d, algorithm), describe(7, ctypes.c_uint32(32))]
good(describe(7, ctypes.c_uint32(1)))
if statuses != [7] * 10:
    sys.exit(f"statuses {statuses}")
good(cuda.cuMemsetD32_v2(address, 0, ctypes.c_size_t(1 << 16)))
good(multiply(a, b, d, algorithm))
good(cuda.cuStreamSynchronize(None))
# The workspace is memory that no kernel has written.
fresh = ctypes.c_uint64()
good(cuda.cuMemAlloc_v2(ctypes.byref(fresh), ctypes.c_size_t(1 << 19)))
address = fresh
good(multiply(a, b, d, algorithm))
if cuda.cuStreamSynchronize(None) == 0:
    sys.exit("bytes that nothing wrote were read")
