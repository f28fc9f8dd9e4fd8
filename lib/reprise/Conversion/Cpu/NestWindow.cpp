// reprise: emits the kernels of a write of a window at a computed position: a copy of the whole,
// and the window
#include "NestAlone.h"

using namespace mlir;

namespace reprise::nests {
namespace {

constexpr int64_t elementsPerItem = 32768;

class WindowEmitter : WindowShape {
public:
  explicit WindowEmitter(const AloneLaunch &alone);
  SmallVector<EmittedCommand> emit();

private:
  EmittedCommand emitCopy(StringRef name);
  EmittedCommand emitWindow(StringRef name);

  const AloneLaunch &alone;
  int64_t width;
};

WindowEmitter::WindowEmitter(const AloneLaunch &alone)
    : WindowShape(cast<DynamicUpdateOp>(alone.op)), alone(alone),
      width(alone.target.lanes(bytesOf(bits))) {}

EmittedCommand WindowEmitter::emitCopy(StringRef name) {
  KernelBuilder k(alone.kernels, name);
  int64_t size = whole.getNumElements();
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value begin = k.mul(item, elementsPerItem);
    Value count = k.min(k.i64(elementsPerItem), k.sub(k.i64(size), begin));
    copyUnlessSame(k, bits, k.buffer(0), k.buffer(3), begin, count, width);
  });
  int64_t items = llvm::divideCeil(size, elementsPerItem);
  return {name.str(), items, {}, 0};
}

EmittedCommand WindowEmitter::emitWindow(StringRef name) {
  KernelBuilder k(alone.kernels, name);
  int64_t runsPerItem = std::clamp<int64_t>(elementsPerItem / run, 1, runs);
  int64_t piece = std::min(run, elementsPerItem), pieces = llvm::divideCeil(run, piece);
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value first = k.mul(k.div(item, pieces), runsPerItem);
    Value last = k.min(k.add(first, runsPerItem), k.i64(runs));
    Value offset = k.mul(k.rem(item, pieces), piece);
    Value count = k.min(k.i64(piece), k.sub(k.i64(run), offset));
    forLoop(k, first, last, k.i64(1), [&](Value number) {
      Value from = k.add(k.mul(number, run), offset), to = k.add(placeOf(k, number), offset);
      forVectors(k, count, width, [&](Value i, int64_t lanes) {
        emitStore(k.b, bits, emitLoad(k.b, bits, k.buffer(1), k.add(from, i), lanes), k.buffer(3),
                  k.add(to, i));
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

AloneCommands emit(DynamicUpdateOp, const AloneLaunch &alone) {
  return WindowEmitter(alone).emit();
}

} // namespace reprise::nests
