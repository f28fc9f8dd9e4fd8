// reprise: reductions over windows
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Reduction over windows: the dimensions that slide, and their steps.
struct Window {
  explicit Window(Source &s) {
    int64_t rank = s.operandType(0).getRank();
    Integers size = s.integers("window_dimensions"), stride = s.integers("window_strides"),
             padding = s.integers("padding");
    stride.resize(rank, 1);
    padding.resize(2 * rank, 0);
    for (int64_t d = 0; d < rank; ++d) {
      bool slides = size[d] != 1 || stride[d] != 1 || padding[2 * d] || padding[2 * d + 1];
      (slides ? dims : outer).push_back(d);
      if (!slides)
        continue;
      sizes.push_back(size[d]);
      strides.push_back(stride[d]);
      low.push_back(padding[2 * d]);
      high.push_back(padding[2 * d + 1]);
    }
    order = outer;
    order.append(dims);
  }

  /// Makes the part of the sliding dimensions from `first` on; the other dimensions do not slide.
  Window(const Window &whole, size_t first, size_t count) {
    auto part = [&](const Integers &list) { return Integers(ArrayRef(list).slice(first, count)); };
    dims = part(whole.dims);
    sizes = part(whole.sizes);
    strides = part(whole.strides);
    low = part(whole.low);
    high = part(whole.high);
    for (size_t d = 0; d < whole.order.size(); ++d)
      if (!llvm::is_contained(dims, d))
        outer.push_back(d);
    order = outer;
    order.append(dims);
  }

  Integers outer, dims, order; ///< order: the outer dimensions, then the sliding dimensions
  Integers sizes, strides, low, high;
};

/// The outer dimensions as samples of one channel, [n, 1, spatial…].
Value toImage(Builder &b, Value x, const Window &window) {
  x = transpose(b, x, window.order);
  int64_t samples = 1;
  for (size_t d = 0; d < window.outer.size(); ++d)
    samples *= typeOf(x).getDimSize(d);
  Integers shape = {samples, 1};
  llvm::append_range(shape, typeOf(x).getShape().drop_front(window.outer.size()));
  return reshape(b, x, shape);
}

Value fromImage(Builder &b, Value x, const Window &window, RankedTensorType type) {
  Integers shape, inverse(window.order.size());
  for (auto [i, d] : llvm::enumerate(window.order)) {
    shape.push_back(type.getDimSize(d));
    inverse[d] = i;
  }
  return transpose(b, reshape(b, x, shape), inverse);
}

RankedTensorType imageType(Value image, const Window &window, RankedTensorType result) {
  Integers shape = {typeOf(image).getDimSize(0), 1};
  for (int64_t d : window.dims)
    shape.push_back(result.getDimSize(d));
  return result.clone(shape);
}

/// Windows that reach from the first element, or to the last one: a running sum.
std::optional<bool> runsBackward(Source &s, const Window &window) {
  if (window.dims.size() != 1 || window.strides[0] != 1)
    return std::nullopt;
  int64_t size = s.operandType(0).getDimSize(window.dims[0]);
  if (window.sizes[0] != size || window.low[0] + window.high[0] != size - 1)
    return std::nullopt;
  if (window.high[0] == 0)
    return false;
  return window.low[0] == 0 ? std::optional(true) : std::nullopt;
}

/// Combines two tensors as the region does; null if the region is more than elementwise.
Value combineBy(Source &s, StringRef combiner, Value x, Value y) {
  if (Value known = combine(s.b(), combiner, x, y))
    return known;
  Region &region = s.op->getRegion(0);
  if (region.getNumArguments() != 2)
    return {};
  s.importer.lifted = Integers(typeOf(x).getShape());
  Values results = s.importer.importRegion(region, {x, y});
  s.importer.lifted.reset();
  return results.size() == 1 && results[0].getType() == x.getType() ? results[0] : Value();
}

/// A running product or the like, in steps of 1, 2, 4, …
Values runOver(Source &s, StringRef combiner, int64_t dim, bool isBackward) {
  Builder &b = s.b();
  Value x = s.operands[0];
  RankedTensorType type = typeOf(x);
  int64_t size = type.getDimSize(dim);
  for (int64_t shift = 1; shift < size; shift *= 2) {
    auto part = [&](int64_t from, int64_t to) {
      Integers starts(type.getRank(), 0), limits(type.getShape());
      starts[dim] = from;
      limits[dim] = to;
      return slice(b, x, starts, limits, Integers(type.getRank(), 1));
    };
    Value low = part(0, size - shift), high = part(shift, size);
    Value own = isBackward ? part(size - shift, size) : part(0, shift);
    Value both = isBackward ? combineBy(s, combiner, high, low) : combineBy(s, combiner, low, high);
    if (!both)
      return s.refuse("by a function that is more than elementwise");
    Values parts = isBackward ? Values{both, own} : Values{own, both};
    x = ConcatenateOp::create(b, type, parts, dim);
  }
  if (!isIdentity(combiner, s.operands[1]))
    x = combineBy(s, combiner, broadcast(b, s.operands[1], type.getShape(), {}), x);
  return {x};
}

Value poolMaximum(Builder &b, Value x, const Window &window, RankedTensorType result) {
  Value image = toImage(b, x, window);
  RankedTensorType type = imageType(image, window, result);
  auto pool = MaxPoolOp::create(b, type, type.clone(b.getI32Type()), image, window.sizes,
                                window.strides, window.low, window.high);
  return fromImage(b, pool.getResult(), window, result);
}

/// Returns the sum over a window, as a convolution with ones.
Value poolSum(Builder &b, Value x, const Window &window, RankedTensorType result) {
  Value image = toImage(b, x, window);
  Integers filterShape = {1, 1};
  filterShape.append(window.sizes);
  Value ones = splat(b, result.clone(filterShape), 1);
  Value sums =
      ConvolutionOp::create(b, imageType(image, window, result), image, ones, window.strides,
                            window.low, window.high, Integers(window.sizes.size(), 1), 1);
  return fromImage(b, sums, window, result);
}

/// A window of a volume goes along its last two dimensions first.
template <auto pool>
Value poolAlong(Builder &b, Value x, const Window &window, RankedTensorType result) {
  if (window.dims.size() < 3)
    return pool(b, x, window, result);
  Window flat(window, 1, 2), deep(window, 0, 1);
  Integers shape(result.getShape());
  shape[window.dims[0]] = typeOf(x).getDimSize(window.dims[0]);
  return pool(b, pool(b, x, flat, result.clone(shape)), deep, result);
}

bool isDilated(Source &s) {
  auto isOne = [](int64_t step) { return step == 1; };
  return !llvm::all_of(s.integers("base_dilations"), isOne) ||
         !llvm::all_of(s.integers("window_dilations"), isOne);
}

Values importReduceWindow(Source &s) {
  std::string combiner = combinerOf(s.op);
  bool isOrdered = combiner == "maximum" || combiner == "minimum";
  if (s.operands.size() != 2 || (isOrdered && s.isUnsigned(0)))
    return s.refuse("of several operands, or to the largest or least of unsigned integers");
  int64_t rank = s.operandType(0).getRank();
  if (static_cast<int64_t>(s.integers("window_dimensions").size()) != rank ||
      s.type().getRank() != rank)
    return s.refuse("has dimensions out of range");
  Window window(s);
  std::optional<bool> backward = runsBackward(s, window);
  if (backward && combiner != "add")
    return runOver(s, combiner, window.dims[0], *backward);
  if (backward && isIdentity(combiner, s.operands[1]))
    return {CumsumOp::create(s.b(), s.type(), s.operands[0], window.dims[0], *backward)};
  if (combiner != "add" && combiner != "maximum" && combiner != "minimum")
    return s.refuse("by another function than add, maximum or minimum");
  if (!isIdentity(combiner, s.operands[1]))
    return s.refuse("with an initial value that is not neutral");
  if (window.dims.empty())
    return {s.operands[0]};
  if (window.dims.size() > 3 || isDilated(s) || !isFloat(s.operands[0]))
    return s.refuse("over windows of integers, with holes, or along more than three dimensions");
  Value x = s.operands[0];
  if (combiner == "add")
    return {poolAlong<poolSum>(s.b(), x, window, s.type())};
  if (combiner == "maximum")
    return {poolAlong<poolMaximum>(s.b(), x, window, s.type())};
  x = NegOp::create(s.b(), x);
  return {NegOp::create(s.b(), poolAlong<poolMaximum>(s.b(), x, window, s.type()))};
}

} // namespace

void addWindows(Handlers &handlers) {
  handlers["stablehlo.reduce_window"] = {importReduceWindow, Handler::kAny, 1};
}

} // namespace reprise::stablehlo
