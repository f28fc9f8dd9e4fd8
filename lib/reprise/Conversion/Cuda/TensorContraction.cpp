// reprise: contractions on the tensor cores of a GPU: the choice of a kernel, and its functions
#include "TensorContraction.h"

#include "ContractionIndex.h"
#include "LaunchFunctions.h"
#include "OperandAccess.h"
#include "ResultTile.h"
#include "cuda/ContractionShape.h"

using namespace mlir;

namespace reprise {
namespace {

using cuda::ContractionShape;
using cuda::WarpGrid;

/// The least that a warp has of each side.
constexpr int64_t leastSide = 16;

bool isWide(TileExtents extents, int64_t warps) {
  return WarpGrid(extents.rows, extents.columns, warps).isWide();
}

TileExtents chooseExtents(const ContractionSpec &spec, int64_t warps) {
  TileExtents extents = TileExtents::largest(spec, 128);
  if (!isWide(extents, warps))
    extents.columns = 64;
  extents.spread(spec, [&](TileExtents now) {
    (now.rows >= now.columns ? now.rows : now.columns) /= 2;
    return isWide(now, warps);
  });
  return extents;
}

GlobalMatrix matrixOf(const ContractionSpec &spec, bool isLhs, int64_t alignment) {
  SmallVector<int64_t> free, shared, batch;
  for (const FreeDim &dim : isLhs ? spec.rows : spec.columns)
    free.push_back(dim.stride);
  for (const SharedDim &dim : spec.contracted)
    shared.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t offset = isLhs ? spec.lhsOffset : spec.rhsOffset;
  SmallVector<int64_t> starts = {offset};
  for (const SharedDim &dim : spec.batch)
    starts.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t elements = std::max<int64_t>(1, alignment / bytesOf(spec.lhsType));
  return {mergeDims(isLhs ? spec.rows : spec.columns, free), mergeDims(spec.contracted, shared),
          findCommonPower(starts, elements)};
}

/// Emitter of the functions that kernels/cuda/ContractionLaunch.h declares.
class Functions {
public:
  Functions(gpu::GPUModuleOp module, const ContractionSpec &spec)
      : module(module), spec(spec), index(IntegerType::get(module.getContext(), 64)),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void addOperand(bool isLhs, const GlobalMatrix &matrix) {
    std::string name = isLhs ? "lhs" : "rhs";
    LaunchFunction first(module, name + "_batch", {pointer, index}, bufferType());
    Value begin = locate(first, spec.batch, first.argument(1), isLhs ? strideOfLhs : strideOfRhs);
    begin = first.add(begin, isLhs ? spec.lhsOffset : spec.rhsOffset);
    first.setResult(emitAddress(first.b, spec.lhsType, first.buffer(isLhs ? 0 : 1), begin));
    LaunchFunction place(module, name + "_place", {index, index}, index);
    place.setResult(place.add(locate(place, matrix.rows, place.argument(0), strideOf),
                              locate(place, matrix.terms, place.argument(1), strideOf)));
  }

  /// Adds store_row(), and returns the neighbours that it gets together.
  int64_t addStores(const ResultStrides &result, TileExtents extents, int64_t columnsOfWarp,
                    const TileEpilogue *epilogue) {
    LaunchFunction k(module, "store_row", {pointer, pointer, index, index, pointer});
    ResultTile tile(k, spec, result, extents, epilogue);
    int64_t width = tile.wantsNeighbours(4) ? 4 : 2;
    tile.place(k.argument(1));
    tile.beginStores();
    tile.storeRow(k.argument(2), 0, [&](ResultTile::Line line) {
      for (int64_t group = 0; group < columnsOfWarp / groupColumns; ++group) {
        SmallVector<Value> values;
        for (int64_t i = 0; i < width; ++i)
          values.push_back(
              emitLoad(k.b, spec.accumulatorType(), k.argument(4), k.i64(group * width + i)));
        tile.storeColumns(line, k.argument(3), group * groupColumns, values);
      }
    });
    return width;
  }

private:
  static constexpr int64_t groupColumns = 8;

  Type bufferType() { return LLVM::LLVMPointerType::get(module.getContext(), globalMemory); }

  gpu::GPUModuleOp module;
  const ContractionSpec &spec;
  Type index, pointer;
};

StringRef nameOf(Type type) { return type.isBF16() ? "bf16" : type.isF16() ? "f16" : "tf32"; }

} // namespace

bool suitsTensorCores(const ContractionSpec &spec, Contractions contractions) {
  bool isHalf = spec.lhsType.isBF16() || spec.lhsType.isF16();
  bool isChosen = isHalf ? contractions != Contractions::Exact
                         : spec.lhsType.isF32() && contractions == Contractions::Tf32;
  return isChosen && spec.lhsType == spec.rhsType && countOf(spec.rows) >= leastSide &&
         countOf(spec.columns) >= leastSide && countOf(spec.contracted) >= leastSide;
}

bool isCopiedByThreads(const ContractionSpec &spec, bool isLhs) {
  return matrixOf(spec, isLhs, widestAccess).isCopied(spec.lhsType);
}

EmittedCommand emitTensorContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec,
                                     const ResultStrides &result, int64_t lhsAlignment,
                                     int64_t rhsAlignment, const TileEpilogue *epilogue) {
  GlobalMatrix lhs = matrixOf(spec, true, lhsAlignment), rhs = matrixOf(spec, false, rhsAlignment);
  Type type = spec.lhsType;
  bool isCopied = !type.isF32() && lhs.isCopied(type) && rhs.isCopied(type);
  int64_t warps = isCopied ? 4 : 8, bytes = bytesOf(type);
  TileExtents extents = chooseExtents(spec, warps);
  ThreadKernel k(kernels, name, countBuffers(epilogue), /*scratchBytes=*/0, warps * 32);
  // The elements that wait for a stage would otherwise leave registers for one block only.
  if (warps == 8 && extents.rows * extents.columns == 128 * 128)
    k.setBlocksTogether(2);
  Functions functions(k.module(), spec);
  functions.addOperand(true, lhs);
  functions.addOperand(false, rhs);
  WarpGrid grid(extents.rows, extents.columns, warps);
  ContractionShape shape{lhs.shapeOf(type), rhs.shapeOf(type),
                         functions.addStores(result, extents, grid.columns, epilogue)};
  int64_t shared = layoutOf(shape.lhs, extents.rows, bytes).bytes() +
                   layoutOf(shape.rhs, extents.columns, bytes).bytes();
  std::string function = llvm::formatv("tensor_contraction_{0}_{1}x{2}_{3}", nameOf(type),
                                       extents.rows, extents.columns, warps);
  callDeviceKernel(k, countBuffers(epilogue), function, shared, numbersOf(shape));
  EmittedCommand command{name.str(), extents.count(spec), {}};
  command.itemThreads = command.blockThreads = warps * 32;
  return command;
}

} // namespace reprise
