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

/// Shared memory of a block that needs no leave for more.
constexpr int64_t sharedBytes = 48 * 1024;
/// Instructions per element that cost more than a store and a load.
constexpr int64_t costly = 8;

/// Elements of rows that are staged in shared memory: all reduced elements, so that their loads
/// overlap, or only those of several passes.
enum class RowMemory { All, Shared, None };

class ThreadScheduler : ScheduleBuilder {
public:
  ThreadScheduler(const Graph &graph, RowMemory memory) : ScheduleBuilder(graph), memory(memory) {}

  /// Returns the schedule; none if rows do not fit into memory.
  std::optional<Schedule> run();
  Schedule runOnTile();

private:
  /// Returns the lanes per thread: each thread of a warp has one of the 32 lanes, and neighbouring
  /// lanes use neighbouring banks.
  int64_t chooseLaneWidth(const Pass &, int64_t) const override {
    return schedule.itemThreads == reductionLanes ? 1 : schedule.width;
  }
  bool keepsElements(const Node &node) const override;
  bool fetchesFirst(const Node &node) const override;
  bool stages(ArrayRef<int> operands) const override;
  bool isOwnOfItem(const Affine &index) const;
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
         graph.shape.columns.back() % threadWidth == 0 && !jumpsBetweenLanes();
}

void ThreadScheduler::setWidth(int64_t width) {
  schedule.width = width;
  schedule.inRuns = false;
  schedule.stretches = {0, graph.shape.columnCount()};
}

void ThreadScheduler::chooseThreads() {
  bool lanes = graph.hasReductions() || has(Root::LaneParts), vectors = takesVectors();
  // Blocks of rows are few, so each has a whole warp. Parts that meet in place meet once.
  bool isRows = !has(Root::RowParts) && !graph.has(Node::Fold);
  bool isShort = graph.shape.columnCount() <= shortRow;
  if (!isRows || !lanes || isShort)
    memory = RowMemory::None;
  bool shares = isRows && (isShort || (vectors && memory == RowMemory::None));
  schedule.itemThreads = !lanes ? 1 : shares ? shortRowThreads : reductionLanes;
  // Few elements with many parts each use as many threads as possible.
  bool isFew = graph.has(Node::Fold) && graph.shape.size() <= fewElements;
  setWidth(vectors && (!lanes || isRows) && !isFew ? threadWidth : 1);
  schedule.columnsPerItem = schedule.width;
  if (has(Root::LaneParts) && !graph.hasReductions() && !has(Root::Row))
    schedule.columnsPerItem = laneBlock;
  else if (lanes)
    schedule.columnsPerItem = graph.shape.columnCount();
  schedule.rowsPerItem = has(Root::RowParts) ? orderedBlock : 1;
  countItems();
}

/// Returns whether each column of an item has its own element, which no other item uses.
bool ThreadScheduler::isOwnOfItem(const Affine &index) const {
  const Shape &shape = graph.shape;
  size_t first = shape.outer.size() + shape.rows.size();
  bool varies = schedule.columnItems > 1;
  for (auto [symbol, coefficient] : index.terms) {
    if (symbol >= first + shape.columns.size())
      return false;
    varies |= symbol < first && graph.symbols[symbol].size > 1;
  }
  for (auto [i, size] : llvm::enumerate(shape.columns))
    if (size > 1 && !index.coefficient(first + i))
      return false;
  return varies;
}

bool ThreadScheduler::keepsElements(const Node &node) const {
  if (memory == RowMemory::None || node.level != Level::Column)
    return false;
  return node.kind == Node::Load ? isOwnOfItem(node.index) : node.cost > costly;
}

/// Copies are of four bytes at least.
bool ThreadScheduler::fetchesFirst(const Node &node) const {
  return memory == RowMemory::All && schedule.width * bytesOf(node.type) >= 4 &&
         keepsElements(node);
}

/// Returns whether operands are staged; a block of random words fills a vector.
bool ThreadScheduler::stages(ArrayRef<int> operands) const {
  if (memory == RowMemory::None || schedule.width == 1)
    return false;
  llvm::DenseSet<int> seen;
  SmallVector<int> open(operands);
  while (!open.empty()) {
    int number = open.pop_back_val();
    const Node &node = graph.nodes[number];
    if (node.level != Level::Column || node.kind == Node::Reduce ||
        schedule.kept.contains(number) || !seen.insert(number).second)
      continue;
    if (node.kind == Node::Draw)
      return true;
    open.append(graph.inputsOf(number));
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
  auto place = [&](int number) {
    Kept &kept = schedule.kept[number];
    int64_t bytes = bytesOf(graph.nodes[number].type) * schedule.columnsPerItem;
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

std::optional<Schedule> ThreadScheduler::run() {
  chooseThreads();
  assign();
  placeScratch();
  placeRow();
  schedule.blockThreads = blockThreads;
  if (schedule.rowBytes) {
    int64_t warps = sharedBytes / schedule.rowBytes;
    if (warps == 0)
      return std::nullopt;
    schedule.blockThreads = std::min(blockThreads, warps * reductionLanes);
  }
  return std::move(schedule);
}

Schedule ThreadScheduler::runOnTile() {
  schedule.itemThreads = 1;
  setWidth(takesVectors() ? threadWidth : 1);
  assign();
  return std::move(schedule);
}

} // namespace

Schedule makeThreadSchedule(const Graph &graph) {
  for (RowMemory memory : {RowMemory::All, RowMemory::Shared})
    if (std::optional<Schedule> schedule = ThreadScheduler(graph, memory).run())
      return *std::move(schedule);
  return *ThreadScheduler(graph, RowMemory::None).run();
}

Schedule makeTileSchedule(const Graph &graph) {
  return ThreadScheduler(graph, RowMemory::None).runOnTile();
}

} // namespace reprise::nests
