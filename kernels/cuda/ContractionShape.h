// reprise: shape of a contraction on tensor cores, which the compiler writes and the kernel reads
//
// The kernel sees a ContractionShape as a constant, so that the compiler of the kernel folds it:
// no test of it is left in the code that a GPU runs.
#ifndef REPRISE_KERNELS_CUDA_CONTRACTIONSHAPE_H
#define REPRISE_KERNELS_CUDA_CONTRACTIONSHAPE_H

#include <stdint.h>

namespace reprise::cuda {

/// Operand of a contraction: `rows` × `terms` elements.
struct OperandShape {
  int64_t rows, terms;
  int64_t alongTerms; ///< 1 if neighbours in global memory are terms, 0 if they are rows
  int64_t unit;       ///< neighbours that a thread moves at once
};

/// Numbers that differ from launch to launch.
struct ContractionShape {
  OperandShape lhs, rhs;
  int64_t storeWidth; ///< neighbours of a row that store_row() gets together: 2 or 4
};

/// The tile of a block: its first row and column, and the first ones that the block stores.
struct TilePlace {
  int64_t batch, row, ownedRow, column, ownedColumn;
};

/// Partition of a block's tile among its warps.
struct WarpGrid {
  int down, across, rows, columns; ///< numbers of warps, and the size of each part

  constexpr WarpGrid(int tileRows, int tileColumns, int warps)
      : down(warps == 8 && tileRows > tileColumns ? 4 : 2), across(warps / down),
        rows(tileRows / down), columns(tileColumns / across) {}
  constexpr bool isWide() const { return rows >= 16 && columns >= 16; }
};

/// Layout of a tile's stages in shared memory. Lines run along the dimension that is dense in
/// global memory. Eight lines that ldmatrix reads lie in different banks: lines are padded, or
/// groups of eight elements are permuted in their line (xor of their numbers).
struct TileLayout {
  int lines, length; ///< lines of a stage, and elements of a line
  int elementBytes, stages;

  constexpr TileLayout(int rows, int terms, int elementBytes, int stages, bool alongTerms)
      : lines(alongTerms ? rows : terms), length(alongTerms ? terms : rows),
        elementBytes(elementBytes), stages(stages), alongTerms(alongTerms) {}

  /// Returns whether lines are swizzled. A gap costs memory, which three stages do not leave; a
  /// swizzle costs registers for addresses.
  constexpr bool isSwizzled() const {
    int chunks = length / chunk;
    return stages > 2 && elementBytes == 2 && (chunks & (chunks - 1)) == 0;
  }
  /// Returns the elements from one line to the next.
  constexpr int pitch() const {
    if (isSwizzled())
      return length;
    return length + (elementBytes == 2 || !alongTerms ? 8 : 4);
  }
  constexpr int stageElements() const { return lines * pitch(); }
  constexpr int bytes() const { return stages * stageElements() * elementBytes; }

  /// Returns the index of an element within its stage. `firstLine` is a multiple of eight.
  constexpr int64_t place(int64_t firstLine, int64_t line, int64_t column) const {
    int64_t start = (firstLine + line) * pitch();
    if (!isSwizzled())
      return start + column;
    // Eight lines use all banks once if lines that share banks have different numbers.
    unsigned chunks = length / chunk < 8 ? length / chunk : 8, together = 8 / chunks;
    uint64_t number = uint64_t(line) / together % chunks, own = uint64_t(column) / chunk;
    return start + int64_t((own ^ number) * chunk + uint64_t(column) % chunk);
  }

private:
  static constexpr int chunk = 8; ///< elements of 16 bytes
  bool alongTerms;
};

/// Stages of the pipeline, and terms of a stage: 64 bytes of each row.
constexpr int stagesOf(int elementBytes) { return elementBytes == 2 ? 3 : 2; }
constexpr int stageTermsOf(int elementBytes) { return 64 / elementBytes; }

/// Returns the layout of an operand with `tileRows` rows in a block's tile.
constexpr TileLayout layoutOf(const OperandShape &shape, int tileRows, int elementBytes) {
  return TileLayout(tileRows, stageTermsOf(elementBytes), elementBytes, stagesOf(elementBytes),
                    shape.alongTerms != 0);
}

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_CONTRACTIONSHAPE_H
