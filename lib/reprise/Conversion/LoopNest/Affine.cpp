// reprise: affine functions of the symbols of a loop nest
#include "Affine.h"

#include "llvm/ADT/STLExtras.h"

namespace reprise::nests {

Affine Affine::constant(int64_t value) { return {{value}}; }
Affine Affine::symbol(unsigned number) { return {{0, {{number, 1}}}}; }

Affine Affine::operator+(const Affine &other) const {
  Affine sum{{offset + other.offset}};
  auto a = terms.begin(), b = other.terms.begin();
  while (a != terms.end() || b != other.terms.end()) {
    if (b == other.terms.end() || (a != terms.end() && a->first < b->first)) {
      sum.terms.push_back(*a++);
    } else if (a == terms.end() || b->first < a->first) {
      sum.terms.push_back(*b++);
    } else {
      if (int64_t coefficient = a->second + b->second)
        sum.terms.push_back({a->first, coefficient});
      ++a, ++b;
    }
  }
  return sum;
}

Affine Affine::operator*(int64_t factor) const {
  if (factor == 0)
    return {};
  Affine product{{offset * factor, terms}};
  for (auto &term : product.terms)
    term.second *= factor;
  return product;
}

Affine Affine::operator+(int64_t value) const { return {{offset + value, terms}}; }

bool Affine::operator<(const Affine &other) const {
  if (offset != other.offset)
    return offset < other.offset;
  return std::lexicographical_compare(terms.begin(), terms.end(), other.terms.begin(),
                                      other.terms.end());
}

Affine Affine::substitute(unsigned number, const Affine &value) const {
  int64_t factor = coefficient(number);
  if (factor == 0)
    return *this;
  Affine rest{{offset}};
  llvm::copy_if(terms, std::back_inserter(rest.terms),
                [&](auto term) { return term.first != number; });
  return rest + value * factor;
}

/// The terms of `rest` that count whole strides, divided by the stride, leave `rest`.
static Affine takeMultiples(Affine &rest, int64_t stride) {
  Affine quotient, remainder;
  quotient.offset = rest.offset / stride;
  remainder.offset = rest.offset % stride;
  for (auto [symbol, coefficient] : rest.terms) {
    if (coefficient % stride == 0)
      quotient.terms.push_back({symbol, coefficient / stride});
    else
      remainder.terms.push_back({symbol, coefficient});
  }
  rest = remainder;
  return quotient;
}

/// Finds the symbol to split so that `rest` stays below `stride`: that of its largest term.
static std::optional<Split> findSplit(const Affine &rest, int64_t stride,
                                      llvm::ArrayRef<int64_t> sizes) {
  std::optional<Split> split;
  int64_t largest = 0;
  for (auto [symbol, coefficient] : rest.terms) {
    int64_t reach = coefficient * (sizes[symbol] - 1);
    if (reach <= largest)
      continue;
    largest = reach;
    split.reset();
    if (stride % coefficient == 0 && sizes[symbol] % (stride / coefficient) == 0 &&
        stride / coefficient < sizes[symbol])
      split = Split{symbol, stride / coefficient};
  }
  return split;
}

std::optional<llvm::SmallVector<Affine>> delinearize(const Affine &position,
                                                     llvm::ArrayRef<int64_t> shape,
                                                     llvm::ArrayRef<int64_t> sizes,
                                                     std::optional<Split> &split) {
  split.reset();
  llvm::SmallVector<Affine> index;
  Affine rest = position;
  for (auto [size, stride] : llvm::zip_equal(shape, rowMajorStrides(shape))) {
    if (size == 1) {
      index.push_back({});
      continue;
    }
    index.push_back(takeMultiples(rest, stride));
    int64_t highest = rest.offset;
    for (auto [symbol, coefficient] : rest.terms) {
      if (coefficient < 0)
        return std::nullopt;
      highest += coefficient * (sizes[symbol] - 1);
    }
    if (rest.offset < 0)
      return std::nullopt;
    if (highest >= stride) {
      split = findSplit(rest, stride, sizes);
      return std::nullopt;
    }
  }
  return index;
}

} // namespace reprise::nests
