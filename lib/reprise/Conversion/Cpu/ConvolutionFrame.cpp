// reprise: emits the copy of an image with a frame of zeros
#include "ConvolutionFrame.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise {
namespace {

/// Runs `body` for pieces of [0, count), in vectors as far as possible.
void forPieces(KernelBuilder &k, int64_t count,
               llvm::function_ref<void(Value at, int64_t width)> body) {
  int64_t done = 0;
  for (int64_t width : {16, 4, 1}) {
    int64_t end = count - (count - done) % width;
    if (end > done)
      forLoop(k, k.i64(done), k.i64(end), k.i64(width), [&](Value at) { body(at, width); });
    done = end;
  }
}

} // namespace

void emitFrame(ModuleOp kernels, StringRef name, Type type, const Frame &frame) {
  KernelBuilder k(kernels, name);
  int64_t lines = frame.lines(), width = frame.width();
  auto clear = [&](Value to, int64_t count) {
    forPieces(k, count, [&](Value at, int64_t lanes) {
      emitStore(k.b, type, emitConstant(k.b, typeOfLanes(type, lanes), 0), to, at);
    });
  };
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value plane) {
    Value from = emitAddress(k.b, type, k.buffer(0), k.mul(plane, frame.size[0] * frame.size[1]));
    Value to = emitAddress(k.b, type, k.buffer(1), k.mul(plane, lines * width));
    clear(to, frame.low[0] * width);
    forLoop(k, k.i64(0), k.i64(frame.size[0]), k.i64(1), [&](Value y) {
      Value source = emitAddress(k.b, type, from, k.mul(y, frame.size[1]));
      Value line = emitAddress(k.b, type, to, k.mul(k.add(y, frame.low[0]), width));
      clear(line, frame.low[1]);
      Value target = emitAddress(k.b, type, line, k.i64(frame.low[1]));
      forPieces(k, frame.size[1], [&](Value at, int64_t lanes) {
        emitStore(k.b, type, emitLoad(k.b, type, source, at, lanes), target, at);
      });
      clear(emitAddress(k.b, type, target, k.i64(frame.size[1])), frame.high[1]);
    });
    Value end = k.i64((frame.low[0] + frame.size[0]) * width);
    clear(emitAddress(k.b, type, to, end), frame.high[0] * width);
  });
}

} // namespace reprise
