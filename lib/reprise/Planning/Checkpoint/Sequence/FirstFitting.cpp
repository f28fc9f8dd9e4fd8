// reprise: steps of a sequence in an order that fits
#include "FirstFitting.h"

#include "Shift.h"

using namespace reprise::checkpoint;

/// Moves the step at `from` back to `to`.
static void move(Sequence &sequence, int from, int to, Shift &shift) {
  weigh(sequence, sequence.order[from], to, shift);
  apply(sequence, shift);
}

void reprise::checkpoint::orderFirstFitting(Sequence &sequence) {
  static constexpr int kMostWaiting = 256;
  Shift shift;
  for (int place = 0; place < sequence.size(); ++place) {
    if (sequence.profile.above[place] <= 0)
      continue;
    int64_t least = sequence.profile.above[place];
    int chosen = place, end = std::min(sequence.size(), place + kMostWaiting);
    for (int from = place + 1; from < end && least > 0; ++from) {
      int step = sequence.order[from];
      if (findSlackBack(sequence, step) < from - place)
        continue;
      weigh(sequence, step, place, shift);
      if (shift.own < least) {
        least = shift.own;
        chosen = from;
      }
    }
    if (chosen != place)
      move(sequence, chosen, place, shift);
  }
}
