// reprise: rows of contractions side by side, in the canonical order.
#ifndef REPRISE_LIB_REFERENCE_CHAINS_H
#define REPRISE_LIB_REFERENCE_CHAINS_H

#include "reprise/Reference/Order.h"

namespace reprise::reference {

/// Computes sums[j] = fma(x, row[j], sums[j]).
template <typename T> void addRow(T x, const T *row, T *__restrict sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    sums[j] = std::fma(x, row[j], sums[j]);
}

#ifdef __x86_64__
/// Computes addRow with the fma instruction; without the instruction each fma is a call.
template <typename T>
__attribute__((target("avx2,fma"))) void addRowInline(T x, const T *row, T *__restrict sums,
                                                      int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    sums[j] = std::fma(x, row[j], sums[j]);
}
#endif

template <typename T> auto chooseAddRow() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return addRowInline<T>;
#endif
  return addRow<T>;
}

/// Appends results[j] = Σ_k left[k] · right[k][j]: `contract` for n results side by side.
template <typename T>
void contractRow(int64_t size, int64_t n, const T *left, const T *right, std::vector<T> &results) {
  static const auto add = chooseAddRow<T>();
  std::vector<std::vector<T>> parts;
  for (int64_t begin = 0; begin < size; begin += chainBlock) {
    std::vector<T> &part = parts.emplace_back(n, T(0));
    for (int64_t k = begin; k < std::min(size, begin + chainBlock); ++k)
      add(left[k], right + k * n, part.data(), n);
  }
  for (int64_t j = 0; j < n; ++j) {
    std::vector<T> column;
    for (const std::vector<T> &part : parts)
      column.push_back(part[j]);
    results.push_back(foldTree(std::move(column), T(0), reference::add<T>));
  }
}

} // namespace reprise::reference

#endif
