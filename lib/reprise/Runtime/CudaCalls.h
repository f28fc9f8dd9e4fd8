// reprise: the library calls of a program on a GPU
#ifndef REPRISE_LIB_RUNTIME_CUDACALLS_H
#define REPRISE_LIB_RUNTIME_CUDACALLS_H

#include "CudaDriver.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/Tuning.h"

#include <map>

namespace reprise::runtime::cuda {

/// A call with its algorithm, which is what all commands of one key run.
class CudaCall {
public:
  virtual ~CudaCall() = default;
  /// Gives it to the stream, which may be captured. `addresses` are those of its operands.
  virtual Error enqueue(const Address *addresses, Stream stream) const = 0;
};

/// A library, opened for one device, that is current.
class CallMaker {
public:
  virtual ~CallMaker() = default;
  /// A call of these numbers. The algorithm is the one that the choices name for the key, or the
  /// first that the library recommends, which is added to them.
  virtual Expected<std::unique_ptr<CudaCall>> make(const std::vector<int64_t> &numbers,
                                                   const std::string &key, const std::string &gpu,
                                                   Tuning &tuning) = 0;
};
/// For the calls of one of the library's functions.
Expected<std::unique_ptr<CallMaker>> openCublasLt(const std::string &function);
Expected<std::unique_ptr<CallMaker>> openCudnn(const std::string &function);

/// Whether it is a function of a library that is known here.
bool isKnownCall(const std::string &function);
/// An error if the library of such a function is not there.
Error canCall(const std::string &function);

/// The calls of a device by their keys.
class CudaCalls {
public:
  CudaCalls(const Driver &driver, Number device, int capability);

  Expected<const CudaCall *> find(const Command &command);
  void setTuning(std::shared_ptr<Tuning> given) { tuning = std::move(given); }

private:
  std::string gpu; ///< whose choices are whose: model, chip and multiprocessors
  std::shared_ptr<Tuning> tuning = std::make_shared<Tuning>();
  std::map<std::string, std::unique_ptr<CallMaker>> makers; ///< by function
  std::map<std::string, std::unique_ptr<CudaCall>> calls;   ///< by key
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDACALLS_H
