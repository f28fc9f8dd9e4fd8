// reprise: the functions of the CUDA driver, opened when a CUDA device is first requested
#include "CudaDriver.h"

#include <dlfcn.h>
#include <memory>

namespace reprise::runtime::cuda {

Error Driver::check(Status status, const std::string &what) const {
  if (status == 0)
    return Error::success();
  const char *name = nullptr, *text = nullptr;
  getErrorName(status, &name);
  getErrorString(status, &text);
  return Error::make("cannot " + what + ": " + (text ? text : "unknown error") + " (" +
                     (name ? name : std::to_string(status)) + ")");
}

static Expected<const Driver *> open() {
  const char *file = "libcuda.so.1";
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error::make(std::string("no CUDA driver: ") + dlerror());
  static Driver driver;
#define REPRISE_FIND(member, name, parameters)                                                     \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, #name));                \
  if (!driver.member)                                                                              \
    return Error::make(std::string("the CUDA driver is too old: no function ") + #name);
  REPRISE_CUDA_FUNCTIONS(REPRISE_FIND)
#undef REPRISE_FIND
  if (Error error = driver.check(driver.init(0), "initialize CUDA"))
    return error;
  return &driver;
}

Expected<const Driver *> Driver::get() {
  static const Expected<const Driver *> driver = open();
  return driver;
}

} // namespace reprise::runtime::cuda
