// reprise: the common parts of the kernels of attention on the tensor cores of a GPU
//
// A warp owns 16 rows: queries, or keys if sums go over queries. The opposite rows, the others,
// come through shared memory, 32 at a time, for all warps of the block. A tile of 16 × 32 scores
// lies in the registers of the warp, which rounds the weights to 16 bits and multiplies them by the
// others again. Scores are never stored.
#ifndef REPRISE_KERNELS_CUDA_TENSORATTENTION_H
#define REPRISE_KERNELS_CUDA_TENSORATTENTION_H

#include "AttentionFunctions.h"
#include "MatrixTile.h"

namespace reprise::cuda {

/// Rows of a warp; the others are the opposite rows.
enum class Rows { Queries, Keys };

/// Sums over more columns need too many registers.
constexpr int mostColumns = 128;

/// Operand number `i` of the tiles, as MatrixTile reads it.
template <int i> struct Others {
  static const AttentionOperand &operand() { return cuda::shape.tiles[i]; }
  static const OperandShape &shape() { return operand().shape; }
  static Index place(Index row, Index column) {
    return row * operand().row + column * operand().column;
  }
  static Index tileTerms() { return operand().paddedColumns(); }
  static bool hasAllRows() { return shape().rows % attentionRows == 0; }
};

/// Compares numbers of rows, columns and lanes in 32 bits, which need fewer registers.
inline bool less(Index x, Index y) { return int(x) < int(y); }

/// Returns which of the lane's two rows a score belongs to.
constexpr int halfOf(int score) { return score % 4 / 2; }

inline float minusInfinity() { return -__builtin_inff(); }

/// Returns head `number` of all, with `heads` heads per batch entry.
inline Head headOf(Index number, Index heads) {
  return {number, div(number, heads), rem(number, heads)};
}
inline Head keyHeadOf(const Head &head) {
  return {div(head.number, shape.group()), head.batch, div(head.head, shape.group())};
}
/// Returns query head `number` of those that read a key head.
inline Head queryHeadOf(const Head &keyHead, Index number) {
  Index group = shape.group();
  return {keyHead.number * group + number, keyHead.batch, keyHead.head * group + number};
}

inline const GLOBAL uint16_t *headBegin(const Launch &launch, const AttentionOperand &operand,
                                        const Head &head) {
  return launch.buffer<uint16_t>(operand.buffer) + head.batch * operand.batch +
         head.head * operand.head;
}

/// Returns the keys that query `i` sees; of queries beyond the last one, all.
inline Index visibleTo(Index i) {
  return shape.isCausal ? least(i + (shape.keys - shape.queries) + 1, shape.keys) : shape.keys;
}

/// Exchanges lists between lanes that differ in a bit of their number. Each lane keeps one of its
/// two lists and receives the other lane's; the list of the lane without the bit comes first.
template <int count>
void exchangeLists(unsigned *first, unsigned *second, bool hasBit, int distance) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    unsigned kept = hasBit ? second[i] : first[i];
    unsigned got = exchange(hasBit ? first[i] : second[i], distance);
    first[i] = hasBit ? got : kept;
    second[i] = hasBit ? kept : got;
  }
}

/// State of a block: its rows and those of its warps. `together` others are met at a time: fewer
/// need fewer registers.
template <typename Element, Rows rows, int threads, int together> class TensorAttention {
protected:
  static constexpr int warpRows = 16, blockRows = warpRows * threads / warpSize;
  static constexpr int groups = together / 8; ///< eight others, of which a lane has two
  static constexpr int mostFragments = mostColumns / 16;

  using Scores = Sums[groups];
  /// Sums over columns: 16 rows and eight columns each.
  using ColumnSums = Sums[2 * mostFragments];
  /// 16 rows, and 16 columns in each fragment.
  using OwnRows = Fragment[mostFragments];
  /// Others at hand: a part of a tile.
  struct Part {
    Head head;
    Index first; ///< number of the first one
    int row;     ///< its row in the tile
  };

  explicit TensorAttention(const Launch &launch)
      : launch(launch), first(shared_memory),
        second(shared_memory + attentionLayout(shape.tiles[0]).bytes()) {
    findBlock();
    warpRow = blockRow + warpInBlock() * warpRows;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      own[half] = least(warpRow + laneGroup() + half * 8, ownCount() - 1);
  }

  static Index ownCount() { return rows == Rows::Queries ? shape.queries : shape.keys; }
  static Index otherCount() { return rows == Rows::Queries ? shape.keys : shape.queries; }
  Index lastRow() const { return least<Index>(blockRow + blockRows - 1, ownCount() - 1); }

  /// Reads the rows of the warp in an operand.
  void readOwn(const AttentionOperand &operand, const Head &head, OwnRows &found) const {
    const GLOBAL uint16_t *begin = headBegin(launch, operand, head);
#pragma unroll
    for (int i = 0; i < operand.paddedColumns() / 16; ++i)
#pragma unroll
      for (int word = 0; word < 4; ++word)
        found[i].words[word] =
            loadPair(operand, begin, own[word % 2], laneMember() * 2 + i * 16 + word / 2 * 8);
  }

  /// Iterates over `count` (at least one) tiles of others in order. `find` returns the begin of a
  /// tile. Warps without a term in a tile skip the tile.
  template <typename Find, typename Body> void overTiles(Index count, Find find, Body body) {
    start(find(Index(0)), 0);
    finish(0);
#pragma nounroll
    for (Index number = 0; number < count; ++number) {
      commitCopies();
      awaitCopies<0>();
      __syncthreads();
      Index next = number + 1, stage = rem(number, 2);
      start(find(least(next, count - 1)), rem(next, 2));
      Part part = find(number);
      if (!skips() || seesSome(part.first)) {
#pragma unroll
        for (int row = 0; row < attentionRows; row += together)
          body(Part{part.head, part.first + row, row}, stage);
      }
      finish(rem(next, 2));
    }
    commitCopies();
    awaitCopies<0>();
  }

  /// Returns own · others for the lane's scores.
  template <typename Tile>
  void product(const OwnRows &left, const AttentionOperand &operand, const Tile &tile,
               const Part &part, Index stage, Scores &scores) const {
#pragma unroll
    for (int i = 0; i < groups; ++i)
      scores[i] = {};
#pragma unroll
    for (int i = 0; i < operand.paddedColumns() / 16; ++i) {
      Fragment right[together / 16];
#pragma unroll
      for (int j = 0; j < together / 16; ++j)
        right[j] = tile.read(Side::Second, stage, part.row + j * 16, i * 16);
      multiplyRow(left[i], right, together / 16, scores);
    }
  }

  /// Adds weights · others to sums over the columns.
  template <typename Tile>
  void addProduct(const Scores &weights, const AttentionOperand &operand, const Tile &tile,
                  const Part &part, Index stage, ColumnSums &sums) const {
    Index fragments = operand.paddedColumns() / 16;
#pragma unroll
    for (int row = 0; row < together; row += 16) {
      Fragment left = roundSums<Element>(weights[row / 8], weights[row / 8 + 1]);
      Fragment right[mostFragments];
#pragma unroll
      for (int i = 0; i < fragments; ++i)
        right[i] = tile.readTurned(stage, part.row + row, i * 16);
      multiplyRow(left, right, fragments, sums);
    }
  }

  /// Makes scores of products. They stay products if these are complete and grow with the score.
  /// Scores that are no terms are -∞.
  void toScores(const Part &part, Scores &scores) const {
    if (!shape.isProduct)
      forScores([&](int i) {
        float &score = scores[i / 4].of[i % 4];
        score = attention_score(launch, placeOf(part, i), score);
      });
    // Most tiles have no hidden scores.
    if (mayHide() && (shape.hasMask || hidesSome(part)))
      forScores([&](int i) {
        float &score = scores[i / 4].of[i % 4];
        score = isTerm(part, i) ? score : minusInfinity();
      });
  }

  /// Draws the words of four scores of the lane, from a multiple of four on.
  void draw(const Part &part, int score, unsigned (&words)[4]) const {
    if (!shape.hasWholeBlocks) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] = attention_word(launch, placeOf(part, score + i));
    } else if (rows == Rows::Queries) {
      drawForQueries(part, score, words);
    } else {
      drawForKeys(part, score, words);
    }
  }

  static bool mayHide() {
    return shape.isCausal || shape.hasMask || otherCount() % attentionRows != 0;
  }
  bool isTerm(const Part &part, int score) const {
    bool isThere = otherCount() % attentionRows == 0 || less(otherOf(part, score), otherCount());
    if (!shape.isCausal && !shape.hasMask)
      return isThere;
    return isThere & attention_sees(launch, placeOf(part, score));
  }
  /// Returns the other row that a score has.
  static Index otherOf(const Part &part, int score) {
    return part.first + laneMember() * 2 + score / 4 * 8 + score % 2;
  }
  /// Returns the row, clamped to existing others.
  static Index inside(Index other) { return least(other, otherCount() - 1); }

  /// Calls the body for every four scores, or for every score, of the lane.
  template <typename Body> static void forGroups(Body body) {
#pragma unroll
    for (int i = 0; i < groups; ++i)
      body(i);
  }
  template <typename Body> static void forScores(Body body) {
#pragma unroll
    for (int i = 0; i < 4 * groups; ++i)
      body(i);
  }
  template <typename Body> void forOwn(Body body) const {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (less(warpRow + laneGroup() + half * 8, ownCount()))
        body(half);
  }

  /// Stores rows of `columns` columns to row-major [head, row, column].
  template <typename Map>
  void storeOwn(Index buffer, Index columns, const ColumnSums &sums, Map map) const {
    forOwn([&](int half) {
      Index start = (headNumber * ownCount() + own[half]) * columns;
      GLOBAL uint16_t *to = launch.buffer<uint16_t>(buffer) + start;
#pragma unroll
      for (int i = 0; i < (columns + 15) / 16 * 2; ++i) {
        Index column = laneMember() * 2 + i * 8;
        float left = map(sums[i].of[half * 2], half), right = map(sums[i].of[half * 2 + 1], half);
        if (columns % 2 == 0) {
          if (less(column, columns))
            attention_store_pair(to + column, left, right);
          continue;
        }
        if (less(column, columns))
          attention_store(to + column, left);
        if (less(column + 1, columns))
          attention_store(to + column + 1, right);
      }
    });
  }

  const Launch &launch;
  MatrixTile<Element, Others<0>, attentionRows, mostColumns, attentionStages, threads> first;
  MatrixTile<Element, Others<1>, attentionRows, mostColumns, attentionStages, threads> second;
  Index headNumber, blockRow, warpRow;
  Index own[2]; ///< rows of the lane; rows beyond the last are the last

private:
  /// Finds the block. Under a causal mask, blocks with more others start earlier, so that none of
  /// them runs alone at the end.
  void findBlock() {
    Index blocks = (ownCount() + blockRows - 1) / blockRows, number = blockInGrid(), ofHead;
    Index heads = shape.batch * (rows == Rows::Queries ? shape.heads : shape.keyHeads);
    if (shape.isCausal) {
      headNumber = rem(number, heads);
      ofHead = div(number, heads);
      ofHead = rows == Rows::Queries ? blocks - 1 - ofHead : ofHead;
    } else {
      headNumber = div(number, blocks);
      ofHead = rem(number, blocks);
    }
    blockRow = ofHead * blockRows;
  }

  void start(const Part &part, Index stage) {
    first.start(headBegin(launch, shape.tiles[0], part.head), part.first, 0, stage, firstLoaded);
    second.start(headBegin(launch, shape.tiles[1], part.head), part.first, 0, stage, secondLoaded);
  }
  void finish(Index stage) {
    first.finish(firstLoaded, stage);
    second.finish(secondLoaded, stage);
  }

  /// Loads two neighbours of a row as a word, +0 beyond the columns.
  static unsigned loadPair(const AttentionOperand &operand, const GLOBAL uint16_t *begin, Index row,
                           Index column) {
    Index columns = operand.shape.terms, start = row * operand.row;
    if (operand.isPaired) {
      bool isThere = less(column, columns);
      unsigned word = *(const GLOBAL unsigned *)(begin + (isThere ? start + column : start));
      return isThere ? word : 0;
    }
    bool hasLeft = less(column, columns), hasRight = less(column + 1, columns);
    unsigned left = begin[start + (hasLeft ? column : 0) * operand.column];
    unsigned right = begin[start + (hasRight ? column + 1 : 0) * operand.column];
    return (hasLeft ? left : 0) | (hasRight ? right : 0) << 16;
  }

  /// Adds the products of 16 rows and `count` times 16 columns.
  static void multiplyRow(const Fragment &left, const Fragment *right, Index count, Sums *sums) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      Element::multiply(left, right[i].words[0], right[i].words[1], sums[2 * i]);
      Element::multiply(left, right[i].words[2], right[i].words[3], sums[2 * i + 1]);
    }
  }

  ScorePlace placeOf(const Part &part, int score) const {
    Index mine = own[halfOf(score)], other = inside(otherOf(part, score));
    if (rows == Rows::Queries)
      return {part.head.batch, scoreHead(part), mine, other};
    return {part.head.batch, part.head.head, other, mine};
  }
  /// Returns the head of the queries in its batch entry, for a warp of queries.
  Index scoreHead(const Part &) const { return rem(headNumber, shape.heads); }

  /// Draws for queries. A Philox block is four keys, which two lanes hold: one lane draws for the
  /// first row, the other for the second.
  void drawForQueries(const Part &part, int score, unsigned (&words)[4]) const {
    bool isOdd = less(0, rem(laneMember(), 2));
    Index block = part.first + div(laneMember(), 2) * 4 + score / 4 * 8;
    attention_words(launch, {part.head.batch, scoreHead(part), isOdd ? own[1] : own[0], block},
                    words);
    exchangeLists<2>(words, words + 2, isOdd, 1);
  }

  /// Draws for keys. A Philox block is four keys of one query, which four lanes hold. The lane with
  /// the i-th key draws for the i-th of four scores; a transposition distributes the words.
  void drawForKeys(const Part &part, int score, unsigned (&words)[4]) const {
    Index ofFour = rem(laneGroup(), 4), half = div(ofFour, 2), odd = rem(ofFour, 2);
    Index query = inside(otherOf(part, score) + odd);
    Index key = warpRow + (laneGroup() - ofFour) + half * 8;
    attention_words(launch, {part.head.batch, part.head.head, query, key}, words);
    exchangeLists<2>(words, words + 2, less(0, half), 8);
    exchangeLists<1>(words, words + 1, less(0, odd), 4);
    exchangeLists<1>(words + 2, words + 3, less(0, odd), 4);
  }

  /// Returns whether gradients of scores are not all stored and others may be beyond the mask.
  static bool skips() {
    return shape.isCausal && !(rows == Rows::Queries && shape.results[3] >= 0);
  }
  /// Return whether the warp has a score that is no term, by its place, and whether a tile has a
  /// score that is a term.
  bool hidesSome(const Part &part) const {
    Index behind = part.first + together;
    bool isBeyond = less(otherCount(), behind);
    if (!shape.isCausal)
      return isBeyond;
    if (rows == Rows::Queries) // the first query sees the fewest keys
      return less(visibleTo(warpRow), behind);
    return less(visibleTo(part.first), warpRow + warpRows) | isBeyond;
  }
  bool seesSome(Index firstOther) const {
    if (rows == Rows::Queries)
      return less(firstOther, visibleTo(warpRow + warpRows - 1));
    return less(warpRow, visibleTo(firstOther + attentionRows - 1));
  }

  typename decltype(first)::Loaded firstLoaded;
  typename decltype(second)::Loaded secondLoaded;
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_TENSORATTENTION_H
