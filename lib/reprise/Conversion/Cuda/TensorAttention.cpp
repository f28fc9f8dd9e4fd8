// reprise: attention on the tensor cores of a GPU: the choice of kernels, and their functions
#include "TensorAttention.h"

#include "AttentionFunctions.h"
#include "LaunchFunctions.h"
#include "OperandAccess.h"
#include "cuda/AttentionShape.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

/// Sums over more columns need too many registers.
constexpr int64_t mostColumns = 128;
/// Sums over the columns of both gradients of a key fit into registers.
constexpr int64_t mostColumnsOfBoth = 64;
/// Rows of a warp.
constexpr int64_t warpRows = 16;
/// Threads of a block of the backward (kernels/cuda/TensorAttentionBackward.cpp).
constexpr int64_t backwardThreads = 128;

enum class Rows { Queries, Keys };

bool hasShortRows(const AttentionSpec &spec) {
  return std::max(spec.depth(), spec.valueDepth()) <= mostColumnsOfBoth;
}

/// Operand of a kernel: its buffer, and its rows.
AttentionOperand describe(const AttentionSpec &spec, unsigned buffer,
                          const AttentionStrides &strides, int64_t rows) {
  int64_t elements = std::max<int64_t>(1, spec.alignment / bytesOf(spec.type));
  int64_t aligned = findCommonPower({strides.batch, strides.head}, elements);
  GlobalMatrix matrix{{{rows, strides.row}}, {{strides.columns, strides.depth}}, aligned};
  bool isPaired =
      strides.depth == 1 && findCommonPower({aligned, strides.row, strides.columns}, 2) == 2;
  return {buffer,
          strides.batch,
          strides.head,
          strides.row,
          strides.depth,
          isPaired,
          matrix.shapeOf(spec.type)};
}

/// Makes the shape of a kernel without its operands and with no results.
AttentionShape makeShape(const AttentionSpec &spec) {
  AttentionShape shape{};
  shape.batch = spec.batch, shape.heads = spec.heads, shape.keyHeads = spec.keyHeads;
  shape.queries = spec.queries, shape.keys = spec.keys;
  shape.isCausal = spec.causal, shape.hasMask = spec.hasMask, shape.isProduct = isProduct(spec);
  shape.draws = spec.draws();
  shape.hasWholeBlocks = spec.draws() && !spec.hasOrigin && spec.globalShape[3] % 4 == 0;
  for (int64_t &result : shape.results)
    result = -1;
  shape.delta = -1;
  return shape;
}

/// Emits a kernel whose warps own rows of one kind, and returns its command without buffers.
EmittedCommand emitKernel(ModuleOp kernels, StringRef name, const AttentionSpec &spec,
                          const AttentionBuffers &buffers, size_t count, const Twine &function,
                          const AttentionShape &shape, Rows rows, int64_t threads, int32_t blocks) {
  ThreadKernel k(kernels, name, count, /*scratchBytes=*/0, threads);
  if (blocks)
    k.setBlocksTogether(blocks);
  addAttentionFunctions(k.module(), spec, buffers);
  int64_t shared =
      attentionLayout(shape.tiles[0]).bytes() + attentionLayout(shape.tiles[1]).bytes();
  callDeviceKernel(k, count, (function + (spec.type.isBF16() ? "_bf16" : "_f16")).str(), shared,
                   numbersOf(shape));
  int64_t heads = spec.batch * (rows == Rows::Queries ? spec.heads : spec.keyHeads);
  int64_t own = rows == Rows::Queries ? spec.queries : spec.keys;
  int64_t ofHead = llvm::divideCeil(own, warpRows * threads / 32);
  EmittedCommand command{name.str(), heads * ofHead, {}};
  command.itemThreads = command.blockThreads = threads;
  return command;
}

/// Emitter of the kernels of a backward, which follow the kernel of delta.
class BackwardEmitter {
public:
  BackwardEmitter(EmittedLaunch &launch, ModuleOp kernels, StringRef name,
                  const AttentionSpec &spec)
      : launch(launch), kernels(kernels), name(name), spec(spec),
        buffers(AttentionBuffers::ofBackward(spec)), slots(buffers.slots(spec)) {
    slots.push_back({BufferSlot::Shared, 0, 0});
  }

  void addQueries() {
    AttentionShape shape = start({0, 3});
    shape.own[0] = describe(spec, AttentionBuffers::query, spec.query, spec.queries);
    shape.own[1] = describe(spec, AttentionBuffers::dout, spec.dout, spec.queries);
    shape.tiles[0] = describe(spec, AttentionBuffers::key, spec.key, spec.keys);
    shape.tiles[1] = describe(spec, AttentionBuffers::value, spec.value, spec.keys);
    add("_queries", "attention_queries", shape, Rows::Queries);
  }
  /// Adds the kernel of these results: of keys, of values, or of both.
  void addKeys(StringRef suffix, ArrayRef<unsigned> results) {
    AttentionShape shape = start(results);
    shape.own[0] = describe(spec, AttentionBuffers::key, spec.key, spec.keys);
    shape.own[1] = describe(spec, AttentionBuffers::value, spec.value, spec.keys);
    shape.tiles[0] = describe(spec, AttentionBuffers::query, spec.query, spec.queries);
    shape.tiles[1] = describe(spec, AttentionBuffers::dout, spec.dout, spec.queries);
    add(suffix, "attention_keys", shape, Rows::Keys);
  }

private:
  AttentionShape start(ArrayRef<unsigned> results) {
    AttentionShape shape = makeShape(spec);
    for (unsigned result : results)
      if (spec.isStored(result))
        shape.results[result] = buffers.output(spec, result);
    shape.delta = static_cast<int64_t>(slots.size()) - 1;
    return shape;
  }
  /// If scores have operands of their own, or rows are long, two blocks fit on a multiprocessor.
  void add(StringRef suffix, StringRef function, const AttentionShape &shape, Rows rows) {
    int32_t blocks = spec.scoreInputs() == 0 && hasShortRows(spec) ? 3 : 2;
    EmittedCommand command = emitKernel(kernels, (name + suffix).str(), spec, buffers, slots.size(),
                                        function, shape, rows, backwardThreads, blocks);
    command.buffers = slots;
    launch.commands.push_back(command);
  }

  EmittedLaunch &launch;
  ModuleOp kernels;
  StringRef name;
  const AttentionSpec &spec;
  AttentionBuffers buffers;
  SmallVector<BufferSlot> slots;
};

} // namespace

bool suitsTensorCores(const AttentionSpec &spec, Contractions contractions) {
  bool isHalf = spec.type.isBF16() || spec.type.isF16();
  return isHalf && contractions != Contractions::Exact &&
         std::max(spec.depth(), spec.valueDepth()) <= mostColumns && spec.queries >= warpRows &&
         spec.keys >= warpRows;
}

EmittedLaunch emitTensorAttention(ModuleOp kernels, StringRef name, const AttentionSpec &spec) {
  AttentionBuffers buffers = AttentionBuffers::ofForward(spec);
  AttentionShape shape = makeShape(spec);
  for (unsigned result : {0, 1})
    if (spec.isStored(result))
      shape.results[result] = buffers.output(spec, result);
  shape.own[0] = describe(spec, AttentionBuffers::query, spec.query, spec.queries);
  shape.tiles[0] = describe(spec, AttentionBuffers::key, spec.key, spec.keys);
  shape.tiles[1] = describe(spec, AttentionBuffers::value, spec.value, spec.keys);
  auto slots = buffers.slots(spec);
  EmittedCommand command = emitKernel(kernels, name, spec, buffers, slots.size(), "attention",
                                      shape, Rows::Queries, blockThreads, /*blocks=*/0);
  command.buffers = slots;
  return {{command}, 0};
}

void addTensorGradients(EmittedLaunch &launch, ModuleOp kernels, StringRef name,
                        const AttentionSpec &spec) {
  BackwardEmitter emitter(launch, kernels, name, spec);
  if (spec.isStored(0) || spec.isStored(3))
    emitter.addQueries();
  bool keys = spec.isStored(1), values = spec.isStored(2);
  if (hasShortRows(spec) && (keys || values))
    return emitter.addKeys("_keys", {1, 2});
  if (keys)
    emitter.addKeys("_keys", {1});
  if (values)
    emitter.addKeys("_values", {2});
}

} // namespace reprise::cuda
