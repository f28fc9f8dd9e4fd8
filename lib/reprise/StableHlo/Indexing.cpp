// reprise: gather and scatter of StableHLO, as rows of a table
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

Value add(Builder &b, Value x, Value y) { return AddOp::create(b, x.getType(), x, y); }
Value scale(Builder &b, Value x, int64_t factor) {
  return MulOp::create(b, x.getType(), x, splatInteger(b, typeOf(x), factor));
}

/// Attributes of gather and scatter about an operand and its positions. Dimensions of the operand
/// that are indexed, by one position or a window, are `keys`; the others are whole.
struct Lookup {
  Lookup(Source &s, StringRef numbers, StringRef window, StringRef collapsed, StringRef batching,
         StringRef indexBatching, StringRef map)
      : operand(s.operandType(0).getShape()), starts(s.operandType(1).getShape()),
        windowDims(s.integers(numbers, window)), collapsed(s.integers(numbers, collapsed)),
        batching(s.integers(numbers, batching)), indexBatching(s.integers(numbers, indexBatching)),
        map(s.integers(numbers, map)), vectorDim(operandVectorDim(s, numbers)) {}

  static int64_t operandVectorDim(Source &s, StringRef numbers) {
    auto fields = s.op->getAttrOfType<DictionaryAttr>(numbers);
    auto dim = fields ? fields.getAs<IntegerAttr>("index_vector_dim") : IntegerAttr();
    return dim ? dim.getInt() : 0;
  }

  /// Finds the dimensions that are keys, for windows of `sizes`.
  void split() {
    for (int64_t d = 0; d < static_cast<int64_t>(operand.size()); ++d) {
      bool isKey = llvm::is_contained(batching, d) || llvm::is_contained(collapsed, d) ||
                   sizes[d] != operand[d];
      (isKey ? keys : whole).push_back(d);
    }
  }

  /// Returns whether all attributes are consistent, for a result or updates of `rank` dimensions.
  bool isKnown(int64_t rank) const {
    int64_t dims = operand.size(), indexRank = starts.size();
    Integers gone = collapsed, counted = indexBatching;
    gone.append(batching);
    counted.push_back(vectorDim);
    bool isKnown = Source::areDims(gone, dims) && Source::areDims(map, dims) &&
                   Source::areDims(counted, indexRank + 1) && Source::areDims(windowDims, rank) &&
                   batching.size() == indexBatching.size() &&
                   static_cast<int64_t>(sizes.size()) == dims &&
                   dims - gone.size() == windowDims.size();
    if (!isKnown || rank != static_cast<int64_t>(batchShape().size() + windowDims.size()))
      return false;
    int64_t components = vectorDim == indexRank ? 1 : starts[vectorDim];
    isKnown = static_cast<int64_t>(map.size()) == components;
    for (auto [d, index] : llvm::zip(batching, indexBatching))
      isKnown &= index < indexRank && operand[d] == starts[index];
    for (auto [d, size] : llvm::enumerate(sizes))
      isKnown &= size <= operand[d] && size >= (isWindow(d) ? 0 : 1) && (isWindow(d) || size == 1);
    return isKnown;
  }

  /// Returns whether the dimensions of updates other than windows are those of the positions.
  bool batchFits(RankedTensorType updates) const {
    Integers shape;
    for (int64_t d = 0; d < updates.getRank(); ++d)
      if (!llvm::is_contained(windowDims, d))
        shape.push_back(updates.getDimSize(d));
    return shape == batchShape();
  }

  bool isWindow(int64_t d) const {
    return !llvm::is_contained(batching, d) && !llvm::is_contained(collapsed, d);
  }

  /// The shape of the positions without the dimension that counts an index's components.
  Integers batchShape() const {
    Integers shape(starts);
    if (vectorDim < static_cast<int64_t>(shape.size()))
      shape.erase(shape.begin() + vectorDim);
    return shape;
  }

  /// Returns the shape of the grid of positions: the batch, then the windows of keys.
  Integers gridShape() const {
    Integers shape = batchShape();
    for (int64_t d : keys)
      if (isWindow(d))
        shape.push_back(sizes[d]);
    return shape;
  }

  Integers operand, starts, windowDims, collapsed, batching, indexBatching, map;
  int64_t vectorDim;
  Integers sizes, keys, whole;
};

/// Component `i` of all indices, over the batch.
Value component(Builder &b, Value indices, const Lookup &lookup, int64_t i) {
  if (lookup.vectorDim == typeOf(indices).getRank())
    return indices;
  Integers starts(typeOf(indices).getRank(), 0), limits(typeOf(indices).getShape());
  starts[lookup.vectorDim] = i;
  limits[lookup.vectorDim] = i + 1;
  Value part = slice(b, indices, starts, limits, Integers(starts.size(), 1));
  return reshape(b, part, lookup.batchShape());
}

/// The start along key `d`, on the grid.
Value keyPosition(Builder &b, Value indices, const Lookup &lookup, int64_t d) {
  Integers shape = lookup.gridShape();
  Type element = elementOf(indices);
  Integers batchDims = llvm::to_vector(llvm::seq<int64_t>(0, lookup.batchShape().size()));
  if (auto *at = llvm::find(lookup.batching, d); at != lookup.batching.end()) {
    int64_t dim = lookup.indexBatching[at - lookup.batching.begin()];
    dim -= dim > lookup.vectorDim;
    return IotaOp::create(b, RankedTensorType::get(shape, element), dim);
  }
  if (auto *at = llvm::find(lookup.map, d); at != lookup.map.end())
    return broadcast(b, component(b, indices, lookup, at - lookup.map.begin()), shape, batchDims);
  return splatInteger(b, RankedTensorType::get(shape, element), 0);
}

/// Returns the start of a window, clamped so that it lies inside, plus the place in the window.
Value placeWindow(Builder &b, Value start, const Lookup &lookup, int64_t d, bool clamps,
                  int64_t &grid) {
  if (clamps) {
    start = maximum(b, start, splatInteger(b, typeOf(start), 0));
    start = minimum(b, start, splatInteger(b, typeOf(start), lookup.operand[d] - lookup.sizes[d]));
  }
  if (!lookup.isWindow(d))
    return start;
  int64_t dim = grid++;
  return add(b, start, IotaOp::create(b, typeOf(start), dim));
}

/// Returns the row of each position in the table whose rows are all keys; `isInside` receives
/// whether the row exists.
Value rowsOf(Builder &b, Value indices, const Lookup &lookup, Value *isInside) {
  Value rows;
  int64_t grid = lookup.batchShape().size();
  for (int64_t d : lookup.keys) {
    Value position = keyPosition(b, indices, lookup, d);
    if (!llvm::is_contained(lookup.batching, d))
      position = placeWindow(b, position, lookup, d, !isInside, grid);
    if (isInside) {
      Value above =
          compare(b, ComparePredicate::ge, position, splatInteger(b, typeOf(position), 0));
      Value below = compare(b, ComparePredicate::lt, position,
                            splatInteger(b, typeOf(position), lookup.operand[d]));
      Value both = AndOp::create(b, above.getType(), above, below);
      *isInside = *isInside ? AndOp::create(b, both.getType(), *isInside, both).getResult() : both;
    }
    rows = rows ? add(b, scale(b, rows, lookup.operand[d]), position) : position;
  }
  return rows;
}

/// The operand as a table of rows, [keys, whole…].
Value toTable(Builder &b, Value operand, const Lookup &lookup) {
  Integers order = lookup.keys, shape = {1};
  order.append(lookup.whole);
  for (int64_t d : lookup.keys)
    shape[0] *= lookup.operand[d];
  for (int64_t d : lookup.whole)
    shape.push_back(lookup.operand[d]);
  return reshape(b, transpose(b, operand, order), shape);
}

/// Returns, for each dimension of [grid…, whole…], the dimension of the result of a gather, or of
/// updates.
Integers placesOf(const Lookup &lookup) {
  Integers places, windows;
  int64_t rank = lookup.batchShape().size() + lookup.windowDims.size();
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(lookup.windowDims, d))
      places.push_back(d);
  // The dimensions of the operand that windows have, ascending.
  for (int64_t d = 0; d < static_cast<int64_t>(lookup.operand.size()); ++d)
    if (lookup.isWindow(d))
      windows.push_back(d);
  auto place = [&](int64_t d) {
    return lookup.windowDims[llvm::find(windows, d) - windows.begin()];
  };
  for (int64_t d : lookup.keys)
    if (lookup.isWindow(d))
      places.push_back(place(d));
  for (int64_t d : lookup.whole)
    places.push_back(place(d));
  return places;
}

Integers inverseOf(ArrayRef<int64_t> permutation) {
  Integers inverse(permutation.size());
  for (auto [i, d] : llvm::enumerate(permutation))
    inverse[d] = i;
  return inverse;
}

/// Imports jnp.take_along_axis: all dimensions but one are batches, with one element per row.
Values takeAlong(Source &s, const Lookup &lookup) {
  Builder &b = s.b();
  Integers order = lookup.batching;
  order.push_back(lookup.map[0]);
  Value indices = component(b, s.operands[1], lookup, 0);
  Integers moved;
  for (int64_t dim : lookup.indexBatching)
    moved.push_back(dim - (dim > lookup.vectorDim));
  int64_t batches = moved.size(), count = 1;
  for (int64_t d = 0; d < typeOf(indices).getRank(); ++d)
    if (!llvm::is_contained(lookup.indexBatching, d + (d >= lookup.vectorDim)))
      moved.push_back(d);
  indices = transpose(b, indices, moved);
  Integers whole(typeOf(indices).getShape()), shape(ArrayRef(whole).take_front(batches));
  for (int64_t size : ArrayRef(whole).drop_front(batches))
    count *= size;
  shape.push_back(count);
  Value operand = transpose(b, s.operands[0], order);
  Value taken = TakeAlongOp::create(b, operand, reshape(b, indices, shape));
  return {transpose(b, reshape(b, taken, whole), inverseOf(moved))};
}

Values importGather(Source &s) {
  Lookup lookup(s, "dimension_numbers", "offset_dims", "collapsed_slice_dims",
                "operand_batching_dims", "start_indices_batching_dims", "start_index_map");
  lookup.sizes = s.integers("slice_sizes");
  if (!lookup.isKnown(s.type().getRank()) || isFloat(s.operands[1]))
    return s.refuse("has dimensions that do not fit together");
  lookup.split();
  s.operands[1] = signedOf(s, 1);
  if (llvm::is_contained(s.operandType(0).getShape(), 0) || lookup.keys.empty())
    return s.refuse("of an empty operand, or whose indices name no dimension");
  bool isAlong = lookup.map.size() == 1 && lookup.windowDims.empty() && !lookup.batching.empty() &&
                 lookup.batching.size() + 1 == lookup.operand.size();
  if (isAlong)
    return takeAlong(s, lookup);
  Builder &b = s.b();
  Value table = toTable(b, s.operands[0], lookup);
  Value rows = rowsOf(b, s.operands[1], lookup, nullptr);
  Value taken = GatherOp::create(b, table, rows);
  return {transpose(b, taken, inverseOf(placesOf(lookup)))};
}

/// The windows of updates: the dimensions that are not collapsed have sizes of the updates'.
Lookup readScatter(Source &s) {
  Lookup lookup(s, "scatter_dimension_numbers", "update_window_dims", "inserted_window_dims",
                "input_batching_dims", "scatter_indices_batching_dims",
                "scatter_dims_to_operand_dims");
  Integers sizes(lookup.operand.size(), 1);
  size_t window = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (lookup.isWindow(d) && window < lookup.windowDims.size() &&
        Source::areDims(lookup.windowDims[window], s.operandType(2).getRank()))
      sizes[d] = s.operandType(2).getDimSize(lookup.windowDims[window++]);
  lookup.sizes = sizes;
  return lookup;
}

/// Returns whether the combiner is supported.
bool combines(StringRef combiner, Value x) {
  bool isOrdered = combiner == "minimum" || combiner == "maximum";
  return combiner == "add" || combiner == "second" || combiner == "multiply" || isOrdered ||
         (elementOf(x).isInteger(1) && (combiner == "or" || combiner == "and"));
}

/// Imports a scatter. Updates outside go to a row behind the table, which is cut off.
Values importScatter(Source &s) {
  std::string combiner = combinerOf(s.op);
  if (s.operands.size() != 3 || !combines(combiner, s.operands[0]))
    return s.refuse("by another function than add, multiply, minimum, maximum or replace");
  Lookup lookup = readScatter(s);
  if (!lookup.isKnown(s.operandType(2).getRank()) || isFloat(s.operands[1]) ||
      !lookup.batchFits(s.operandType(2)))
    return s.refuse("has dimensions that do not fit together");
  lookup.split();
  bool isAdded = combiner == "add" && isFloat(s.operands[0]);
  if (lookup.keys.empty())
    return s.refuse("whose indices name no dimension of the operand");
  if (s.isUnsigned(0) && (combiner == "minimum" || combiner == "maximum"))
    return s.refuse("to the largest or least of unsigned integers");
  Builder &b = s.b();
  s.operands[1] = signedOf(s, 1);
  Value table = toTable(b, s.operands[0], lookup), isInside;
  Value rows = rowsOf(b, s.operands[1], lookup, &isInside);
  int64_t count = typeOf(table).getDimSize(0);
  rows = select(b, isInside, rows, splatInteger(b, typeOf(rows), count));
  Integers padded(typeOf(table).getShape()), zeros(padded.size(), 0), one = zeros;
  padded[0] += 1;
  one[0] = 1;
  RankedTensorType paddedType = typeOf(table).clone(padded);
  Value updates = transpose(b, s.operands[2], placesOf(lookup)), result;
  auto cut = [&](Value value) {
    return slice(b, value, zeros, typeOf(table).getShape(), Integers(zeros.size(), 1));
  };
  if (combiner != "second" && !isAdded) {
    Integers flat = {typeOf(rows).getNumElements()};
    rows = reshape(b, rows, flat);
    llvm::append_range(flat, typeOf(table).getShape().drop_front());
    result = combineRows(b, combiner, table, rows, reshape(b, updates, flat));
  } else if (isAdded) {
    result = add(b, table, cut(ScatterAddOp::create(b, paddedType, rows, updates)));
  } else {
    TypedAttr zero = b.getZeroAttr(elementOf(table));
    Value behind = PadOp::create(b, table, zero, zeros, one, zeros);
    result = cut(ScatterOp::create(b, behind, rows, updates));
  }
  Integers order = lookup.keys, shape;
  order.append(lookup.whole);
  for (int64_t d : order)
    shape.push_back(lookup.operand[d]);
  return {transpose(b, reshape(b, result, shape), inverseOf(order))};
}

} // namespace

void addIndexing(Handlers &handlers) {
  handlers["stablehlo.gather"] = {importGather, 2};
  handlers["stablehlo.scatter"] = {importScatter, 3, 1};
}

} // namespace reprise::stablehlo
