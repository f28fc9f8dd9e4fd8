// reprise: runs kernels of an image in a test, mapped read-execute as the runtime maps a bundle's
#ifndef REPRISE_TEST_UNIT_CONVERSION_MAPPEDIMAGE_H
#define REPRISE_TEST_UNIT_CONVERSION_MAPPEDIMAGE_H

#include "reprise/Conversion/Cpu/Target.h"

#include <cstring>
#include <sys/mman.h>

namespace reprise::test {

using Kernel = void (*)(void *const *buffers, int64_t begin, int64_t end, void *workspace);

class MappedImage {
public:
  explicit MappedImage(const Image &image) : image(image) {
    base = static_cast<char *>(mmap(nullptr, image.bytes.size(), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(base, image.bytes.data(), image.bytes.size());
    mprotect(base, image.bytes.size(), PROT_READ | PROT_EXEC);
  }
  ~MappedImage() { munmap(base, image.bytes.size()); }
  MappedImage(const MappedImage &) = delete;
  MappedImage &operator=(const MappedImage &) = delete;

  Kernel kernel(const std::string &name) const {
    return reinterpret_cast<Kernel>(base + image.symbols.at(name));
  }

private:
  Image image;
  char *base;
};

/// Returns the targets that this machine can run: v3 always, v4 if the CPU has it.
inline std::vector<CpuTarget> runnableTargets() {
  std::vector<CpuTarget> targets;
  for (const char *name : {"x86-64-v3", "x86-64-v4"}) {
    llvm::Expected<CpuTarget> target = CpuTarget::get(name);
    if (target && target->runsHere())
      targets.push_back(*target);
    llvm::consumeError(target.takeError());
  }
  return targets;
}

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_CONVERSION_MAPPEDIMAGE_H
