// reprise: replays of plain pieces, weighed before they come or go
#include "SequenceMoves.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Item = Sequence::Item;
using Reader = Sequence::Reader;

/// Returns the last place at which an item lies in memory.
static int endOf(const Sequence &sequence, const Item &item) {
  return item.last < 0 ? sequence.placeOf(item.exec) : sequence.steps[item.last].place;
}

/// Returns the end of an item whose readers are only those that `isKept` names.
template <typename IsKept>
static int endWith(const Sequence &sequence, const Item &item, IsKept isKept) {
  int end = sequence.placeOf(item.exec);
  for (Reader reader : item.readers)
    if (isKept(reader))
      end = std::max(end, sequence.placeOf(reader.exec));
  return end;
}

int64_t reprise::checkpoint::weigh(const Sequence &sequence, const Proposal &proposal,
                                   Changes &changes) {
  const Pieces::Piece &piece = sequence.pieces->pieces[proposal.piece];
  int place = proposal.place;
  int64_t own = sequence.bytesAcross(place) - sequence.profile.budget + piece.scratch;
  changes.list.clear();
  for (int source : proposal.sources) {
    const Item &item = sequence.items[source];
    int end = endOf(sequence, item);
    if (end >= place)
      continue;
    own += sequence.pieces->cells[item.cell].bytes;
    changes.add(end + 1, sequence.pieces->cells[item.cell].bytes);
  }
  for (size_t result = 0; result < piece.results.size(); ++result) {
    const Item &item = sequence.items[sequence.execs[proposal.old].firstItem + result];
    int64_t bytes = sequence.pieces->cells[item.cell].bytes;
    own += bytes;
    if (endOf(sequence, item) < place)
      continue;
    own -= bytes;
    int end = endWith(sequence, item,
                      [&](Reader reader) { return sequence.placeOf(reader.exec) < place; });
    changes.add(end + 1, -bytes);
  }
  return sequence.profile.findGrowth(0, place, changes) + Profile::excessOf(own);
}

int64_t reprise::checkpoint::weighRemoval(const Sequence &sequence, int exec, Changes &changes) {
  int place = sequence.placeOf(exec);
  changes.list.clear();
  auto addBefore = [&](int end, int64_t bytes) {
    changes.add(end + 1, bytes);
    changes.add(place, -bytes);
  };
  for (int source : sequence.execs[exec].sources) {
    const Item &item = sequence.items[source];
    if (item.last == sequence.execs[exec].step)
      addBefore(endWith(sequence, item, [&](Reader reader) { return reader.exec != exec; }),
                -sequence.pieces->cells[item.cell].bytes);
  }
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
    const Item &item = sequence.items[sequence.execs[exec].firstItem + result];
    if (item.readers.empty())
      continue;
    int64_t bytes = sequence.pieces->cells[item.cell].bytes;
    int end = endOf(sequence, sequence.items[findLatest(sequence, item.cell, place)]);
    if (end < place) {
      addBefore(end, bytes);
    } else { // both lie in memory for a while
      changes.add(place + 1, -bytes);
      changes.add(std::min(end, endOf(sequence, item)) + 1, bytes);
    }
  }
  return sequence.profile.findGrowth(0, place, changes) +
         sequence.profile.findGrowth(place + 1, sequence.size(), changes) -
         Profile::excessOf(sequence.profile.above[place]);
}
