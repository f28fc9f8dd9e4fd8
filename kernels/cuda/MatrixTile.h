// reprise: tiles of an operand in shared memory, loaded by a block of threads for tensor cores
#ifndef REPRISE_KERNELS_CUDA_MATRIXTILE_H
#define REPRISE_KERNELS_CUDA_MATRIXTILE_H

#include "ContractionShape.h"
#include "TensorCore.h"

namespace reprise::cuda {

/// Tiles of `rows` rows and Operand::tileTerms() terms, at most `mostTerms`, in stages. Elements
/// beyond the operand are +0. `Operand` tells the shape of the operand, the place of an element in
/// global memory, and whether all rows of each tile exist.
template <typename Element, typename Operand, int rows, int mostTerms, int stages, int threads>
class MatrixTile {
  using Stored = typename Element::Stored;
  static constexpr int bytesPerElement = sizeof(Stored);

public:
  explicit MatrixTile(SHARED char *memory) : shared((SHARED Stored *)memory) {}

  /// Elements of a thread that copies cannot load: they wait in registers for finish().
  struct Loaded {
    Stored elements[rows * mostTerms / threads];
  };

  /// Begins to load the tile with this first row and term of an operand that begins at `first`.
  void start(const GLOBAL void *first, Index row, Index term, Index stage, Loaded &loaded) const {
    const GLOBAL Stored *global = (const GLOBAL Stored *)first;
#pragma unroll
    for (int i = 0; i < unitsPerThread(); ++i) {
      Source source = findSource(global, i, row, term);
      if (!isCopied())
        loaded.elements[i] = source.isInside ? *source.address : Stored(0);
      else if (hasUnit(i))
        copy(i, source, stage);
    }
  }
  /// Writes what start() has loaded.
  void finish(const Loaded &loaded, Index stage) const {
    if (isCopied())
      return;
#pragma unroll
    for (int i = 0; i < unitsPerThread(); ++i)
      if (hasUnit(i))
        shared[placeInShared(i, stage)] = loaded.elements[i];
  }

  /// Reads 16 rows and Element::depth terms of a stage.
  Fragment read(Side side, Index stage, Index row, Index term) const {
    return read(side, shape().alongTerms, stage, row, term);
  }

  /// Reads from the transposed tile as second operand: 16 terms and 16 rows.
  Fragment readTurned(Index stage, Index row, Index term) const {
    return read(Side::Second, !shape().alongTerms, stage, row, term);
  }

private:
  /// Reads from this row and term on. `linesAreRows` tells what the lines are to the fragment.
  Fragment read(Side side, bool linesAreRows, Index stage, Index row, Index term) const {
    bool alongTerms = shape().alongTerms;
    Index firstLine = alongTerms ? row : term, firstColumn = alongTerms ? term : row;
    Index begin = stage * layout().stageElements();
    return Element::read(side, shared, linesAreRows, [&](Index line, Index column) {
      return begin + layout().place(firstLine, line, firstColumn + column);
    });
  }
  static int terms() { return int(Operand::tileTerms()); }
  static const OperandShape &shape() { return Operand::shape(); }
  static TileLayout layout() {
    return TileLayout(rows, terms(), bytesPerElement, stages, shape().alongTerms);
  }
  static Index unit() { return shape().unit; }
  static bool isCopied() { return unit() * bytesPerElement >= 4; }
  static Index unitsPerLine() { return div(layout().length, unit()); }
  static Index units() { return div(rows * terms(), unit()); }
  static Index unitsPerThread() { return div(units() + threads - 1, threads); }
  /// Returns whether the tile has that unit of this thread.
  static bool hasUnit(int number) {
    return (number + 1) * threads <= units() || threadInBlock() < units() - number * threads;
  }

  /// Line of a unit of this thread, and its begin in the line.
  struct Unit {
    Index line, begin;
  };
  static Unit unitOf(int number) {
    Index perLine = unitsPerLine(), own = threadInBlock();
    if (threads % perLine == 0 && units() % threads == 0)
      return {div(own, perLine) + number * div(threads, perLine), rem(own, perLine) * unit()};
    own += number * threads;
    if (units() % threads != 0)
      own = least<Index>(own, units() - 1);
    return {div(own, perLine), rem(own, perLine) * unit()};
  }
  static Index placeInShared(int number, Index stage) {
    Unit unit = unitOf(number);
    return layout().place(0, unit.line, unit.begin) + stage * layout().stageElements();
  }

  struct Source {
    const GLOBAL Stored *address;
    bool isInside;
  };
  /// Finds a unit in global memory. A unit exists with all its elements or not at all; the first
  /// one stands for a missing one.
  static Source findSource(const GLOBAL Stored *global, int number, Index row, Index term) {
    Unit unit = unitOf(number);
    row += shape().alongTerms ? unit.line : unit.begin;
    term += shape().alongTerms ? unit.begin : unit.line;
    bool hasRow = Operand::hasAllRows() || row < shape().rows;
    bool hasTerm = shape().terms % terms() == 0 || term < shape().terms;
    Index place = Operand::place(hasRow ? row : 0, hasTerm ? term : 0);
    return {global + place, hasRow && hasTerm};
  }
  /// Copies a unit. Copies whose elements all exist take no number of bytes to read.
  void copy(int number, const Source &source, Index stage) const {
    SHARED Stored *to = shared + placeInShared(number, stage);
    if (Operand::hasAllRows() && shape().terms % terms() == 0)
      copyAsync(to, source.address, unit() * bytesPerElement);
    else
      copyAsyncIf(source.isInside, to, source.address, unit() * bytesPerElement);
  }

  SHARED Stored *shared;
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_MATRIXTILE_H
