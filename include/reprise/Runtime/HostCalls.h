// reprise: functions of the host that the steps of bundles call
#ifndef REPRISE_RUNTIME_HOSTCALLS_H
#define REPRISE_RUNTIME_HOSTCALLS_H

#include "reprise/Runtime/Bundle.h"

#include <functional>
#include <memory>

namespace reprise::runtime {

/// Dense row-major tensor in memory of the device that runs the step. `data` is null for a result
/// that nothing reads, and may be null for a tensor without elements.
struct HostTensor {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  int gpu = -1; ///< number of the GPU; -1 for a CPU
};

/// Callback of a library: computes the results of the function `callee` from its operands, which it
/// must not write. It runs in the thread that runs the step, one call at a time per run. For a GPU
/// it enqueues its work on the stream that the caller has lent.
using HostFunction =
    std::function<Error(const std::string &callee, const std::vector<HostTensor> &operands,
                        const std::vector<HostTensor> &results)>;

/// Registers the callback for all functions `library:…` of this process; an empty callback removes
/// the library. Programs that are prepared already keep the callback that they found.
void registerHostCalls(const std::string &library, HostFunction callback);

/// Returns true for a call of a function of the host.
bool isHostCall(const Command &command);
/// Returns an error if no library is registered for the function of a call.
Error checkHostCall(const Command &command);

/// Call of a valid command, with the callback that is registered when it is prepared.
class PreparedCall {
public:
  explicit PreparedCall(const Command &command, int gpu = -1);
  /// Calls the function on the buffers of the command.
  Error run(void *const *buffers) const;

private:
  std::string callee;
  std::shared_ptr<const HostFunction> function;
  std::vector<HostTensor> operands, results; ///< without addresses
  std::vector<bool> isPresent;               ///< flag per result
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_HOSTCALLS_H
