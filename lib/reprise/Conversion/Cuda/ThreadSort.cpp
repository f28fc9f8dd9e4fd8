// reprise: sorts rows on a GPU
#include "ThreadSort.h"

#include "LaunchFunctions.h"
#include "cuda/SortShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace reprise {

using cuda::SortShape;

//===-- Numbers -------------------------------------------------------------------------------===//

int64_t numberBytes(int64_t count) { return count <= std::numeric_limits<int32_t>::max() ? 4 : 8; }

Type numberType(KernelBuilder &k, int64_t count) {
  return k.b.getIntegerType(numberBytes(count) * 8);
}

Value loadNumber(KernelBuilder &k, int64_t count, Value base, Value index) {
  Value number = emitLoad(k.b, numberType(k, count), base, index);
  Type i64 = k.b.getI64Type();
  return number.getType() == i64 ? number : arith::ExtUIOp::create(k.b, i64, number).getResult();
}

void storeNumber(KernelBuilder &k, int64_t count, Value number, Value base, Value index) {
  Type type = numberType(k, count);
  if (type != number.getType())
    number = arith::TruncIOp::create(k.b, type, number);
  emitStore(k.b, type, number, base, index);
}

//===-- Sort ----------------------------------------------------------------------------------===//

namespace {

/// Limit of rows that one command sorts, by comparing every pair of elements; longer rows begin
/// with short runs. Short runs make later merges cheap.
constexpr int64_t shortRow = 256, shortRun = 32;

/// Adds sort_key() of kernels/cuda/RowSort.cpp.
void addKey(gpu::GPUModuleOp module, const RowSort &sort) {
  Type index = IntegerType::get(module.getContext(), 64);
  Type launch = LLVM::LLVMPointerType::get(module.getContext());
  LaunchFunction k(module, "sort_key", {launch, index}, index);
  Value key = sort.key(k, k.argument(1));
  k.setResult(key.getType() == index ? key : arith::ExtSIOp::create(k.b, index, key).getResult());
}

/// Adds sort_store().
void addStore(gpu::GPUModuleOp module, const RowSort &sort) {
  Type index = IntegerType::get(module.getContext(), 64);
  Type launch = LLVM::LLVMPointerType::get(module.getContext());
  LaunchFunction k(module, "sort_store", {launch, index, index, index});
  sort.store(k, k.argument(1), k.argument(2), k.argument(3));
}

class SortEmitter {
public:
  SortEmitter(ThreadCommands &commands, const RowSort &sort)
      : commands(commands), sort(sort), firstRun(sort.n <= shortRow ? shortRow : shortRun) {}

  void emit() {
    add("sort_runs", firstRun, firstRun, sort.rows * sort.n);
    for (int64_t length = firstRun; length < sort.n; length *= 2) {
      int64_t runs = llvm::divideCeil(sort.n, length), width = std::min(length, sort.kept);
      add("merge_runs", length, 2 * length, sort.rows * runs * width);
    }
  }

private:
  /// Adds a command that makes runs of `made` elements, which the next command reads.
  void add(StringRef function, int64_t length, int64_t made, int64_t items) {
    SmallVector<BufferSlot> buffers = sort.buffers;
    auto numbers = numberBytes(sort.rows * sort.n);
    SortShape shape{blockThreads, items, sort.n, sort.kept, length, numbers, -1, -1};
    std::optional<BufferSlot> read = std::exchange(source, std::nullopt);
    auto push = [&](const BufferSlot &slot) {
      buffers.push_back(slot);
      return static_cast<int64_t>(buffers.size()) - 1;
    };
    if (read)
      shape.source = push(*read);
    bool isLast = made >= sort.n;
    if (!isLast) {
      if (spare.empty())
        spare.push_back(commands.addShared(sort.rows * sort.n * numbers));
      source = spare.pop_back_val();
      shape.target = push(*source);
    }
    if (read)
      spare.push_back(*read);
    commands.addDeviceKernel(buffers, items, function, numbersOf(shape),
                             [&](gpu::GPUModuleOp module) {
                               addKey(module, sort);
                               if (isLast)
                                 addStore(module, sort);
                             });
  }

  ThreadCommands &commands;
  const RowSort &sort;
  int64_t firstRun;
  SmallVector<BufferSlot> spare;
  std::optional<BufferSlot> source;
};

} // namespace

void emitRowSort(ThreadCommands &commands, const RowSort &sort) {
  SortEmitter(commands, sort).emit();
}

void emitKeyBegins(ThreadCommands &commands, const RowSort &sort, int64_t keys,
                   const BufferSlot &sorted, const BufferSlot &begins) {
  SmallVector<BufferSlot> buffers = sort.buffers;
  buffers.append({sorted, begins});
  auto last = static_cast<int64_t>(buffers.size()) - 1;
  int64_t items = sort.rows * keys + 1;
  SortShape shape{blockThreads, items, sort.n, keys, 0, numberBytes(sort.rows * sort.n),
                  last - 1,     last};
  commands.addDeviceKernel(buffers, items, "find_begins", numbersOf(shape),
                           [&](gpu::GPUModuleOp module) { addKey(module, sort); });
}

} // namespace reprise
