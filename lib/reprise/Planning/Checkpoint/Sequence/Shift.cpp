// reprise: a step of a sequence at another place
#include "Shift.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Item = Sequence::Item;
using Reader = Sequence::Reader;
using Step = Sequence::Step;

int reprise::checkpoint::findSlackAhead(const Sequence &sequence, int number) {
  const Step &step = sequence.steps[number];
  int last = sequence.size();
  auto stayBefore = [&](int other) {
    if (other != number)
      last = std::min(last, sequence.steps[other].place);
  };
  for (int exec : step.execs) {
    for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result)
      for (Reader reader : sequence.items[sequence.execs[exec].firstItem + result].readers)
        stayBefore(sequence.execs[reader.exec].step);
    for (int launch : sequence.pieces->overwriters[sequence.pieceOf(exec).launch])
      stayBefore(launch);
  }
  if (!step.isReplay)
    for (int exec : sequence.replays[step.launch])
      stayBefore(sequence.execs[exec].step);
  return last - 1 - step.place;
}

int reprise::checkpoint::findSlackBack(const Sequence &sequence, int number) {
  const Step &step = sequence.steps[number];
  int first = -1;
  auto stayBehind = [&](int other) {
    if (other != number)
      first = std::max(first, sequence.steps[other].place);
  };
  for (int exec : step.execs) {
    for (int source : sequence.execs[exec].sources)
      stayBehind(sequence.execs[sequence.items[source].exec].step);
    stayBehind(sequence.pieceOf(exec).launch); // of which a replay repeats a part
  }
  if (!step.isReplay)
    for (int launch : sequence.pieces->overwritten[step.launch]) {
      stayBehind(launch);
      for (int exec : sequence.replays[launch])
        stayBehind(sequence.execs[exec].step);
    }
  return step.place - 1 - first;
}

/// Notes that more or fewer items die in a step. Results in their places take no bytes.
static void growDying(const Sequence &sequence, Shift &shift, int step, int sizeClass, int dying) {
  auto known = std::find_if(shift.dying.begin(), shift.dying.end(), [&](const auto &each) {
    return each.step == step && each.sizeClass == sizeClass;
  });
  if (known == shift.dying.end())
    known = shift.dying.insert(known, {step, sizeClass, 0});
  Step::Places places{sizeClass, 0, 0};
  for (const Step::Places &each : sequence.steps[step].places)
    if (each.sizeClass == sizeClass)
      places = each;
  auto findShared = [&] { return std::min(places.made, places.dying + known->dying); };
  int before = findShared();
  known->dying += dying;
  int64_t more = -(findShared() - before) * sequence.pieces->sizes[sizeClass];
  if (more == 0)
    return;
  if (step == shift.step)
    shift.own += more;
  else {
    shift.changes.add(sequence.steps[step].place, more);
    shift.changes.add(sequence.steps[step].place + 1, -more);
  }
}

/// Items of the step are made later, and its sources live up to the new place.
static void weighAhead(const Sequence &sequence, Shift &shift) {
  int to = shift.to;
  const Step &step = sequence.steps[shift.step];
  shift.own += sequence.bytesAcross(to + 1);
  for (int exec : step.execs) {
    for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
      const Item &item = sequence.items[sequence.execs[exec].firstItem + result];
      if (item.last < 0 || item.last == shift.step)
        continue;
      shift.changes.add(shift.from + 1, -sequence.pieces->cells[item.cell].bytes);
      shift.own -= sequence.pieces->cells[item.cell].bytes;
    }
    for (size_t read = 0; read < sequence.execs[exec].sources.size(); ++read) {
      int number = sequence.execs[exec].sources[read];
      const Item &item = sequence.items[number];
      int end = sequence.steps[item.last].place;
      bool isNoted = std::any_of(shift.lasts.begin(), shift.lasts.end(),
                                 [&](const auto &last) { return last.item == number; });
      if (sequence.execs[item.exec].step == shift.step || end > to || isNoted)
        continue;
      const Pieces::Cell &cell = sequence.pieces->cells[item.cell];
      shift.changes.add(std::max(end, shift.from) + 1, cell.bytes);
      shift.own += cell.bytes;
      bool dies = item.last == shift.step && item.dies;
      for (size_t i = 0; i < item.readers.size() && !sequence.pieces->isPlain; ++i)
        dies |= sequence.execs[item.readers[i].exec].step == shift.step &&
                sequence.takesPlace(item.readers[i]);
      shift.lasts.push_back({number, shift.step, dies});
      if (item.last == shift.step)
        continue;
      if (item.dies)
        growDying(sequence, shift, item.last, cell.sizeClass, -1);
      if (dies)
        growDying(sequence, shift, shift.step, cell.sizeClass, 1);
    }
  }
}

/// Items of the step are made earlier, and its sources live as long as others read them.
static void weighBack(const Sequence &sequence, Shift &shift) {
  int to = shift.to;
  const Step &step = sequence.steps[shift.step];
  shift.own += sequence.bytesAcross(to);
  for (int exec : step.execs) {
    for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result)
      if (const Item &item = sequence.items[sequence.execs[exec].firstItem + result];
          item.last >= 0 && item.last != shift.step)
        shift.changes.add(to, sequence.pieces->cells[item.cell].bytes);
    for (int number : sequence.execs[exec].sources) {
      const Item &item = sequence.items[number];
      bool isNoted = std::any_of(shift.lasts.begin(), shift.lasts.end(),
                                 [&](const auto &last) { return last.item == number; });
      if (item.last != shift.step || sequence.execs[item.exec].step == shift.step || isNoted)
        continue;
      int end = to - 1, last = shift.step;
      bool dies = item.dies;
      for (Reader reader : item.readers) {
        int other = sequence.execs[reader.exec].step, place = sequence.steps[other].place;
        if (other == shift.step || place < end || place < to)
          continue;
        dies = (place == end && last == other && dies) || sequence.takesPlace(reader);
        end = place;
        last = other;
      }
      const Pieces::Cell &cell = sequence.pieces->cells[item.cell];
      shift.changes.add(end + 1, -cell.bytes);
      shift.lasts.push_back({number, last, dies});
      if (last == shift.step)
        continue;
      if (item.dies)
        growDying(sequence, shift, shift.step, cell.sizeClass, -1);
      if (dies)
        growDying(sequence, shift, last, cell.sizeClass, 1);
    }
  }
}

void reprise::checkpoint::weigh(const Sequence &sequence, int step, int to, Shift &shift) {
  int from = sequence.steps[step].place;
  shift.step = step;
  shift.from = from;
  shift.to = to;
  shift.changes.list.clear();
  shift.dying.clear();
  shift.lasts.clear();
  shift.own = sequence.steps[step].made + sequence.steps[step].extra - sequence.profile.budget;
  if (from < to)
    weighAhead(sequence, shift);
  else
    weighBack(sequence, shift);
  auto [begin, end] = shift.range();
  shift.growth = Profile::excessOf(shift.own) - Profile::excessOf(sequence.profile.above[from]) +
                 sequence.profile.findGrowth(begin, end, shift.changes);
}

void reprise::checkpoint::apply(Sequence &sequence, const Shift &shift) {
  auto [first, last] = shift.range();
  shift.changes.forEach(first, last, [&](int begin, int end, int64_t bytes) {
    sequence.profile.add(begin, end, bytes);
  });
  for (const Shift::Last &last : shift.lasts) {
    sequence.items[last.item].last = last.step;
    sequence.items[last.item].dies = last.dies;
  }
  for (const Shift::Dying &each : shift.dying)
    sequence.addPlaces(each.step, each.sizeClass, 0, each.dying, /*isCounted=*/false);
  Profile::rotate(sequence.order, shift.from, shift.to);
  sequence.profile.move(shift.from, shift.to, shift.own);
  sequence.renumber(std::min(shift.from, shift.to), std::max(shift.from, shift.to) + 1);
}
