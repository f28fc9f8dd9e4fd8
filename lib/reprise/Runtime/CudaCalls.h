// reprise: the library calls of a program on a GPU
#ifndef REPRISE_LIB_RUNTIME_CUDACALLS_H
#define REPRISE_LIB_RUNTIME_CUDACALLS_H

#include "CudaDriver.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/Tuning.h"

#include <map>

namespace reprise::runtime::cuda {

/// Call with its algorithm, which all commands of one key run.
class CudaCall {
public:
  virtual ~CudaCall() = default;
  /// Adds the call to the stream, which may be captured. `addresses` are those of its operands.
  virtual Error enqueue(const Address *addresses, Stream stream) const = 0;
};

/// A library, opened for one device, that is current.
class CallMaker {
public:
  virtual ~CallMaker() = default;
  /// Makes a call with these numbers. The algorithm is the recorded choice for the key, or the
  /// library's first recommendation, which is then recorded.
  virtual Expected<std::unique_ptr<CudaCall>> make(const std::vector<int64_t> &numbers,
                                                   const std::string &key, const std::string &gpu,
                                                   Tuning &tuning) = 0;
};
/// Open the maker of calls of one library function.
Expected<std::unique_ptr<CallMaker>> openCublasLt(const std::string &function);
Expected<std::unique_ptr<CallMaker>> openCudnn(const std::string &function);

/// Returns whether this build knows the function's library.
bool isKnownCall(const std::string &function);
/// Returns an error if the library of the function is not installed.
Error canCall(const std::string &function);

/// The calls of a device by their keys.
class CudaCalls {
public:
  CudaCalls(const Driver &driver, Number device, int capability);

  Expected<const CudaCall *> find(const Command &command);
  void setTuning(std::shared_ptr<Tuning> given) { tuning = std::move(given); }

private:
  std::string gpu; ///< model, chip and multiprocessors, the key of choices
  std::shared_ptr<Tuning> tuning = std::make_shared<Tuning>();
  std::map<std::string, std::unique_ptr<CallMaker>> makers; ///< makers by function
  std::map<std::string, std::unique_ptr<CudaCall>> calls;   ///< calls by key
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDACALLS_H
