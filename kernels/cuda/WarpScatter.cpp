// reprise: sums of updates of small tables, in index order: a warp per table
#include "Launch.h"
#include "ScatterShape.h"

namespace reprise::cuda {
namespace {

extern "C" {
// Made by the compiler, linked and inlined.
extern const WarpScatterShape shape;
/// Returns the element of the table that an update, by its number among all, is added to.
Index scatter_position(const Launch &launch, Index update);
}

unsigned mostOfWarp(unsigned value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    unsigned other = exchange(value, distance);
    value = other > value ? other : value;
  }
  return value;
}

/// Adds one update of each lane. Lanes whose updates have the same element take turns, in order.
template <typename T> void addStep(const Launch &launch, Index table, Index update) {
  bool isThere = update < shape.updates;
  Index from = table * shape.updates + least(update, shape.updates - 1), lane = laneInWarp();
  Index position = scatter_position(launch, from);
  T summand = launch.buffer<T>(shape.updateBuffer)[from];
  // A lane without an update meets no other one.
  unsigned own = isThere ? unsigned(position) : ~unsigned(lane);
  unsigned equal = __nvvm_match_any_sync_i32(-1, own);
  unsigned turn = __builtin_popcount(equal & ((1u << lane) - 1));
  unsigned turns = mostOfWarp(__builtin_popcount(equal));
  GLOBAL T *to = launch.buffer<T>(shape.resultBuffer) + table * shape.rows + position;
#pragma nounroll
  for (unsigned now = 0; now < turns; ++now) {
    if (now == turn && isThere)
      *to += summand;
    __nvvm_bar_warp_sync(-1);
  }
}

template <typename T> void addUpdates(const Launch &launch) {
  Index table = div(blockInGrid() * shape.threads + threadInBlock(), warpSize);
  if (table >= shape.tables)
    return;
#pragma nounroll
  for (Index first = 0; first < shape.updates; first += warpSize)
    addStep<T>(launch, table, first + laneInWarp());
}

} // namespace

extern "C" void warp_scatter_f32(const Launch &launch) { addUpdates<float>(launch); }
extern "C" void warp_scatter_f64(const Launch &launch) { addUpdates<double>(launch); }

} // namespace reprise::cuda
