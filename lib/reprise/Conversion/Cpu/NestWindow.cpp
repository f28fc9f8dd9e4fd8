// reprise: emits the kernels of a write of a window at a computed position: a copy of the whole,
// and the window
#include "NestAlone.h"

#include "../LoopNest/Affine.h"

using namespace mlir;

namespace reprise::nests {
namespace {

constexpr int64_t elementsPerItem = 32768;

class WindowEmitter {
public:
  explicit WindowEmitter(const AloneOp &alone);
  SmallVector<EmittedCommand> emit();

private:
  EmittedCommand emitCopy(StringRef name);
  EmittedCommand emitWindow(StringRef name);
  /// The first element of a run in the whole.
  Value placeOf(KernelBuilder &k, Value run);

  const AloneOp &alone;
  RankedTensorType whole, window;
  Type bits, startType;
  int64_t width;
  /// The last dimension along which the window may not be the whole: what follows lies together.
  int64_t lastCut = 0;
  /// Elements that lie together, and how often.
  int64_t run = 1, runs = 1;
};

WindowEmitter::WindowEmitter(const AloneOp &alone) : alone(alone) {
  auto op = cast<DynamicUpdateOp>(alone.op);
  whole = op.getType();
  window = op.getUpdate().getType();
  bits = bitsTypeOf(whole.getElementType());
  startType = op.getStarts().getType().getElementType();
  width = alone.target.lanes(KernelBuilder::bytesOf(bits));
  for (int64_t d = 0; d < whole.getRank(); ++d)
    if (window.getDimSize(d) != whole.getDimSize(d))
      lastCut = d;
  for (int64_t d = 0; d < whole.getRank(); ++d)
    (d < lastCut ? runs : run) *= window.getDimSize(d);
}

EmittedCommand WindowEmitter::emitCopy(StringRef name) {
  KernelBuilder k(alone.kernels, name);
  int64_t size = whole.getNumElements();
  k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value begin = k.mul(item, elementsPerItem);
    Value count = k.min(k.i64(elementsPerItem), k.sub(k.i64(size), begin));
    copyUnlessSame(k, bits, k.buffer(0), k.buffer(3), begin, count, width);
  });
  int64_t items = llvm::divideCeil(size, elementsPerItem);
  return {name.str(), items, {}, 0};
}

Value WindowEmitter::placeOf(KernelBuilder &k, Value run) {
  Value place = k.i64(0);
  SmallVector<int64_t> strides = rowMajorStrides(whole.getShape());
  SmallVector<int64_t> inRuns = rowMajorStrides(window.getShape().take_front(lastCut));
  for (int64_t d = 0; d < whole.getRank() && d <= lastCut; ++d) {
    Value index = loadPosition(k, startType, k.buffer(2), k.i64(d),
                               whole.getDimSize(d) - window.getDimSize(d) + 1);
    if (d < lastCut)
      index = k.add(index, k.rem(k.div(run, inRuns[d]), window.getDimSize(d)));
    place = k.add(place, k.mul(index, strides[d]));
  }
  return place;
}

EmittedCommand WindowEmitter::emitWindow(StringRef name) {
  KernelBuilder k(alone.kernels, name);
  int64_t runsPerItem = std::clamp<int64_t>(elementsPerItem / run, 1, runs);
  int64_t piece = std::min(run, elementsPerItem), pieces = llvm::divideCeil(run, piece);
  k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value first = k.mul(k.div(item, pieces), runsPerItem);
    Value last = k.min(k.add(first, runsPerItem), k.i64(runs));
    Value offset = k.mul(k.rem(item, pieces), piece);
    Value count = k.min(k.i64(piece), k.sub(k.i64(run), offset));
    k.forLoop(first, last, k.i64(1), [&](Value number) {
      Value from = k.add(k.mul(number, run), offset), to = k.add(placeOf(k, number), offset);
      forVectors(k, count, width, [&](Value i, int64_t lanes) {
        k.store(bits, k.load(bits, k.buffer(1), k.add(from, i), lanes), k.buffer(3), k.add(to, i));
      });
    });
  });
  int64_t items = llvm::divideCeil(runs, runsPerItem) * pieces;
  return {name.str(), items, {}, 0};
}

SmallVector<EmittedCommand> WindowEmitter::emit() {
  SmallVector<EmittedCommand> commands = {emitCopy(alone.name)};
  if (window.getNumElements() != 0)
    commands.push_back(emitWindow((alone.name + ".window").str()));
  return commands;
}

} // namespace

SmallVector<EmittedCommand> emitWindowUpdate(const AloneOp &alone) {
  return WindowEmitter(alone).emit();
}

} // namespace reprise::nests
