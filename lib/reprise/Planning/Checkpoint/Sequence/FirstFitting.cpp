// reprise: steps of a sequence in an order that fits
#include "FirstFitting.h"

#include "Shift.h"

using namespace reprise::checkpoint;

void reprise::checkpoint::orderFirstFitting(Sequence &sequence) {
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
    if (chosen == place)
      continue;
    weigh(sequence, sequence.order[chosen], place, shift);
    apply(sequence, shift);
  }
}
