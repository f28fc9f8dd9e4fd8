// reprise: the ordering rules of schedules
#include "reprise/Planning/Pipeline/Schedule.h"

#include "reprise/Support/Wording.h"

#include <algorithm>
#include <tuple>

namespace reprise::pipeline {

/// Orders all forward passes before all backward passes (Huang et al. 2019, GPipe).
static bool precedesInGpipe(const Piece &first, const Piece &second, const Shape &) {
  return std::tie(first.pass, first.microbatch) < std::tie(second.pass, second.microbatch);
}

/// Returns the forward passes of a rank before its first backward pass, minus one.
static int64_t countAhead(const Piece &piece, const Shape &shape) {
  return shape.ranks - 1 - shape.rankOf(piece.stage);
}

/// Returns the place in 1f1b: a rank begins with as many forward passes as there are ranks behind
/// it, then backward and forward passes alternate (Narayanan et al. 2021, section 2.2).
static int64_t placeIn1f1b(const Piece &piece, const Shape &shape) {
  if (piece.pass == Pass::Forward)
    return 2 * static_cast<int64_t>(piece.microbatch);
  return 2 * (piece.microbatch + countAhead(piece, shape)) + 1;
}

static bool precedesIn1f1b(const Piece &first, const Piece &second, const Shape &shape) {
  return placeIn1f1b(first, shape) < placeIn1f1b(second, shape);
}

/// Returns the turn. Groups of as many micro-batches as ranks go through the first chunk, then
/// through the second, and so on; backward passes begin at the last chunk. If the last group is
/// incomplete, its missing turns stay empty, since ranks whose turns move up would deadlock.
static int64_t findTurn(const Piece &piece, const Shape &shape) {
  int64_t group = piece.microbatch / shape.ranks;
  int64_t chunk = shape.chunkOf(piece.stage);
  if (piece.pass != Pass::Forward)
    chunk = shape.chunks - 1 - chunk;
  return (group * shape.chunks + chunk) * shape.ranks + piece.microbatch % shape.ranks;
}

/// 1f1b over the turns of all chunks (Narayanan et al. 2021, section 2.2 and its code).
static int64_t placeInInterleaved(const Piece &piece, const Shape &shape) {
  int64_t turn = findTurn(piece, shape);
  if (piece.pass == Pass::Forward)
    return 2 * turn;
  int64_t ahead =
      2 * countAhead(piece, shape) + static_cast<int64_t>(shape.chunks - 1) * shape.ranks;
  return 2 * (turn + ahead) + 1;
}

static bool precedesInInterleaved(const Piece &first, const Piece &second, const Shape &shape) {
  return placeInInterleaved(first, shape) < placeInInterleaved(second, shape);
}

/// Returns the place in zb-h1: 1f1b in which the gradients of weights wait for as many backward
/// passes as there are ranks ahead. Every rank then keeps as many micro-batches as the first rank
/// (Qi et al. 2023, section 2.2).
static int64_t placeInH1(const Piece &piece, const Shape &shape) {
  switch (piece.pass) {
  case Pass::Forward:
    return 3 * static_cast<int64_t>(piece.microbatch);
  case Pass::Backward:
    return 3 * (piece.microbatch + countAhead(piece, shape)) + 1;
  case Pass::Weight:
    return 3 * (piece.microbatch + static_cast<int64_t>(shape.ranks) - 1) + 2;
  }
  return 0;
}

static bool precedesInH1(const Piece &first, const Piece &second, const Shape &shape) {
  return placeInH1(first, shape) < placeInH1(second, shape);
}

/// Returns the place in zb-h2: zb-h1 with twice as many forward passes before the first backward
/// pass. Every rank keeps as many micro-batches as the first rank (Qi et al. 2023, section 2.2).
static int64_t placeInH2(const Piece &piece, const Shape &shape) {
  switch (piece.pass) {
  case Pass::Forward:
    return 3 * static_cast<int64_t>(piece.microbatch);
  case Pass::Backward:
    return 3 * (piece.microbatch + 2 * countAhead(piece, shape)) + 1;
  case Pass::Weight:
    return 3 * (piece.microbatch + 2 * (static_cast<int64_t>(shape.ranks) - 1)) + 2;
  }
  return 0;
}

static bool precedesInH2(const Piece &first, const Piece &second, const Shape &shape) {
  return placeInH2(first, shape) < placeInH2(second, shape);
}

namespace {

/// Turn of a piece in a vee: its phase, its round in the phase, and its place in the round.
using Turn = std::tuple<int, int64_t, int>;

/// Rounds of one rank of a vee (Qi et al. 2024, figure 4): three phases fill it, rounds of six
/// pieces follow, and three phases empty it.
class Vee {
public:
  Vee(const Shape &shape, int rank)
      : ranks(shape.ranks), rank(rank),
        // With fewer micro-batches the same rounds run, without the missing pieces.
        microbatches(std::max<int64_t>(shape.microbatches, 2 * ranks - 1)) {}

  Turn findTurn(Pass pass, int chunk, int64_t microbatch) const {
    if (pass == Pass::Forward)
      return chunk == 0 ? findFirstForward(microbatch) : findSecondForward(microbatch);
    if (pass == Pass::Backward)
      return chunk == 0 ? findFirstBackward(microbatch) : findSecondBackward(microbatch);
    return chunk == 0 ? findFirstWeight(microbatch) : findSecondWeight(microbatch);
  }

private:
  enum Phase { Fill, FillBoth, FillAll, Rounds, EmptyBoth, EmptyFirst, EmptyWeights };

  Turn findFirstForward(int64_t k) const {
    int64_t fill = 2 * (ranks - rank) - 1;
    if (k < fill)
      return {Fill, k, 0};
    return k < fill + rank ? Turn{FillBoth, k - fill, 1} : Turn{Rounds, k - fill - rank, 0};
  }
  Turn findSecondForward(int64_t k) const {
    if (k < rank)
      return {FillBoth, k, 0};
    return k < ranks ? Turn{FillAll, k - rank, 0} : Turn{Rounds, k - ranks, 3};
  }
  Turn findFirstBackward(int64_t k) const {
    int64_t rounds = microbatches - ranks;
    if (k < rounds)
      return {Rounds, k, 1};
    return k < rounds + rank ? Turn{EmptyBoth, k - rounds, 0}
                             : Turn{EmptyFirst, k - rounds - rank, 0};
  }
  Turn findSecondBackward(int64_t k) const {
    int64_t fill = ranks - rank;
    if (k < fill)
      return {FillAll, k, 1};
    int64_t end = microbatches - rank;
    return k < end ? Turn{Rounds, k - fill, 4} : Turn{EmptyBoth, k - end, 1};
  }
  Turn findFirstWeight(int64_t k) const {
    int64_t rounds = microbatches - ranks;
    if (k < rounds)
      return {Rounds, k, 2};
    int64_t end = microbatches - rank;
    return k < end ? Turn{EmptyFirst, k - rounds, 1} : Turn{EmptyWeights, k - end, 1};
  }
  Turn findSecondWeight(int64_t k) const {
    int64_t fill = ranks - rank;
    if (k < fill)
      return {FillAll, k, 2};
    int64_t end = microbatches - rank;
    // All weights of the second chunk come before those of the first.
    return k < end ? Turn{Rounds, k - fill, 5} : Turn{EmptyWeights, k - end - rank, 0};
  }

  int64_t ranks, rank, microbatches;
};

} // namespace

static bool precedesInVee(const Piece &first, const Piece &second, const Shape &shape) {
  auto find = [&](const Piece &piece) {
    return Vee(shape, shape.rankOf(piece.stage))
        .findTurn(piece.pass, shape.chunkOf(piece.stage), piece.microbatch);
  };
  return find(first) < find(second);
}

namespace {

/// Rounds of one rank of DualPipeV (DeepSeek-AI 2025; torch's ScheduleDualPipeV). Three phases fill
/// the pipeline, rounds of two forward and two backward passes follow, and four phases empty it.
/// The gradients of weights follow their backward pass directly, except while the pipeline empties.
class DualVee {
public:
  DualVee(const Shape &shape, int rank)
      : ranks(shape.ranks), rank(rank), behind(shape.ranks - 1 - rank),
        // With fewer micro-batches the same rounds run, without the missing pieces.
        microbatches(std::max<int64_t>(shape.microbatches, 2 * ranks)),
        rounds(microbatches - 2 * ranks + rank + 1) {}

  Turn findTurn(Pass pass, int chunk, int64_t k) const {
    if (pass == Pass::Forward)
      return chunk == 0 ? findFirstForward(k) : findSecondForward(k);
    if (pass == Pass::Backward)
      return chunk == 0 ? findFirstBackward(k) : findSecondBackward(k);
    return findWeight(chunk, k);
  }

private:
  enum Phase { Fill, FillBoth, FillAll, Rounds, Empty, EmptyBoth, EmptyFirst, EmptyWeights };

  Turn findFirstForward(int64_t k) const {
    if (k < 2 * behind)
      return {Fill, k, 0};
    k -= 2 * behind;
    return k <= rank ? Turn{FillBoth, k, 0} : Turn{Rounds, k - rank - 1, 0};
  }
  Turn findSecondForward(int64_t k) const {
    if (k <= rank)
      return {FillBoth, k, 1};
    k -= rank + 1;
    if (k < behind)
      return {FillAll, k, 2};
    k -= behind;
    return k < rounds ? Turn{Rounds, k, 3} : Turn{Empty, k - rounds, 2};
  }
  Turn findSecondBackward(int64_t k) const {
    if (k < behind)
      return {FillAll, k, 0};
    k -= behind;
    if (k < rounds)
      return {Rounds, k, 1};
    k -= rounds;
    return k < behind ? Turn{Empty, k, 0} : Turn{EmptyBoth, k - behind, 0};
  }
  Turn findFirstBackward(int64_t k) const {
    if (k < rounds)
      return {Rounds, k, 4};
    k -= rounds;
    if (k < behind)
      return {Empty, k, 3};
    k -= behind;
    return k <= rank ? Turn{EmptyBoth, k, 2} : Turn{EmptyFirst, k - rank - 1, 1};
  }

  /// Returns whether the gradients of weights wait for the end of the pipeline.
  bool isDelayed(int chunk, const Turn &backward) const {
    auto [phase, round, place] = backward;
    int64_t half = (rank + 1) / 2;
    if (phase == EmptyFirst)
      return true;
    return phase == EmptyBoth && (round > half || (round == half && (rank % 2 == 1 || chunk == 0)));
  }

  /// Returns the turn directly behind the backward pass. Delayed gradients run in the order of
  /// their backward passes: one before each last backward pass, and all others at the end.
  Turn findWeight(int chunk, int64_t k) const {
    Turn backward = findTurn(Pass::Backward, chunk, k);
    auto [phase, round, place] = backward;
    if (!isDelayed(chunk, backward))
      return {phase, round, place + 1};
    int64_t half = (rank + 1) / 2, number = 2 * (round - half) + (chunk == 0);
    if (rank % 2 == 0)
      --number; // the first delayed gradients are those of the first chunk
    if (phase == EmptyFirst)
      number = countDelayed() + round;
    return number < behind ? Turn{EmptyFirst, number, 0} : Turn{EmptyWeights, number, 0};
  }

  /// Returns the delayed gradients of phase EmptyBoth.
  int64_t countDelayed() const {
    int64_t half = (rank + 1) / 2;
    return 2 * (rank + 1 - half) - (rank % 2 == 0);
  }

  int64_t ranks, rank, behind, microbatches, rounds;
};

} // namespace

static bool precedesInDualVee(const Piece &first, const Piece &second, const Shape &shape) {
  auto find = [&](const Piece &piece) {
    return DualVee(shape, shape.rankOf(piece.stage))
        .findTurn(piece.pass, shape.chunkOf(piece.stage), piece.microbatch);
  };
  return find(first) < find(second);
}

const std::vector<Rule> &getRules() {
  static const std::vector<Rule> rules{
      {kRuleOfAnySweeps, false, false, 1, 1, precedesInGpipe},
      {kUsualRule, false, false, 1, 1, precedesIn1f1b},
      {"interleaved-1f1b", false, false, 2, 0, precedesInInterleaved},
      {"zb-h1", true, false, 1, 1, precedesInH1},
      {"zb-h2", true, false, 1, 1, precedesInH2},
      {"zb-v", true, true, 2, 2, precedesInVee},
      {"dualpipe-v", true, true, 2, 2, precedesInDualVee},
  };
  return rules;
}

std::vector<std::string> getRuleNames() {
  std::vector<std::string> names;
  for (const Rule &rule : getRules())
    names.push_back(rule.name);
  return names;
}

const Rule *findRule(std::string_view name) {
  const std::vector<Rule> &rules = getRules();
  auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule &rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

std::string refuseUnknown(const std::string &name, const std::vector<std::string> &others) {
  std::vector<std::string> names = getRuleNames();
  names.insert(names.end(), others.begin(), others.end());
  std::string nearest = findNearest(name, names);
  return "unknown schedule '" + name + "'" + suggest(name, names) +
         (nearest.empty() ? " or a file" : "");
}

} // namespace reprise::pipeline
