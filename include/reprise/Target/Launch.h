// reprise: the commands that a kernel emitter returns for one group of ops
#ifndef REPRISE_TARGET_LAUNCH_H
#define REPRISE_TARGET_LAUNCH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

/// Buffer of a command.
struct BufferSlot {
  /// Kind of buffer. Input: argument `index` of the group's body. Output: operand `index` of its
  /// terminator. Shared: the launch's shared scratch, aligned to 64 bytes, whose content does not
  /// outlive the launch (`index` is 0). Stream: an i64, number `index` of the launch's `streams`,
  /// so that draws that differ only in their streams share a kernel.
  enum Kind { Input, Output, Shared, Stream } kind;
  int64_t index;
  /// Bytes from the start of the buffer.
  int64_t offset;
};

/// Kernel that a command has on a chip, and on later chips up to the next one that has its own. The
/// buffers and the items of the command are the same on every chip.
struct ChipKernel {
  std::string chip, kernel;
  int64_t itemThreads, blockThreads;
};

/// Kernel over the work items [0, items). All workers finish a command before the next command
/// begins.
struct EmittedCommand {
  /// Symbol of the kernel in the module of kernels. Commands may share a kernel.
  std::string kernel;
  int64_t items = 0;
  llvm::SmallVector<BufferSlot> buffers;
  /// Bytes of private scratch that every worker needs, aligned to 64 bytes.
  int64_t workerBytes = 0;
  /// GPU: threads that share an item, and threads per block.
  int64_t itemThreads = 0, blockThreads = 0;
  /// GPU: kernels of chips behind the first one, later chips last, if they differ.
  std::vector<ChipKernel> chips = {};
  /// Bytes moved by a command that prepares operands for the launch's main command.
  int64_t bytes = 0;
  /// Library call, which has no kernel: the function, and its numbers (Support/LibraryCall.h).
  std::string function = {};
  std::vector<int64_t> numbers = {};
};

/// Bytes of scratch: shared by the commands of a launch, and private per worker.
struct Scratch {
  int64_t shared = 0, worker = 0;
};

/// Commands for a group. No commands mean no work: all results are empty.
struct EmittedLaunch {
  llvm::SmallVector<EmittedCommand> commands;
  /// Bytes of scratch that the launch's commands share.
  int64_t sharedBytes = 0;
  /// Reason why no library computes the launch although a library was requested; may be empty.
  std::string whyOwn = {};

  /// Appends `bytes` bytes to the shared scratch and returns their offset.
  int64_t addShared(int64_t bytes) {
    int64_t begin = static_cast<int64_t>(llvm::alignTo(sharedBytes, 64));
    sharedBytes = begin + bytes;
    return begin;
  }
};

} // namespace reprise

#endif // REPRISE_TARGET_LAUNCH_H
