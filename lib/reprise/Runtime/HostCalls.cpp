// reprise: functions of the host that the steps of bundles call
#include "reprise/Runtime/HostCalls.h"

#include "reprise/Support/LibraryCall.h"

#include <map>
#include <mutex>

namespace reprise::runtime {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const HostFunction>> libraries;
};

Registry &registry() {
  static Registry all;
  return all;
}

} // namespace

void registerHostCalls(const std::string &library, HostFunction callback) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (callback)
    registry().libraries[library] = std::make_shared<const HostFunction>(std::move(callback));
  else
    registry().libraries.erase(library);
}

/// Returns the callback for a function, or null.
static std::shared_ptr<const HostFunction> findHostCalls(const std::string &callee) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().libraries.find(HostCall::libraryOf(callee));
  return found == registry().libraries.end() ? nullptr : found->second;
}

bool isHostCall(const Command &command) {
  return command.kind == CommandKind::Call && HostCall::isFunction(command.function);
}

Error checkHostCall(const Command &command) {
  if (findHostCalls(command.function))
    return Error::success();
  return Error::make("the step calls '" + command.function + "', but no library '" +
                     HostCall::libraryOf(command.function) +
                     "' is registered in this process: register it with reprise_register_calls");
}

PreparedCall::PreparedCall(const Command &command, int gpu)
    : callee(command.function), function(findHostCalls(command.function)) {
  HostCall described = *HostCall::from(command.numbers);
  for (const HostCall::Tensor &operand : described.operands)
    operands.push_back({nullptr, DType(operand.type), operand.shape, gpu});
  for (const HostCall::Tensor &result : described.results) {
    results.push_back({nullptr, DType(result.type), result.shape, gpu});
    isPresent.push_back(result.isPresent);
  }
}

Error PreparedCall::run(void *const *buffers) const {
  if (!function)
    return Error::make("the library of '" + callee + "' was removed before the step was prepared");
  std::vector<HostTensor> given = operands, made = results;
  for (HostTensor &operand : given)
    operand.data = *buffers++;
  for (size_t i = 0; i < made.size(); ++i)
    if (isPresent[i])
      made[i].data = *buffers++;
  Error error = (*function)(callee, given, made);
  return error ? Error::make("the call of '" + callee + "' failed: " + error.message())
               : Error::success();
}

} // namespace reprise::runtime
