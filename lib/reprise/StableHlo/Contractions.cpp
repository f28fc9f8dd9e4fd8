// reprise: dot products and convolutions of StableHLO
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

constexpr llvm::StringLiteral kDotDims = "dot_dimension_numbers";

/// Reshapes to [batch, free, contracted], one dimension each.
Value toRows(Builder &b, Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting,
             Integers &free) {
  Integers order(batch), shape = {1, 1, 1};
  for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d)) {
      order.push_back(d);
      free.push_back(typeOf(x).getDimSize(d));
      shape[1] *= free.back();
    }
  llvm::append_range(order, contracting);
  for (int64_t d : batch)
    shape[0] *= typeOf(x).getDimSize(d);
  for (int64_t d : contracting)
    shape[2] *= typeOf(x).getDimSize(d);
  return reshape(b, transpose(b, x, order), shape);
}

/// Multiplies integers as products and their sums.
Value multiplyIntegers(Source &s, ArrayRef<int64_t> batch, ArrayRef<int64_t> rightBatch,
                       ArrayRef<int64_t> contracting, ArrayRef<int64_t> rightContracting) {
  Builder &b = s.b();
  Integers leftFree, rightFree;
  Type element = s.type().getElementType();
  Value left = toRows(b, signedOf(s, 0), batch, contracting, leftFree),
        right = toRows(b, signedOf(s, 1), rightBatch, rightContracting, rightFree);
  ArrayRef<int64_t> shape = typeOf(left).getShape();
  Integers all = {shape[0], shape[1], typeOf(right).getDimSize(1), shape[2]};
  left = broadcast(b, convertTo(b, left, element), all, {0, 1, 3});
  right = broadcast(b, convertTo(b, right, element), all, {0, 2, 3});
  Value products = MulOp::create(b, left.getType(), left, right);
  return reshape(b, SumOp::create(b, products, ArrayRef<int64_t>(3)), s.type().getShape());
}

Values importDotGeneral(Source &s) {
  Integers batch = s.integers(kDotDims, "lhs_batching_dimensions"),
           rightBatch = s.integers(kDotDims, "rhs_batching_dimensions"),
           contracting = s.integers(kDotDims, "lhs_contracting_dimensions"),
           rightContracting = s.integers(kDotDims, "rhs_contracting_dimensions");
  Integers left = batch, right = rightBatch;
  left.append(contracting);
  right.append(rightContracting);
  if (!Source::areDims(left, s.operandType(0).getRank()) ||
      !Source::areDims(right, s.operandType(1).getRank()) || batch.size() != rightBatch.size() ||
      contracting.size() != rightContracting.size())
    return s.refuse("has dimensions out of range");
  if (isFloat(s.operands[0]) != isFloat(s.operands[1]) || s.type().getElementType().isInteger(1) ||
      isFloat(s.operands[0]) != isa<FloatType>(s.type().getElementType()))
    return s.refuse("of booleans, or of integers and floats");
  if (!isFloat(s.operands[0]))
    return {multiplyIntegers(s, batch, rightBatch, contracting, rightContracting)};
  return {DotGeneralOp::create(s.b(), s.operands[0], s.operands[1], batch, rightBatch, contracting,
                               rightContracting, s.type().getElementType())};
}

/// Places of the dimensions of one operand of a convolution.
struct Layout {
  Layout(Attribute dims, StringRef first, StringRef second, int64_t spatial) {
    order.resize(spatial + 2, -1);
    auto list = dyn_cast<ArrayAttr>(dims);
    for (auto [d, dim] : llvm::enumerate(list ? list : ArrayAttr::get(dims.getContext(), {}))) {
      auto text = dyn_cast<StringAttr>(dim);
      StringRef word = text ? text.getValue() : "";
      int64_t place = 0;
      if (!word.getAsInteger(10, place))
        place += 2;
      else
        place = word == first ? 0 : word == second ? 1 : -1;
      if (place >= 0 && place < spatial + 2)
        order[place] = d;
    }
  }
  bool isKnown(Value of) const {
    return typeOf(of).getRank() == static_cast<int64_t>(order.size()) &&
           Source::areDims(order, order.size());
  }
  Integers inverse() const {
    Integers result(order.size());
    for (auto [i, d] : llvm::enumerate(order))
      result[d] = i;
    return result;
  }

  Integers order; ///< dimensions in our order: two, then the spatial dimensions
};

Integers orOnes(Integers list, int64_t count) { return list.empty() ? Integers(count, 1) : list; }

/// Zeros between the positions of an image.
Value dilate(Builder &b, Value image, ArrayRef<int64_t> dilation) {
  if (llvm::all_of(dilation, [](int64_t step) { return step == 1; }))
    return image;
  Integers none(dilation.size() + 2, 0), interior(2, 0);
  for (int64_t step : dilation)
    interior.push_back(step - 1);
  return PadOp::create(b, image, b.getFloatAttr(elementOf(image), 0), none, none, interior);
}

/// Slices an image at negative padding, and leaves the positive padding.
Value cutPadding(Builder &b, Value image, Integers &low, Integers &high) {
  Integers above(2, 0), below(2, 0);
  for (auto [from, to] : {std::pair(&low, &above), {&high, &below}})
    for (int64_t &size : *from) {
      to->push_back(std::min<int64_t>(size, 0));
      size = std::max<int64_t>(size, 0);
    }
  if (llvm::all_of(above, [](int64_t size) { return size == 0; }) &&
      llvm::all_of(below, [](int64_t size) { return size == 0; }))
    return image;
  TypedAttr zero = b.getFloatAttr(elementOf(image), 0);
  return pad(b, image, zero, above, below, Integers(above.size(), 0));
}

/// Steps of a filter over an image or a volume.
struct Steps {
  Integers strides, low, high, dilation;
  int64_t groups;

  Value convolve(Builder &b, Value image, Value filter, RankedTensorType type) const {
    if (strides.size() == 3)
      return convolveVolume(b, image, filter, type);
    return ConvolutionOp::create(b, type, image, filter, strides, low, high, dilation, groups);
  }
  Value convolveVolume(Builder &b, Value volume, Value filter, RankedTensorType type) const;
};

/// [n, a, b, …] with the second and the third dimension exchanged.
Value exchange(Builder &b, Value x) { return transpose(b, x, {0, 2, 1, 3, 4}); }

/// Convolves a volume: the filter's depth positions become channels of an image.
Value Steps::convolveVolume(Builder &b, Value volume, Value filter, RankedTensorType type) const {
  TypedAttr zero = b.getFloatAttr(elementOf(volume), 0);
  volume = pad(b, volume, zero, {0, 0, low[0], 0, 0}, {0, 0, high[0], 0, 0}, Integers(5, 0));
  Integers image(typeOf(volume).getShape()), weights(typeOf(filter).getShape()), all(5, 0),
      ends = image, steps(5, 1), result(type.getShape());
  int64_t depth = result[2], samples = image[0] * depth;
  steps[2] = strides[0];
  Values taps;
  for (int64_t tap = 0; tap < weights[2]; ++tap) {
    all[2] = tap * dilation[0];
    ends[2] = all[2] + (depth - 1) * strides[0] + 1;
    Value met = exchange(b, slice(b, volume, all, ends, steps));
    taps.push_back(reshape(b, met, {samples, image[1], 1, image[3], image[4]}));
  }
  RankedTensorType stacked = type.clone({samples, image[1], weights[2], image[3], image[4]});
  Value images = ConcatenateOp::create(b, stacked, taps, 2);
  images = reshape(b, images, {samples, image[1] * weights[2], image[3], image[4]});
  filter = reshape(b, filter, {weights[0], weights[1] * weights[2], weights[3], weights[4]});
  auto rest = [](const Integers &list) { return Integers(llvm::drop_begin(list)); };
  Steps flat = {rest(strides), rest(low), rest(high), rest(dilation), groups};
  Value flatResult =
      flat.convolve(b, images, filter, type.clone({samples, result[1], result[3], result[4]}));
  return exchange(b, reshape(b, flatResult, {image[0], depth, result[1], result[3], result[4]}));
}

Values buildConvolution(Source &s, ArrayAttr dims, int64_t spatial) {
  Builder &b = s.b();
  Layout image(dims[0], "b", "f", spatial), filter(dims[1], "o", "i", spatial),
      output(dims[2], "b", "f", spatial);
  if (!image.isKnown(s.operands[0]) || !filter.isKnown(s.operands[1]) ||
      !Source::areDims(output.order, output.order.size()))
    return s.refuse("with unknown dimensions");
  Value left = transpose(b, s.operands[0], image.order);
  left = dilate(b, left, orOnes(s.integers("lhs_dilation"), spatial));
  Value right = transpose(b, s.operands[1], filter.order);
  for (auto [d, isReversed] : llvm::enumerate(s.integers("window_reversal")))
    if (isReversed && static_cast<int64_t>(d) < spatial)
      right = reverse(b, right, d + 2);
  Integers padding = s.integers("padding"), low, high;
  padding.resize(2 * spatial, 0);
  for (int64_t d = 0; d < spatial; ++d) {
    low.push_back(padding[2 * d]);
    high.push_back(padding[2 * d + 1]);
  }
  left = cutPadding(b, left, low, high);
  Integers shape;
  for (int64_t d : output.order)
    shape.push_back(s.type().getDimSize(d));
  Steps steps = {orOnes(s.integers("window_strides"), spatial), low, high,
                 orOnes(s.integers("rhs_dilation"), spatial), s.integer("feature_group_count", 1)};
  Value result = steps.convolve(b, left, right, s.type().clone(shape));
  return {transpose(b, result, output.inverse())};
}

Values importConvolution(Source &s) {
  auto dims = s.op->getAttrOfType<ArrayAttr>("dimension_numbers");
  int64_t spatial = s.type().getRank() - 2;
  if (!dims || dims.size() != 3)
    return s.refuse("with unknown dimensions");
  if (spatial < 1 || spatial > 3)
    return s.refuse("with another number of spatial dimensions than 1, 2 or 3");
  if (s.integer("batch_group_count", 1) != 1)
    return s.refuse("with batch_group_count other than 1");
  if (elementOf(s.operands[0]) != s.type().getElementType())
    return s.refuse("with a result of another type");
  return buildConvolution(s, dims, spatial);
}

} // namespace

void addContractions(Handlers &handlers) {
  handlers["stablehlo.dot_general"] = {importDotGeneral, 2};
  handlers["stablehlo.convolution"] = {importConvolution, 2};
}

} // namespace reprise::stablehlo
