// reprise: sequences as the judges of solutions understand them
#include "Executions.h"
#include "SequenceMoves.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Removes replays that nothing reads, also after such a removal.
static void dropUnread(Sequence &sequence) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int exec = 0; exec < static_cast<int>(sequence.execs.size()); ++exec) {
      if (!sequence.isReplay(exec) || !sequence.exists(exec) || sequence.isRead(exec))
        continue;
      remove(sequence, exec);
      changed = true;
    }
  }
}

/// Returns the launch that alone reads a replay and takes it from registers; -1 for none.
static int findHost(const Sequence &sequence, int exec) {
  const Pieces::Piece &piece = sequence.pieceOf(exec);
  if (!piece.isElementwise)
    return -1;
  int host = -1, first = sequence.execs[exec].firstItem;
  for (size_t result = 0; result < piece.results.size(); ++result)
    for (Sequence::Reader reader : sequence.items[first + result].readers) {
      int step = sequence.execs[reader.exec].step;
      if ((host >= 0 && host != step) || sequence.steps[step].isReplay ||
          !sequence.pieceOf(reader.exec).reads[reader.read].fromRegisters)
        return -1;
      host = step;
    }
  bool mayJoin = host >= 0 && mayRunBefore(sequence, piece.launch, sequence.steps[host].place);
  return mayJoin ? host : -1;
}

/// Lets replays join launches that alone read them, from the last to the first, since a replay that
/// joins may let those that it reads join, too.
static bool joinAll(Sequence &sequence) {
  std::vector<int> execs;
  for (int step : sequence.order)
    for (int exec : sequence.steps[step].execs)
      if (sequence.isReplay(exec) && !sequence.execs[exec].isJoined)
        execs.push_back(exec);
  bool changed = false;
  for (size_t i = execs.size(); i-- > 0;) {
    int host = findHost(sequence, execs[i]);
    if (host < 0)
      continue;
    join(sequence, execs[i], host);
    changed = true;
  }
  return changed;
}

void reprise::checkpoint::settle(Sequence &sequence) {
  dropUnread(sequence);
  while (joinAll(sequence)) {
  }
}
