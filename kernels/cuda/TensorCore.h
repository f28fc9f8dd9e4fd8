// reprise: products of small matrices on the tensor cores of a GPU
//
// A warp computes them together. An operand is 16 rows and `depth` terms, of which a lane has a
// fragment. As the second operand its rows are columns of the result.
#ifndef REPRISE_KERNELS_CUDA_TENSORCORE_H
#define REPRISE_KERNELS_CUDA_TENSORCORE_H

#include "Device.h"

namespace reprise::cuda {

/// Registers of a lane. In the first operand the first and the third have rows 0 to 7. In the
/// second one the first and the second have columns 0 to 7: neighbours, as instructions ask.
struct Fragment {
  unsigned words[4];
};
/// Sums of a lane in 16 rows and eight columns: two neighbours in each of two rows.
struct Sums {
  float of[4];
};
enum class Side { First, Second };

/// Row of eight of a lane in an operand and in sums, and its number of four in the row.
inline Index laneGroup() { return div(laneInWarp(), 4); }
inline Index laneMember() { return rem(laneInWarp(), 4); }

/// Reads four matrices of 8 × 8: each group of eight lanes gives the addresses of the eight lines
/// of a matrix.
template <bool isTransposed> Fragment readMatrices(const SHARED void *line) {
  Fragment f;
  unsigned (&w)[4] = f.words;
  if constexpr (isTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(line));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(line));
  return f;
}

/// Elements of 16 bits. `read` finds the place of an element of a line by `at(line, column)`.
struct Half {
  using Stored = uint16_t;
  static constexpr int depth = 16;

  template <typename At>
  static Fragment read(Side side, const SHARED Stored *memory, bool isByRows, At at) {
    Index lane = laneInWarp(), inMatrix = rem(lane, 8);
    Index odd = rem(div(lane, 8), 2) * 8, second = div(lane, 16) * 8;
    bool isOddByLine = isByRows == (side == Side::First);
    Index line = inMatrix + (isOddByLine ? odd : second), column = isOddByLine ? second : odd;
    const SHARED Stored *from = memory + at(line, column);
    return isByRows ? readMatrices<false>(from) : readMatrices<true>(from);
  }
};

#define REPRISE_MMA(instruction)                                                                   \
  asm(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
      : "+f"(sums.of[0]), "+f"(sums.of[1]), "+f"(sums.of[2]), "+f"(sums.of[3])                     \
      : "r"(lhs.words[0]), "r"(lhs.words[1]), "r"(lhs.words[2]), "r"(lhs.words[3]), "r"(low),      \
        "r"(high))

struct Bf16 : Half {
  static void multiply(const Fragment &lhs, unsigned low, unsigned high, Sums &sums) {
    REPRISE_MMA("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  }
  static unsigned pack(float low, float high) {
    return __builtin_bit_cast(unsigned, __nvvm_ff2bf16x2_rn(high, low));
  }
};

struct F16 : Half {
  static void multiply(const Fragment &lhs, unsigned low, unsigned high, Sums &sums) {
    REPRISE_MMA("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  }
  static unsigned pack(float low, float high) {
    return __builtin_bit_cast(unsigned, __nvvm_ff2f16x2_rn(high, low));
  }
};

/// Floats of 32 bits, which are rounded to TF32, to nearest with ties away from zero.
struct Tf32 {
  using Stored = float;
  static constexpr int depth = 8;

  template <typename At>
  static Fragment read(Side side, const SHARED Stored *memory, bool isByRows, At at) {
    Fragment f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int lower = side == Side::First ? i % 2 : i / 2, later = side == Side::First ? i / 2 : i % 2;
      Index row = laneGroup() + lower * 8, term = laneMember() + later * 4;
      f.words[i] = __nvvm_f2tf32_rna(memory[isByRows ? at(row, term) : at(term, row)]);
    }
    return f;
  }
  static void multiply(const Fragment &lhs, unsigned low, unsigned high, Sums &sums) {
    REPRISE_MMA("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
  }
};

#undef REPRISE_MMA

/// Rounds the sums of two adjacent products to a first operand of 16-bit floats.
template <typename Element> Fragment roundSums(const Sums &left, const Sums &right) {
  return {{Element::pack(left.of[0], left.of[1]), Element::pack(left.of[2], left.of[3]),
           Element::pack(right.of[0], right.of[1]), Element::pack(right.of[2], right.of[3])}};
}

/// Adds the products of rows of `lhs` and columns of `rhs`, eight columns at a time.
template <typename Element, int rows, int columns>
void multiplyAll(const Fragment (&lhs)[rows], const Fragment (&rhs)[columns],
                 Sums (&sums)[rows][2 * columns]) {
#pragma unroll
  for (int i = 0; i < rows; ++i)
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      Element::multiply(lhs[i], rhs[j].words[0], rhs[j].words[1], sums[i][2 * j]);
      Element::multiply(lhs[i], rhs[j].words[2], rhs[j].words[3], sums[i][2 * j + 1]);
    }
}

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_TENSORCORE_H
