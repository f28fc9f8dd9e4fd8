// reprise: runs kernels of a few lines of PTX
#ifndef REPRISE_TEST_GPU_EMULATOR_TEST_KERNEL_H
#define REPRISE_TEST_GPU_EMULATOR_TEST_KERNEL_H

#include "gpu-emulator/Machine.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace reprise::emulator {

/// Returns PTX of a kernel `k` with `params` parameters of 64 bits, which are %p0, %p1, … as
/// registers. Registers: %r (b32), %d (b64), %h (b16), %f (f32), %g (f64), %q (pred), 40 each; %tid
/// is the number of the thread in the grid.
std::string kernelText(unsigned params, const std::string &body, const std::string &outside = "");

class TestDevice {
public:
  explicit TestDevice(uint64_t capacity = 1 << 26) : memory({capacity}) {}

  /// Memory that nobody has written.
  uint64_t reserve(uint64_t bytes) { return memory.allocate(0, bytes); }
  template <typename T> uint64_t give(const std::vector<T> &values) {
    return giveBytes(values.data(), values.size() * sizeof(T));
  }
  template <typename T> std::vector<T> take(uint64_t address, size_t count) const {
    const T *from = reinterpret_cast<const T *>(address);
    return std::vector<T>(from, from + count);
  }
  /// Runs kernel `k` of the text. A decoding fault has the kind Unsupported.
  FaultReport run(const std::string &ptx, Dim grid, Dim block, std::vector<uint64_t> params,
                  uint32_t dynamicShared = 0);

  Order order = Order::Forwards;
  uint64_t laneSteps = 0;

private:
  uint64_t giveBytes(const void *data, uint64_t bytes);

  Memory memory;
  unsigned launches = 0;
};

/// Runs an instruction on many operands: `text` names %d, and %a, %b, %c for the operands. Operands
/// and results are bits; a width of 1 is a predicate.
std::vector<uint64_t> runInstruction(const std::string &text, unsigned resultBits,
                                     std::vector<unsigned> operandBits,
                                     const std::vector<std::vector<uint64_t>> &operands);

/// Returns random and special bit patterns of a width; another `seed` returns another list of the
/// same length.
std::vector<uint64_t> integerOperands(unsigned bits, unsigned seed);
std::vector<uint64_t> floatOperands(unsigned bits, unsigned seed);
std::vector<uint64_t> bfloatOperands(unsigned seed);

} // namespace reprise::emulator

#endif
