// reprise: functions of the host that steps call, as the C API registers them
#include "Handles.h"
#include "Tensor.h"

#include "reprise-c/Reprise.h"
#include "reprise/Runtime/HostCalls.h"

#include <algorithm>

using namespace reprise::capi;
using namespace reprise::runtime;

static std::vector<DLTensor> wrap(const std::vector<HostTensor> &tensors) {
  std::vector<DLTensor> wrapped;
  for (const HostTensor &tensor : tensors) {
    DLTensor own = {};
    own.data = tensor.data;
    own.device = {tensor.gpu < 0 ? kDLCPU : kDLCUDA, std::max(tensor.gpu, 0)};
    own.ndim = static_cast<int32_t>(tensor.shape.size());
    own.dtype = fromDType(tensor.dtype);
    own.shape = const_cast<int64_t *>(tensor.shape.data());
    wrapped.push_back(own);
  }
  return wrapped;
}

static Error callBack(reprise_call_callback callback, void *user, const std::string &callee,
                      const std::vector<HostTensor> &operands,
                      const std::vector<HostTensor> &results) {
  std::vector<DLTensor> given = wrap(operands), made = wrap(results);
  reprise_call call = {sizeof call,  callee.c_str(), given.data(),
                       given.size(), made.data(),    made.size()};
  std::string message(4096, '\0');
  if (callback(user, &call, message.data(), message.size()) == 0)
    return Error::success();
  message.back() = '\0';
  message.resize(std::char_traits<char>::length(message.c_str()));
  return Error::make(message.empty() ? "its callback gave no message" : message);
}

reprise_error *reprise_register_calls(const char *library, reprise_call_callback callback,
                                      void *user) {
  if (reprise_error *error = refuseNull({{"library", library}}))
    return error;
  std::string name = library;
  if (name.empty() || name.find(':') != std::string::npos)
    return makeError("'" + name +
                         "' is no name of a library: names are not empty and contain no ':'",
                     REPRISE_BAD_USAGE);
  HostFunction function;
  if (callback)
    function = [callback, user](const std::string &callee, const std::vector<HostTensor> &operands,
                                const std::vector<HostTensor> &results) {
      return callBack(callback, user, callee, operands, results);
    };
  registerHostCalls(name, std::move(function));
  return nullptr;
}
