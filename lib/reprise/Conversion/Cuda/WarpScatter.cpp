// reprise: sums of many short scatters on a GPU: a warp adds a table's updates in index order
#include "../LoopNest/AloneOps.h"
#include "LaunchFunctions.h"
#include "ThreadAlone.h"
#include "cuda/ScatterShape.h"

using namespace mlir;

namespace reprise {

using namespace nests;

// Fewer warps leave most of a GPU idle; more updates one after the other take longer than a sort.
static constexpr int64_t kLeastTables = 512, kMostUpdates = 1 << 15, kWarp = 32;

namespace {

class WarpScatter : public ScatterShape {
public:
  explicit WarpScatter(AloneOp nest) : ScatterShape(nest.getOp()) {}

  /// Returns whether there are many tables of single elements in the type of arithmetic, with few
  /// updates each.
  bool fits() const {
    return !replaces && columns == 1 && type == compute && batches >= kLeastTables && updates > 0 &&
           updates <= kMostUpdates && rows < INT32_MAX;
  }

  void clear(KernelBuilder &k, Value item) const {
    int64_t lanes = vectorLanes(batches * rows);
    Value zero = emitConstant(k.b, typeOfLanes(type, lanes), 0);
    emitStore(k.b, type, zero, k.buffer(0), k.mul(item, lanes), lanes);
  }

  StringRef kernel() const { return type.isF64() ? "warp_scatter_f64" : "warp_scatter_f32"; }
  cuda::WarpScatterShape shape() const {
    return {blockThreads, batches, rows, updates, updateBuffer(), resultBuffer()};
  }
  void addPosition(gpu::GPUModuleOp module) const {
    Type index = IntegerType::get(module.getContext(), 64);
    Type launch = LLVM::LLVMPointerType::get(module.getContext());
    LaunchFunction k(module, "scatter_position", {launch, index}, index);
    k.setResult(loadPosition(k, indexType, k.buffer(indexBuffer()), k.argument(1), rows));
  }
};

} // namespace

bool emitWarpScatter(ThreadCommands &commands, AloneOp nest) {
  WarpScatter scatter(nest);
  if (!scatter.fits())
    return false;
  int64_t elements = scatter.batches * scatter.rows;
  commands.add({nest.getBuffers()[scatter.resultBuffer()]}, elements / vectorLanes(elements),
               [&](KernelBuilder &k, Value item) { scatter.clear(k, item); });
  commands.addDeviceKernel(nest.getBuffers(), scatter.batches * kWarp, scatter.kernel(),
                           numbersOf(scatter.shape()),
                           [&](gpu::GPUModuleOp module) { scatter.addPosition(module); });
  return true;
}

} // namespace reprise
