// reprise: the commands that a kernel emitter returns for one group of ops
#ifndef REPRISE_TARGET_LAUNCH_H
#define REPRISE_TARGET_LAUNCH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

/// One buffer of a command.
struct BufferSlot {
  /// Input: argument `index` of the group's body. Output: operand `index` of its terminator.
  /// Shared: the launch's shared scratch, aligned to 64 bytes, whose content does not outlive the
  /// launch (`index` is 0). Stream: an i64, number `index` of the launch's `streams`, so that draws
  /// that differ in their streams alone share a kernel.
  enum Kind { Input, Output, Shared, Stream } kind;
  int64_t index;
  /// Bytes from the start of that buffer.
  int64_t offset;
};

/// One kernel over the work items [0, items). All workers finish a command before the next begins.
struct EmittedCommand {
  /// The symbol of the kernel in the module of kernels. Commands may share one.
  std::string kernel;
  int64_t items = 0;
  llvm::SmallVector<BufferSlot> buffers;
  /// Bytes of private scratch that every worker needs, aligned to 64 bytes.
  int64_t workerBytes = 0;
  /// On a GPU: how many threads of a block share an item, and how many a block has.
  int64_t itemThreads = 0, blockThreads = 0;
  /// Bytes that it moves, if it prepares operands for the launch's main command.
  int64_t bytes = 0;
  /// Of a call of a library, which has no kernel: the function, and its numbers
  /// (Support/LibraryCall.h).
  std::string function = {};
  std::vector<int64_t> numbers = {};
};

/// Bytes of scratch: what the commands of a launch share, and what each worker needs for itself.
struct Scratch {
  int64_t shared = 0, worker = 0;
};

/// What a group became. Without commands it has nothing to do: all its results are empty.
struct EmittedLaunch {
  llvm::SmallVector<EmittedCommand> commands;
  /// Bytes of scratch that the launch's commands share.
  int64_t sharedBytes = 0;
  /// Why no library computes the launch although one was asked for; or empty.
  std::string whyOwn = {};

  /// Where so many more bytes of that scratch begin.
  int64_t addShared(int64_t bytes) {
    int64_t begin = static_cast<int64_t>(llvm::alignTo(sharedBytes, 64));
    sharedBytes = begin + bytes;
    return begin;
  }
};

} // namespace reprise

#endif // REPRISE_TARGET_LAUNCH_H
