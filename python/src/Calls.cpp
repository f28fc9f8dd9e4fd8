// reprise: the C API in Python: functions of the host that steps call
#include "Core.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>

using namespace reprise_python;

/// Describes tensors as tuples (address, code of the type, bits, shape, number of the GPU or -1);
/// the address is 0 for a result that nothing reads.
static nb::list describe(const DLTensor *tensors, size_t count) {
  nb::list all;
  for (const DLTensor *tensor = tensors; tensor != tensors + count; ++tensor) {
    nb::list shape;
    for (int32_t i = 0; i < tensor->ndim; ++i)
      shape.append(tensor->shape[i]);
    all.append(nb::make_tuple(
        reinterpret_cast<uintptr_t>(tensor->data), int(tensor->dtype.code), int(tensor->dtype.bits),
        nb::tuple(shape), tensor->device.device_type == kDLCUDA ? tensor->device.device_id : -1));
  }
  return all;
}

static int callPython(void *user, const reprise_call *call, char *message, size_t size) {
  nb::gil_scoped_acquire locked;
  auto write = [&](const char *text) {
    size_t length = std::min(std::strlen(text), size - 1);
    std::memcpy(message, text, length);
    message[length] = 0;
    return 1;
  };
  try {
    nb::handle(static_cast<PyObject *>(user))(call->callee,
                                              describe(call->operands, call->num_operands),
                                              describe(call->results, call->num_results));
    return 0;
  } catch (const std::exception &error) {
    return write(error.what());
  }
}

/// Registers a callable. It lives to the end of the process, since runs may still call it.
static void registerCalls(const std::string &library, nb::object callable) {
  bool isRemoved = callable.is_none();
  void *user = isRemoved ? nullptr : callable.release().ptr();
  check(reprise_register_calls(library.c_str(), isRemoved ? nullptr : callPython, user));
}

/// Returns an array on memory of a GPU, which outlives it.
static nb::object wrap(uintptr_t address, int code, int bits, const std::vector<size_t> &shape,
                       int gpu) {
  nb::dlpack::dtype type = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  return nb::cast(nb::ndarray<nb::array_api>(reinterpret_cast<void *>(address), shape.size(),
                                             shape.data(), nb::handle(), nullptr, type, kDLCUDA,
                                             gpu),
                  nb::rv_policy::reference);
}

void reprise_python::bindCalls(nb::module_ &module) {
  module.def("wrap", wrap);
  module.def("register_calls", registerCalls, nb::arg("library"), nb::arg("callable").none());
}
