// reprise: ops behind a contraction on a GPU, applied to elements in registers
#ifndef REPRISE_CONVERSION_CUDA_TILEEPILOGUE_H
#define REPRISE_CONVERSION_CUDA_TILEEPILOGUE_H

#include "../LoopNest/Evaluator.h"
#include "../LoopNest/TileNest.h"
#include "ThreadKernel.h"
#include "reprise/Conversion/ContractionSpec.h"

namespace reprise {

/// Ops of a launch on the elements of its contraction, with the dimensions of its kernels.
class TileEpilogue {
public:
  /// Returns the epilogue; none if no nest over these dimensions, in their order, computes the ops
  /// other than `contraction`.
  static std::optional<TileEpilogue> get(mlir::Block &body, mlir::Operation *contraction,
                                         const ContractionSpec &spec, const ResultStrides &result);

  /// The kernel's buffers behind the two operands, in the place of the contraction's result.
  llvm::ArrayRef<BufferSlot> buffers() const { return nest.nest.buffers; }
  /// Tells whether 32 bits are enough for all places.
  bool isNear() const;

private:
  friend class EpilogueEmitter;
  TileEpilogue(nests::TileNest nest);

  nests::TileNest nest;
  nests::Schedule schedule;
};

/// Returns the number of buffers of the kernel: two operands, and the result or the epilogue's
/// buffers.
size_t countBuffers(const TileEpilogue *epilogue);

/// The first row and the first column of a part of a result.
struct TileOrigin {
  int64_t row = 0, column = 0;
};

/// Emitter of the ops in one kernel, for the part of the result that begins at `origin`.
class EpilogueEmitter {
public:
  using Value = mlir::Value;

  EpilogueEmitter(ThreadKernel &k, const TileEpilogue &epilogue, TileOrigin origin = {});

  /// Neighbours in a row that are best at hand at once: four or one.
  int64_t width() const { return epilogue.schedule.width; }
  /// Computes values that all elements share, before the first row.
  void begin();
  /// Enters a row; the numbers are relative to the part.
  nests::Scope enterRow(Value batch, Value row);
  /// Computes the results of `width()` elements in a row, or of one, from these sums of the
  /// contraction; flush() stores them. Loads of shared values are thereby in flight together.
  void compute(nests::Scope &row, Value column, mlir::ValueRange sums);
  void flush();

private:
  ThreadKernel &k;
  const TileEpilogue &epilogue;
  TileOrigin origin;
  nests::Evaluator evaluator;
  nests::Scope kernel;
  Value element;
  /// Results, one per root, with their place.
  std::vector<std::pair<nests::Scope, llvm::SmallVector<Value>>> computed;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEEPILOGUE_H
