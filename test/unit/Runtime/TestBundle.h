// reprise: a small training bundle made by hand, for the runtime's tests
#ifndef REPRISE_TEST_RUNTIME_TESTBUNDLE_H
#define REPRISE_TEST_RUNTIME_TESTBUNDLE_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime::test {

/// Numbers of the kernels in every bundle here. The first operand named is operand 0; all f32
/// unless said otherwise; i is the item.
enum TestKernel : uint32_t {
  Add,       ///< (a, b, out): out[i] = a[i] + b[i]
  Half,      ///< (a, out): out[i] = a[i] · 0.5
  Fill,      ///< (n: i64 scalar, out): out[i] = f32(100 · n + i)
  Advance,   ///< (offset: i64, next: i64): next[i] = offset[i] + 8
  Scratch,   ///< (out: i64): out[i] = i, by way of the worker's workspace
  Gather,    ///< (table, indices: i64, out): out[i] = table[indices[i]], nothing is clamped
  Increment, ///< (a: i64): a[i] += 1
  Control,   ///< (out: i64): out[i] = MXCSR
  numTestKernels
};

/// Makes an image with all test kernels, without commands.
Bundle emptyBundle();

BufferRef arena(uint64_t offset, uint64_t bytes);
BufferRef argument(uint32_t index, uint64_t bytes);

Command command(TestKernel kernel, int64_t items, std::vector<BufferRef> reads,
                std::vector<BufferRef> writes);
Command copy(BufferRef from, BufferRef to);
Command repeat(int64_t times, uint32_t body);
Command send(BufferRef from, const std::string &peer, uint32_t tag, uint32_t event);
Command receive(BufferRef into, const std::string &peer, uint32_t tag, uint32_t event);
Command record(uint32_t event, uint32_t stream = 0);
Command waitFor(uint32_t event, uint32_t stream = 0);
/// Makes a call of fakeDouble(from, to, workspace), of the library of the fake device.
Command callDouble(BufferRef from, BufferRef to, BufferRef workspace, uint32_t stream = 0);

/// Makes a bundle with arguments w (parameter), x (input), seed, offset, step; w and x have `n`
/// elements. A step computes sum = w + x; w' = sum · 0.5 in place; loss = w'[0] · 0.5; offset' =
/// offset + 8, by way of the arena. init_parameters computes w[i] = 100 · seed + i, init_inputs
/// x[i] = 100 · step + i. Results: loss, w, sum, offset.
Bundle trainingBundle(int64_t n);
/// Makes trainingBundle on two devices: "second" computes the halves. "first" sends the sum with
/// tag 1, and receives the next w in its place with tag 2.
Bundle twoDeviceBundle(int64_t n);
/// Makes trainingBundle with steps each of which needs two thirds of the machine's memory.
Bundle tooLargeBundle(int64_t n);

/// Makes a bundle with a parameter w of 3 rows of `n` elements, which a step halves: on one device,
/// or with row 0 on "first" and rows 1 and 2 on "second". w is the only result. It has no
/// initializer.
Bundle stackBundle(int64_t n);
Bundle sharedStackBundle(int64_t n);

/// Folder that is removed with its content.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Returns the names in the folder, sorted.
  std::vector<std::string> entries() const;
  std::string path;
};

std::string contents(const std::string &path);

} // namespace reprise::runtime::test

#endif // REPRISE_TEST_RUNTIME_TESTBUNDLE_H
