// reprise: how the threads of a GPU run a loop nest
#include "ThreadSchedule.h"

#include "../LoopNest/ScheduleBuilder.h"
#include "ThreadKernel.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Elements at a time: a load of 16 bytes is the widest that a thread has, and a block of four
/// words is what Philox draws.
constexpr int64_t threadWidth = 4;

/// Threads that reduce a row where each has four lanes.
constexpr int64_t rowThreads = reductionLanes / threadWidth;
/// Columns of a row for which these suffice without vectors, too.
constexpr int64_t shortRow = 128;

/// Shared memory of a block that needs no leave for more.
constexpr int64_t sharedBytes = 48 * 1024;
/// Instructions for an element that cost more than to store and to load it.
constexpr int64_t costly = 8;

/// Who keeps elements of rows between passes, by the threads that a row has: the more, the more
/// memory.
enum class RowMemory { Few, Warp, None };

class ThreadScheduler : ScheduleBuilder {
public:
  ThreadScheduler(const Graph &graph, RowMemory memory) : ScheduleBuilder(graph), memory(memory) {}

  /// None if rows do not fit into memory.
  std::optional<Schedule> run();

private:
  int64_t chooseLaneWidth(const Pass &, int64_t) const override { return schedule.width; }
  bool keepsElements(const Node &node) const override;
  bool isOwnOfRow(const Affine &index) const;
  bool takesVectors();
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

void ThreadScheduler::chooseThreads() {
  bool lanes = graph.hasReductions() || has(Root::LaneParts), vectors = takesVectors();
  // Blocks of rows are few, so each has a whole warp. Parts that meet in place meet once.
  bool isRows = !has(Root::RowParts) && !graph.has(Node::Fold);
  // Short rows stay in the cache from pass to pass.
  if (!isRows || !graph.hasReductions() || graph.shape.columnCount() <= shortRow)
    memory = RowMemory::None;
  bool shares =
      isRows && (vectors || graph.shape.columnCount() <= shortRow) && memory != RowMemory::Warp;
  schedule.itemThreads = !lanes ? 1 : shares ? rowThreads : reductionLanes;
  schedule.width = vectors && (!lanes || shares) ? threadWidth : 1;
  schedule.inRuns = false;
  schedule.stretches = {0, graph.shape.columnCount()};
  schedule.columnsPerItem = schedule.width;
  if (has(Root::LaneParts) && !graph.hasReductions() && !has(Root::Row))
    schedule.columnsPerItem = laneBlock;
  else if (lanes)
    schedule.columnsPerItem = graph.shape.columnCount();
  schedule.rowsPerItem = has(Root::RowParts) ? orderedBlock : 1;
  countItems();
}

/// Elements of a row that are neighbours, and no other row's.
bool ThreadScheduler::isOwnOfRow(const Affine &index) const {
  const Shape &shape = graph.shape;
  size_t first = shape.outer.size() + shape.rows.size();
  bool varies = false;
  for (auto [symbol, coefficient] : index.terms) {
    if (symbol >= first + shape.columns.size())
      return false;
    varies |= symbol < first && graph.symbols[symbol].size > 1;
  }
  for (auto [i, stride] : llvm::enumerate(rowMajorStrides(shape.columns)))
    if (shape.columns[i] > 1 && index.coefficient(first + i) != stride)
      return false;
  return varies;
}

bool ThreadScheduler::keepsElements(const Node &node) const {
  if (memory == RowMemory::None || node.level != Level::Column)
    return false;
  return node.kind == Node::Load ? isOwnOfRow(node.index) : node.cost > costly;
}

/// Elements that nobody loads any more make room for others: of later passes or, where they are of
/// the same size, of the pass that loads them, which stores each behind its last load.
void ThreadScheduler::placeRow() {
  struct Room {
    int64_t offset, bytes;
    int last;
  };
  SmallVector<Room> rooms;
  auto place = [&](int number) {
    Kept &kept = schedule.kept[number];
    int64_t bytes = KernelBuilder::bytesOf(graph.nodes[number].type) * graph.shape.columnCount();
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
    int64_t rows = reductionLanes / schedule.itemThreads;
    // Two rows of which eight threads each load 64 bytes at once lie in different banks.
    bool isHalf = llvm::any_of(schedule.kept, [&](const auto &kept) {
      return KernelBuilder::bytesOf(graph.nodes[kept.first].type) == 2;
    });
    if (isHalf && rows > 1)
      schedule.rowBytes = llvm::alignTo(schedule.rowBytes + 64, 128) - 64;
    int64_t warps = sharedBytes / (rows * schedule.rowBytes);
    if (warps == 0)
      return std::nullopt;
    schedule.blockThreads = std::min(blockThreads, warps * reductionLanes);
  }
  return std::move(schedule);
}

} // namespace

Schedule makeThreadSchedule(const Graph &graph) {
  for (RowMemory memory : {RowMemory::Few, RowMemory::Warp})
    if (std::optional<Schedule> schedule = ThreadScheduler(graph, memory).run())
      return *std::move(schedule);
  return *ThreadScheduler(graph, RowMemory::None).run();
}

} // namespace reprise::nests
