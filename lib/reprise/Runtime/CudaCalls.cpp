// reprise: the library calls of a program on a GPU
#include "CudaCalls.h"

#include "CublasLt.h"
#include "Cudnn.h"
#include "reprise/Support/LibraryCall.h"

namespace reprise::runtime::cuda {

bool isKnownCall(const std::string &function) {
  return function == MatrixProduct::function || LibraryConvolution::isFunction(function);
}

Error canCall(const std::string &function) {
  if (LibraryConvolution::isFunction(function)) {
    Expected<const cudnn::Library *> library = cudnn::Library::get();
    return library ? Error::success() : library.error();
  }
  Expected<const cublaslt::Library *> library = cublaslt::Library::get();
  return library ? Error::success() : library.error();
}

CudaCalls::CudaCalls(const Driver &driver, Number device, int capability) {
  char model[256] = "";
  int processors = 0;
  driver.getName(model, sizeof model, device);
  driver.getAttribute(&processors, attributeProcessors, device);
  gpu = std::string(model) + ", sm_" + std::to_string(capability) + ", " +
        std::to_string(processors) + " multiprocessors";
}

Expected<const CudaCall *> CudaCalls::find(const Command &command) {
  std::string key = callKey(command);
  std::unique_ptr<CudaCall> &call = calls[key];
  if (call)
    return call.get();
  std::unique_ptr<CallMaker> &maker = makers[command.function];
  if (!maker) {
    Expected<std::unique_ptr<CallMaker>> opened = LibraryConvolution::isFunction(command.function)
                                                      ? openCudnn(command.function)
                                                      : openCublasLt(command.function);
    if (!opened)
      return opened.error();
    maker = std::move(*opened);
  }
  Expected<std::unique_ptr<CudaCall>> made = maker->make(command.numbers, key, gpu, *tuning);
  if (!made)
    return made.error();
  call = std::move(*made);
  return call.get();
}

} // namespace reprise::runtime::cuda
