// reprise: sorts rows, stably: runs of elements first, then merges of two runs
//
// A thread has one element and counts the elements that come before it, so the result does not
// depend on the order of threads. An element is known by its number among those of all rows.
#include "Launch.h"
#include "SortShape.h"

namespace reprise::cuda {
namespace {

extern "C" {
// Made by the compiler, linked and inlined.
extern const SortShape shape;
/// Returns the key of an element.
Index sort_key(const Launch &launch, Index element);
/// Takes the element at a place of the sorted row.
void sort_store(const Launch &launch, Index row, Index place, Index element);
}

Index loadNumber(const Launch &launch, Index buffer, Index i) {
  return shape.numberBytes == 4 ? launch.buffer<uint32_t>(buffer)[i]
                                : launch.buffer<Index>(buffer)[i];
}

void storeNumber(const Launch &launch, Index i, Index number) {
  if (shape.numberBytes == 4)
    launch.buffer<uint32_t>(shape.target)[i] = uint32_t(number);
  else
    launch.buffer<Index>(shape.target)[i] = number;
}

void put(const Launch &launch, Index row, Index place, Index element) {
  if (shape.target < 0)
    sort_store(launch, row, place, element);
  else
    storeNumber(launch, row * shape.n + place, element);
}

Index itemOfThread() { return blockInGrid() * shape.threads + threadInBlock(); }

/// Returns `low` plus the number of elements of [low, high) for which `isBefore` holds; these come
/// first. All threads take as many steps as `size` elements need, and read `valid` after the last
/// one that they need.
template <typename IsBefore>
Index search(Index low, Index high, Index size, Index valid, IsBefore isBefore) {
  Index steps = size == 0 ? 0 : 64 - __builtin_clzll(size);
#pragma nounroll
  for (Index step = 0; step < steps; ++step) {
    bool isOpen = low < high;
    Index middle = div(low + high, 2);
    bool before = isBefore(isOpen ? middle : valid) && isOpen;
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}

/// Finds the place of an element in its run, by comparing it with every other one.
void sortRun(const Launch &launch, Index element) {
  Index index = rem(element, shape.n), toRow = element - index;
  Index first = div(index, shape.length) * shape.length;
  Index end = least(first + shape.length, shape.n);
  Index key = sort_key(launch, element), rank = 0;
#pragma nounroll
  for (Index other = first; other < end; ++other) {
    Index otherKey = sort_key(launch, toRow + other);
    rank += other < index ? otherKey <= key : otherKey < key;
  }
  if (rank < shape.kept)
    put(launch, div(element, shape.n), first + rank, element);
}

/// Finds the place of an element of a run in the run that is twice as long. Equal keys of the left
/// run come first.
void mergeRuns(const Launch &launch, Index row, Index run, Index offset) {
  Index length = shape.length, width = least(length, shape.kept);
  bool isRight = rem(run, 2) != 0;
  Index mine = run * length, other = isRight ? mine - length : mine + length;
  Index end = least(other + width, shape.n);
  end = end < other ? other : end;
  auto elementAt = [&](Index place) {
    return loadNumber(launch, shape.source, row * shape.n + place);
  };
  Index element = elementAt(mine + offset), key = sort_key(launch, element);
  Index before = search(other, end, width, mine + offset, [&](Index place) {
    Index otherKey = sort_key(launch, elementAt(place));
    return isRight ? otherKey <= key : otherKey < key;
  });
  Index merged = offset + before - other;
  if (merged < shape.kept)
    put(launch, row, least(mine, other) + merged, element);
}

} // namespace

/// Sorts runs of shape.length elements; a thread per element.
extern "C" void sort_runs(const Launch &launch) {
  Index element = itemOfThread();
  if (element < shape.items)
    sortRun(launch, element);
}

/// Merges pairs of runs of shape.length elements; a thread per element that is kept of a run.
extern "C" void merge_runs(const Launch &launch) {
  Index item = itemOfThread(), width = least(shape.length, shape.kept);
  Index offset = rem(item, width), runs = div(shape.n + shape.length - 1, shape.length);
  Index run = rem(div(item, width), runs);
  if (item < shape.items && run * shape.length + offset < shape.n)
    mergeRuns(launch, div(item, width * runs), run, offset);
}

/// Stores where the sorted elements with each key begin, and the end of all. Keys are [0, kept) in
/// each row; a thread per key and row, and one for the end.
extern "C" void find_begins(const Launch &launch) {
  Index item = itemOfThread(), last = shape.items - 1;
  if (item >= shape.items)
    return;
  Index rows = div(last, shape.kept), begin = rows * shape.n;
  if (item < last) {
    Index key = rem(item, shape.kept), low = div(item, shape.kept) * shape.n;
    begin = search(low, low + shape.n, shape.n, low, [&](Index place) {
      return sort_key(launch, loadNumber(launch, shape.source, place)) < key;
    });
  }
  storeNumber(launch, item, begin);
}

} // namespace reprise::cuda
