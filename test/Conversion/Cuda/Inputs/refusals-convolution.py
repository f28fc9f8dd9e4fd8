"""Calls the emulated cuDNN wrongly, one fault at a time; the last call is right. Each fault has a line on standard error."""
import ctypes
import sys

cuda, library = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcudnn.so.9")
F16, BF16 = 2, 9
context, address, handle = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()


def good(status):
    if status:
        sys.exit(f"status {status}")


def make(name):
    made = ctypes.c_void_p()
    good(getattr(library, name)(ctypes.byref(made)))
    return made


def list_of(*numbers):
    return (ctypes.c_int * len(numbers))(*numbers)


def set_tensor(tensor, kind, sizes, first=None):
    strides = [sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1]
    return library.cudnnSetTensorNdDescriptor(tensor, kind, 4, list_of(*sizes), list_of(first or strides[0], *strides[1:]))


def tensor(kind, *sizes):
    made = make("cudnnCreateTensorDescriptor")
    good(set_tensor(made, kind, sizes))
    return made


def convolve(image, output, algorithm=1, offset=0, workspace=1 << 16, beta=0.0):
    one, other = ctypes.c_float(1), ctypes.c_float(beta)
    at = [ctypes.c_void_p(address.value + place) for place in (offset, 1 << 16, 2 << 16, 3 << 16)]
    return library.cudnnConvolutionForward(handle, ctypes.byref(one), image, at[0], filter_, at[1], window, algorithm, at[3],
                                           ctypes.c_size_t(workspace), ctypes.byref(other), output, at[2])


good(cuda.cuInit(0))
good(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
good(cuda.cuCtxSetCurrent(context))
good(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 19)))
good(library.cudnnCreate(ctypes.byref(handle)))
filter_, window = make("cudnnCreateFilterDescriptor"), make("cudnnCreateConvolutionDescriptor")
statuses = [set_tensor(make("cudnnCreateTensorDescriptor"), BF16, (2, 16, 6, 6), first=600),
            library.cudnnSetFilterNdDescriptor(filter_, 5, 0, 4, list_of(32, 16, 3, 3))]
good(library.cudnnSetFilterNdDescriptor(filter_, BF16, 0, 4, list_of(32, 16, 3, 3)))
good(library.cudnnSetConvolutionNdDescriptor(window, 2, list_of(0, 0), list_of(1, 1), list_of(1, 1), 1, 0))
image, output = tensor(BF16, 2, 16, 6, 6), tensor(BF16, 2, 32, 4, 8)
statuses += [convolve(image, output), convolve(image, tensor(BF16, 2, 31, 4, 4)), convolve(tensor(F16, 2, 16, 6, 6), tensor(BF16, 2, 32, 4, 4))]
output = tensor(BF16, 2, 32, 4, 4)
statuses += [convolve(image, output, offset=8), convolve(image, output, workspace=100), convolve(image, output, beta=1.0),
             convolve(image, output, algorithm=3)]
if statuses != [2000] * 9:
    sys.exit(f"statuses {statuses}")
good(cuda.cuMemsetD32_v2(address, 0, ctypes.c_size_t(1 << 16)))
good(convolve(image, output))
good(cuda.cuStreamSynchronize(None))
# The workspace is memory that no kernel has written.
fresh = ctypes.c_uint64()
good(cuda.cuMemAlloc_v2(ctypes.byref(fresh), ctypes.c_size_t(1 << 19)))
address = fresh
good(convolve(image, output))
if cuda.cuStreamSynchronize(None) == 0:
    sys.exit("bytes that nothing wrote were read")
