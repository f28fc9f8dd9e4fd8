// reprise: ops behind a contraction on a GPU, applied to elements in registers
#include "TileEpilogue.h"

#include "ThreadSchedule.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

using namespace nests;

/// Number of the kernel's buffers before those of the ops.
constexpr unsigned operandCount = 2;

size_t countBuffers(const TileEpilogue *epilogue) {
  return operandCount + (epilogue ? epilogue->buffers().size() : 1);
}

std::optional<TileEpilogue> TileEpilogue::get(Block &body, Operation *contraction,
                                              const ContractionSpec &spec,
                                              const ResultStrides &result) {
  Shape shape;
  auto sizesOf = [](const auto &dims) {
    return llvm::map_to_vector(dims, [](const auto &dim) { return dim.size; });
  };
  shape.addDims(&Shape::outer, sizesOf(spec.batch), result.batch);
  shape.addDims(&Shape::rows, sizesOf(spec.rows), result.rows);
  shape.addDims(&Shape::columns, sizesOf(spec.columns), result.columns);
  std::optional<TileNest> nest = TileNest::get(body, contraction, shape);
  return nest ? std::optional(TileEpilogue(*std::move(nest))) : std::nullopt;
}

TileEpilogue::TileEpilogue(TileNest given)
    : nest(std::move(given)), schedule(makeTileSchedule(nest.nest)) {}

bool TileEpilogue::isNear() const { return nest.elements < int64_t(1) << 30; }

EpilogueEmitter::EpilogueEmitter(ThreadKernel &k, const TileEpilogue &epilogue, TileOrigin origin)
    : k(k), epilogue(epilogue), origin(origin),
      evaluator(k, epilogue.nest.nest, epilogue.schedule) {
  evaluator.firstBuffer = operandCount;
  evaluator.tile = [this](Scope &) { return element; };
}

void EpilogueEmitter::begin() {
  for (Value element : epilogue.schedule.kernelNodes)
    evaluator.value(element, kernel);
}

Scope EpilogueEmitter::enterRow(Value batch, Value row) {
  Scope scope = kernel.inner();
  evaluator.bindRow(scope, batch, k.add(row, origin.row));
  for (Value element : epilogue.schedule.passes.front().rowNodes)
    evaluator.value(element, scope);
  return scope;
}

void EpilogueEmitter::compute(Scope &row, Value column, ValueRange sums) {
  Scope scope = row.inner();
  scope.width = static_cast<int64_t>(sums.size());
  evaluator.bindColumn(scope, k.add(column, origin.column));
  element = sums.front();
  if (scope.width > 1)
    element = vector::FromElementsOp::create(
        k.b, cast<VectorType>(typeOfLanes(element.getType(), scope.width)), sums);
  SmallVector<Value> results;
  for (StoreOp root : epilogue.nest.nest.roots)
    results.push_back(evaluator.value(root.getElement(), scope));
  computed.emplace_back(std::move(scope), std::move(results));
}

void EpilogueEmitter::flush() {
  const Nest &nest = epilogue.nest.nest;
  for (auto &[scope, results] : computed)
    for (auto [root, value] : llvm::zip_equal(nest.roots, results))
      evaluator.store(root, nest.position(), value, scope);
  computed.clear();
}

} // namespace reprise
