// reprise: schedules of loop nests on the threads of a GPU
#include "ThreadSchedule.h"

#include "../LoopNest/ScheduleBuilder.h"
#include "ThreadKernel.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Elements per step: a thread loads at most 16 bytes at once, and Philox draws blocks of four
/// words.
constexpr int64_t threadWidth = 4;

/// Threads that reduce a short row, and its columns: where each has four lanes, four rows share a
/// warp, and a row stays in the cache from pass to pass.
constexpr int64_t shortRowThreads = reductionLanes / threadWidth;
constexpr int64_t shortRow = 128;

constexpr int64_t fewElements = 1 << 16;

/// Shared memory of a block that needs no leave for more, and what the driver adds to a block.
constexpr int64_t mostOfBlock = 48 * 1024, ownOfBlock = 1024;
/// Blocks with rows that a multiprocessor should hold, so that some load while others compute.
constexpr int64_t blocksWithRows = 4;
/// Instructions per element that cost more than a store and a load.
constexpr int64_t costly = 8;

/// Left alone, ptxas unrolls loops until a block has all registers, or spills for a block more;
/// words that are drawn, and nothing else, may take as many. Of blocks with rows there are as many
/// as have room for these, with 80 registers for each thread.
int64_t countBlocksTogether(const Nest &nest, const Schedule &schedule, const Chip &chip) {
  constexpr int64_t threadsTogether = 512, rowThreads = 768;
  int64_t threads = schedule.blockThreads;
  int64_t rowBytes = threads / schedule.itemThreads * schedule.rowBytes;
  if (rowBytes)
    return std::min(rowThreads / threads, chip.sharedBytes / (rowBytes + ownOfBlock));
  bool hasLoops = nest.hasReductions() || schedule.rowsPerItem > 1;
  return hasLoops || !nest.has<DrawOp>() ? threadsTogether / threads : 1;
}

class ThreadScheduler : ScheduleBuilder {
public:
  ThreadScheduler(const Nest &nest, RowMemory memory) : ScheduleBuilder(nest), memory(memory) {}

  /// Returns the schedule; none if rows do not fit into memory.
  std::optional<Schedule> run(const Chip &chip);
  Schedule runOnTile();

private:
  /// Returns the lanes per thread: each thread of a warp has one of the 32 lanes, and neighbouring
  /// lanes use neighbouring banks.
  int64_t chooseLaneWidth(const Pass &, int64_t) const override {
    return schedule.itemThreads == reductionLanes ? 1 : schedule.width;
  }
  bool keepsElements(Value element) const override;
  bool fetchesFirst(Value element) const override;
  bool stages(ArrayRef<Value> operands) const override;
  bool isOwnOfItem(const Place &place) const;
  bool takesVectors();
  void setWidth(int64_t width);
  void chooseThreads();
  void placeRow();

  RowMemory memory;
};

bool ThreadScheduler::takesVectors() {
  chooseWidth(reductionLanes);
  findStretches();
  return schedule.width >= threadWidth && schedule.stretches.size() == 2 &&
         nest.shape.columns.back() % threadWidth == 0 && !jumpsBetweenLanes();
}

void ThreadScheduler::setWidth(int64_t width) {
  schedule.width = width;
  schedule.inRuns = false;
}

void ThreadScheduler::chooseThreads() {
  bool lanes = nest.hasReductions() || nest.stores(Stored::ColumnParts), vectors = takesVectors();
  // Blocks of rows are few, so each has a whole warp. Parts that meet in place meet once.
  bool isRows = !nest.stores(Stored::RowParts) && !nest.has<MeetOp>();
  bool isShort = nest.shape.columnCount() <= shortRow;
  if (!isRows || !lanes || isShort)
    memory = RowMemory::None;
  bool shares = isRows && (isShort || (vectors && memory == RowMemory::None));
  schedule.itemThreads = !lanes ? 1 : shares ? shortRowThreads : reductionLanes;
  // Few elements that have many parts each take as many threads as there can be.
  bool isFew = nest.has<MeetOp>() && nest.shape.size() <= fewElements;
  setWidth(vectors && (!lanes || isRows) && !isFew ? threadWidth : 1);
  schedule.columnsPerItem = schedule.width;
  if (nest.stores(Stored::ColumnParts) && !nest.hasReductions() && !nest.stores(Stored::Rows))
    schedule.columnsPerItem = laneBlock;
  else if (lanes)
    schedule.columnsPerItem = nest.shape.columnCount();
  schedule.rowsPerItem = nest.stores(Stored::RowParts) ? orderedBlock : 1;
  countItems();
}

/// An element of its own for each column of an item, which no other item has.
bool ThreadScheduler::isOwnOfItem(const Place &place) const {
  const Shape &shape = nest.shape;
  SmallVector<int64_t> factors = shape.factors();
  size_t first = shape.firstColumn();
  bool varies = schedule.columnItems > 1;
  for (auto [index, coefficient] : place.terms) {
    std::optional<size_t> loop = nest.loopNumber(index);
    if (!loop)
      return false;
    varies |= *loop < first && factors[*loop] > 1;
  }
  for (auto [i, size] : llvm::enumerate(shape.columns))
    if (size > 1 && !place.coefficient(nest.loop(first + i)))
      return false;
  return varies;
}

bool ThreadScheduler::keepsElements(Value element) const {
  if (memory == RowMemory::None || nest.levelOf(element) != Level::Column)
    return false;
  auto read = element.getDefiningOp<ReadOp>();
  return read ? isOwnOfItem(read.getPlace()) : nest.costOf(element) > costly;
}

/// Copies are of four bytes at least.
bool ThreadScheduler::fetchesFirst(Value element) const {
  return memory == RowMemory::All && schedule.width * bytesOf(typeOf(element)) >= 4 &&
         keepsElements(element);
}

/// A block of random words is that of a vector.
bool ThreadScheduler::stages(ArrayRef<Value> operands) const {
  if (memory == RowMemory::None || schedule.width == 1)
    return false;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open(operands);
  while (!open.empty()) {
    Value element = open.pop_back_val();
    if (nest.levelOf(element) != Level::Column || element.getDefiningOp<ReduceOp>() ||
        schedule.kept.contains(element) || !seen.insert(element).second)
      continue;
    if (element.getDefiningOp<DrawOp>())
      return true;
    open.append(inputsOf(element));
  }
  return false;
}

/// Places elements of rows in shared memory. Elements after their last load make room for others:
/// for later passes or, if they have the same size, for the pass that loads them, which stores each
/// element behind its last load.
void ThreadScheduler::placeRow() {
  struct Room {
    int64_t offset, bytes;
    int last;
  };
  SmallVector<Room> rooms;
  auto place = [&](Value element) {
    Kept &kept = schedule.kept[element];
    int64_t bytes = bytesOf(typeOf(element)) * schedule.columnsPerItem;
    auto *room = llvm::find_if(rooms, [&](const Room &room) {
      return room.last < kept.pass ? room.bytes >= bytes
                                   : room.last == kept.pass && room.bytes == bytes;
    });
    if (room == rooms.end()) {
      room = rooms.insert(room, {schedule.rowBytes, bytes, 0});
      schedule.rowBytes += llvm::alignTo(bytes, 16);
    }
    room->last = kept.last;
    kept.offset = room->offset;
  };
  llvm::for_each(schedule.fetched, place);
  for (const Pass &pass : schedule.passes)
    llvm::for_each(pass.kept, place);
}

std::optional<Schedule> ThreadScheduler::run(const Chip &chip) {
  ScheduleAttr chosen = nest.kernel.getScheduleAttr();
  if (chosen) {
    read(chosen);
    memory = chosen.getMemory();
  } else {
    chooseThreads();
  }
  assign();
  placeScratch();
  placeRow();
  if (chosen)
    return std::move(schedule);
  schedule.blockThreads = blockThreads;
  if (schedule.rowBytes) {
    if (schedule.rowBytes > mostOfBlock)
      return std::nullopt;
    int64_t bytes = std::min(mostOfBlock, chip.sharedBytes / blocksWithRows - ownOfBlock);
    int64_t warps = std::max<int64_t>(bytes / schedule.rowBytes, 1);
    schedule.blockThreads = std::min(blockThreads, warps * reductionLanes);
  }
  schedule.blocksTogether = countBlocksTogether(nest, schedule, chip);
  write(memory);
  return std::move(schedule);
}

Schedule ThreadScheduler::runOnTile() {
  schedule.itemThreads = 1;
  setWidth(takesVectors() ? threadWidth : 1);
  assign();
  write();
  return std::move(schedule);
}

} // namespace

Schedule makeThreadSchedule(const Nest &nest, const Chip &chip) {
  for (RowMemory memory : {RowMemory::All, RowMemory::Shared})
    if (std::optional<Schedule> schedule = ThreadScheduler(nest, memory).run(chip))
      return *std::move(schedule);
  return *ThreadScheduler(nest, RowMemory::None).run(chip);
}

Schedule makeTileSchedule(const Nest &nest) {
  return ThreadScheduler(nest, RowMemory::None).runOnTile();
}

} // namespace reprise::nests
