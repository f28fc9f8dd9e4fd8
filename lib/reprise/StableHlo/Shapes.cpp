// reprise: data movement of StableHLO
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {

Value slice(Builder &b, Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
            ArrayRef<int64_t> strides) {
  Integers sizes;
  for (auto [start, limit, stride] : llvm::zip(starts, limits, strides))
    sizes.push_back(llvm::divideCeil(std::max<int64_t>(limit - start, 0), stride));
  return SliceOp::create(b, typeOf(value).clone(sizes), value, starts, limits, strides);
}

Value joinStarts(Builder &b, ArrayRef<Value> starts) {
  Values scalars;
  for (Value start : starts)
    scalars.push_back(reshape(b, start, {1}));
  auto type = RankedTensorType::get({static_cast<int64_t>(starts.size())}, elementOf(starts[0]));
  return ConcatenateOp::create(b, type, scalars, 0);
}

std::optional<Integers> constantStarts(ArrayRef<Value> starts, ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> sizes) {
  Integers numbers;
  for (auto [start, size, window] : llvm::zip(starts, shape, sizes)) {
    std::optional<int64_t> number = constantInteger(start);
    if (!number && size != window)
      return std::nullopt;
    numbers.push_back(size == window ? 0 : std::clamp<int64_t>(*number, 0, size - window));
  }
  return numbers;
}

namespace {

constexpr llvm::StringLiteral kNoDims = "has dimensions out of range";

Values importReshape(Source &s) {
  if (s.type().getNumElements() != s.operandType(0).getNumElements())
    return s.refuse(kNoDims);
  return {reshape(s.b(), s.operands[0], s.type().getShape())};
}

Values importBroadcast(Source &s) {
  Integers dims = s.integers("broadcast_dimensions");
  RankedTensorType from = s.operandType(0), to = s.type();
  bool fits =
      static_cast<int64_t>(dims.size()) == from.getRank() && Source::areDims(dims, to.getRank());
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = from.getDimSize(d) == 1 || from.getDimSize(d) == to.getDimSize(dims[d]);
  if (!fits)
    return s.refuse(kNoDims);
  return {broadcast(s.b(), s.operands[0], s.type().getShape(), s.integers("broadcast_dimensions"))};
}

Values importTranspose(Source &s) {
  Integers permutation = s.integers("permutation");
  int64_t rank = s.type().getRank();
  if (static_cast<int64_t>(permutation.size()) != rank || !Source::areDims(permutation, rank))
    return s.refuse(kNoDims);
  return {transpose(s.b(), s.operands[0], permutation)};
}

Values importSlice(Source &s) {
  Integers starts = s.integers("start_indices"), limits = s.integers("limit_indices"),
           strides = s.integers("strides");
  size_t rank = s.operandType(0).getRank();
  bool fits = starts.size() == rank && limits.size() == rank && strides.size() == rank;
  for (size_t d = 0; fits && d < rank; ++d)
    fits = strides[d] > 0 && starts[d] >= 0 && starts[d] <= limits[d] &&
           limits[d] <= s.operandType(0).getDimSize(d);
  if (!fits)
    return s.refuse(kNoDims);
  return {slice(s.b(), s.operands[0], starts, limits, strides)};
}

/// Returns whether there is one integer per dimension, and whether windows fit.
bool areStarts(ArrayRef<Value> starts, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  bool fits = starts.size() == shape.size() && sizes.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = sizes[d] >= 0 && sizes[d] <= shape[d] && typeOf(starts[d]).getRank() == 0 &&
           !isFloat(starts[d]) && starts[d].getType() == starts[0].getType();
  return fits;
}

Values importDynamicSlice(Source &s) {
  Builder &b = s.b();
  ArrayRef<Value> starts = ArrayRef(s.operands).drop_front();
  ArrayRef<int64_t> shape = s.operandType(0).getShape(), sizes = s.type().getShape();
  if (!areStarts(starts, shape, sizes))
    return s.refuse(kNoDims);
  if (starts.empty())
    return {s.operands[0]};
  if (std::optional<Integers> known = constantStarts(starts, shape, sizes)) {
    Integers limits;
    for (auto [start, size] : llvm::zip(*known, sizes))
      limits.push_back(start + size);
    return {slice(b, s.operands[0], *known, limits, Integers(sizes.size(), 1))};
  }
  if (Value row = readRow(s.importer, s.operands[0], starts, sizes))
    return {reshape(b, row, sizes)};
  return {DynamicSliceOp::create(b, s.type(), s.operands[0], joinStarts(b, starts))};
}

Values importDynamicUpdate(Source &s) {
  ArrayRef<Value> starts = ArrayRef(s.operands).drop_front(std::min<size_t>(2, s.operands.size()));
  if (s.operands.size() < 2 || s.type() != s.operandType(0) ||
      !areStarts(starts, s.type().getShape(), s.operandType(1).getShape()))
    return s.refuse(kNoDims);
  if (starts.empty())
    return {s.operands[1]};
  auto update = DynamicUpdateOp::create(s.b(), s.type(), s.operands[0], s.operands[1],
                                        joinStarts(s.b(), starts));
  noteRowWrite(s.importer, update, starts);
  return {update.getResult()};
}

/// Negative padding cuts off.
Values importPad(Source &s) {
  Builder &b = s.b();
  Integers low = s.integers("edge_padding_low"), high = s.integers("edge_padding_high");
  std::optional<APFloat> number = constantFloat(s.operands[1]);
  std::optional<int64_t> integer = constantInteger(s.operands[1]);
  Integers interior = s.integers("interior_padding");
  size_t rank = s.operandType(0).getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank ||
      s.type().getShape().size() != rank || elementOf(s.operands[1]) != s.type().getElementType())
    return s.refuse(kNoDims);
  Type element = s.type().getElementType();
  TypedAttr value = number    ? TypedAttr(b.getFloatAttr(element, *number))
                    : integer ? TypedAttr(b.getIntegerAttr(element, *integer))
                              : b.getZeroAttr(element);
  Value padded = pad(b, s.operands[0], value, low, high, interior);
  if (number || integer || padded.getType() != s.type())
    return {padded};
  // A mask marks the computed numbers.
  Value ones = splatInteger(b, s.operandType(0).clone(b.getI1Type()), 1);
  Value isInside = pad(b, ones, b.getBoolAttr(false), low, high, interior);
  Value outside = broadcast(b, s.operands[1], s.type().getShape(), {});
  return {select(b, isInside, padded, outside)};
}

Values importConcatenate(Source &s) {
  int64_t dim = s.integer("dimension", 0);
  if (!Source::areDims(dim, s.type().getRank()))
    return s.refuse(kNoDims);
  return {ConcatenateOp::create(s.b(), s.type(), s.operands, dim)};
}

Values importReverse(Source &s) {
  Value x = s.operands[0];
  Integers dims = s.integers("dimensions");
  if (!Source::areDims(dims, s.type().getRank()) || s.type() != x.getType())
    return s.refuse(kNoDims);
  for (int64_t dim : dims)
    x = reverse(s.b(), x, dim);
  return {x};
}

} // namespace

Value reverse(Builder &b, Value x, int64_t dim) {
  int64_t size = typeOf(x).getDimSize(dim);
  Integers front = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  std::swap(front[0], front[dim]);
  Value rows = transpose(b, x, front), count = countFrom(b, size, b.getI32Type());
  Value last = splatInteger(b, typeOf(count), size - 1);
  Value indices = SubOp::create(b, count.getType(), last, count);
  return transpose(b, GatherOp::create(b, rows.getType(), rows, indices), front);
}

Value pad(Builder &b, Value x, TypedAttr with, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
          ArrayRef<int64_t> interior) {
  Integers above, below, starts, limits;
  bool isCut = false;
  for (auto [l, h, i, size] : llvm::zip(low, high, interior, typeOf(x).getShape())) {
    above.push_back(std::max<int64_t>(l, 0));
    below.push_back(std::max<int64_t>(h, 0));
    starts.push_back(std::max<int64_t>(-l, 0));
    limits.push_back(above.back() + size + std::max<int64_t>(size - 1, 0) * i + below.back() -
                     std::max<int64_t>(-h, 0));
    isCut |= l < 0 || h < 0;
  }
  Value padded = PadOp::create(b, x, with, above, below, interior);
  return isCut ? slice(b, padded, starts, limits, Integers(starts.size(), 1)) : padded;
}

void addShapes(Handlers &handlers) {
  auto add = [&](StringRef name, Handler handler) {
    handlers["stablehlo." + name.str()] = handler;
  };
  add("reshape", {importReshape, 1});
  add("broadcast_in_dim", {importBroadcast, 1});
  add("transpose", {importTranspose, 1});
  add("slice", {importSlice, 1});
  add("dynamic_slice", {importDynamicSlice});
  add("dynamic_update_slice", {importDynamicUpdate});
  add("pad", {importPad, 2});
  add("concatenate", {importConcatenate});
  add("reverse", {importReverse, 1});
}

} // namespace reprise::stablehlo
