// reprise: copies of images for the tensor cores of a GPU, with a frame of zeros and channels last
//
// Positions are neighbours in the image, channels in the copy. A block brings 64 channels of 32
// positions through shared memory, so that it reads and writes neighbours.
#include "ChannelsLast.h"

#include "ThreadKernel.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

constexpr int64_t tileChannels = 64, tilePositions = 32, together = 8;
/// A word more than the channels: positions of a warp lie in different banks.
constexpr int64_t pitch = tileChannels + 2;
static_assert(tileChannels * tilePositions == together * blockThreads);

class Emitter {
public:
  Emitter(ThreadKernel &k, RankedTensorType type, ArrayRef<int64_t> strides, const Frame &frame)
      : k(k), b(k.b), type(type.getElementType()), channels(type.getDimSize(1)),
        positions(frame.lines() * frame.width()), frame(frame), strides(strides) {}

  int64_t blocks(int64_t samples) const {
    return samples * llvm::divideCeil(positions, tilePositions) *
           llvm::divideCeil(channels, tileChannels);
  }

  void emit() {
    int64_t across = llvm::divideCeil(positions, tilePositions),
            down = llvm::divideCeil(channels, tileChannels);
    Value block = k.blockNumber(), perSample = k.rem(block, across * down);
    sample = k.div(block, across * down);
    firstPosition = k.mul(k.rem(perSample, across), tilePositions);
    firstChannel = k.mul(k.div(perSample, across), tileChannels);
    memory = k.shared(tilePositions * pitch * bytesOf(type));
    read();
    k.barrier();
    write();
  }

private:
  Value less(Value x, int64_t limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, k.i64(limit));
  }

  /// A warp has neighbouring positions, a thread every eighth channel.
  void read() {
    Value own = k.numberInBlock(), inTile = k.rem(own, tilePositions);
    Value position = k.add(firstPosition, inTile);
    Value y = k.sub(k.div(position, frame.width()), k.i64(frame.low[0]));
    Value x = k.sub(k.rem(position, frame.width()), k.i64(frame.low[1]));
    Value isInside = arith::AndIOp::create(b, less(y, frame.size[0]), less(x, frame.size[1]));
    Value start = k.mul(sample, strides[0]);
    start = k.add(start, k.mul(x, strides.back()));
    if (strides.size() == 4)
      start = k.add(start, k.mul(y, strides[2]));
    SmallVector<Value> places, values;
    for (int64_t i = 0; i < tileChannels; i += blockThreads / tilePositions) {
      places.push_back(k.add(k.div(own, tilePositions), i));
      Value channel = k.add(firstChannel, places.back());
      Value isThere = arith::AndIOp::create(b, isInside, less(channel, channels));
      Value from = k.add(start, k.mul(channel, strides[1]));
      from = arith::SelectOp::create(b, isThere, from, k.i64(0));
      values.push_back(arith::SelectOp::create(b, isThere, emitLoad(b, type, k.buffer(0), from),
                                               emitConstant(b, type, 0)));
    }
    for (auto [place, value] : llvm::zip_equal(places, values))
      emitStore(b, type, value, memory, k.add(k.mul(inTile, pitch), place));
  }

  /// Writes eight channels of a position, all of which exist or none.
  void write() {
    int64_t perPosition = tileChannels / together;
    Value own = k.numberInBlock(), inTile = k.div(own, perPosition),
          place = k.mul(k.rem(own, perPosition), together);
    Value position = k.add(firstPosition, inTile), channel = k.add(firstChannel, place);
    Value isThere = arith::AndIOp::create(b, less(position, positions), less(channel, channels));
    ifThen(b, isThere, [&] {
      Value from = k.add(k.mul(inTile, pitch), place);
      SmallVector<Value> elements;
      for (int64_t i = 0; i < together; i += 2) {
        Value pair = emitLoad(b, type, memory, k.add(from, i), 2, 2);
        for (int64_t j : {0, 1})
          elements.push_back(vector::ExtractOp::create(b, pair, j));
      }
      Value all = vector::FromElementsOp::create(b, VectorType::get({together}, type), elements);
      Value row = k.add(k.mul(sample, positions), position);
      emitStore(b, type, all, k.buffer(1), k.add(k.mul(row, channels), channel), together);
    });
  }

  ThreadKernel &k;
  ImplicitLocOpBuilder &b;
  Type type;
  int64_t channels, positions;
  const Frame &frame;
  ArrayRef<int64_t> strides;
  Value sample, firstPosition, firstChannel, memory;
};

} // namespace

FailureOr<LaunchOperand> copyChannelsLast(LaunchOperands &operands, ModuleOp kernels,
                                          StringRef name, Value value, const Frame &frame) {
  FailureOr<LaunchOperand> source = operands.find(value);
  if (failed(source))
    return failure();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t samples = type.getDimSize(0), channels = type.getDimSize(1);
  std::string own = (name + "_copy" + Twine(operands.launch.commands.size())).str();
  ThreadKernel k(kernels, own, /*buffers=*/2, /*scratchBytes=*/0);
  Emitter emitter(k, type, source->strides, frame);
  emitter.emit();
  EmittedCommand command{own, emitter.blocks(samples), {}};
  command.itemThreads = command.blockThreads = blockThreads;
  int64_t perSample = frame.lines() * frame.width() * channels;
  int64_t bytes = samples * perSample * bytesOf(type.getElementType());
  BufferSlot copy{BufferSlot::Shared, 0, operands.launch.addShared(bytes)};
  command.buffers = {source->slot, copy};
  command.bytes = 2 * bytes;
  operands.launch.commands.push_back(command);
  SmallVector<int64_t> strides = {perSample, 1, frame.width() * channels, channels};
  if (type.getRank() == 3)
    strides.erase(strides.begin() + 2);
  return LaunchOperand{copy, strides};
}

} // namespace reprise
