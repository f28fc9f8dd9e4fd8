// reprise: random groups of ops, of random shapes, against the interpreter
#include "NestHarness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Builds a function of random ops that loops can compute.
class GraphMaker {
public:
  GraphMaker(MLIRContext *context, unsigned seed)
      : random(seed), b(UnknownLoc::get(context), context) {}

  OwningOpRef<ModuleOp> make(int ops) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(b, "f", b.getFunctionType({}, {}));
    block = function.addEntryBlock();
    b.setInsertionPointToEnd(block);
    Type types[] = {b.getF32Type(), b.getF32Type(), b.getBF16Type(), b.getF16Type(),
                    b.getF64Type()};
    element = types[pick(5)];
    for (int i = 0; i < 3; ++i)
      values.push_back(argument(RankedTensorType::get(shape(), element)));
    while (static_cast<int>(values.size()) < 3 + ops)
      if (Value value = step())
        values.push_back(value);
    SmallVector<Value> results = {values.back()};
    for (Value value : values)
      if (value.getDefiningOp() && (value.use_empty() || pick(8) == 0))
        results.push_back(value);
    func::ReturnOp::create(b, results);
    function.setFunctionType(
        b.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
    return module;
  }

private:
  int64_t pick(int64_t count) { return static_cast<int64_t>(random() % count); }
  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  Value any() { return values[values.size() - 1 - pick(std::min<size_t>(values.size(), 6))]; }
  Value argument(RankedTensorType type) { return block->addArgument(type, b.getLoc()); }

  SmallVector<int64_t> shape() {
    const int64_t sizes[] = {1, 2, 3, 5, 8, 16, 33, 64, 96, 130};
    SmallVector<int64_t> result(pick(4));
    for (int64_t &size : result)
      size = sizes[pick(10)];
    while (size(result) > 40000)
      result.pop_back();
    return result;
  }
  static int64_t size(ArrayRef<int64_t> shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  }

  /// Returns a value of exactly this type: an existing value, or a new argument.
  Value like(RankedTensorType type) {
    for (size_t tries = 0; tries < 4; ++tries)
      if (Value value = any(); value.getType() == type)
        return value;
    return argument(type);
  }

  Value step() {
    Value x = any();
    switch (pick(16)) {
    case 0:
    case 1:
    case 2:
      return binary(x);
    case 3:
    case 4:
      return unary(x);
    case 5:
      return reduce(x);
    case 6:
      return spread(x);
    case 7:
      return transpose(x);
    case 8:
      return slice(x);
    case 9:
      return pad(x);
    case 10:
      return concatenate(x);
    case 11:
      return reshape(x);
    case 12:
      return row(x);
    case 13:
      return along(x);
    case 14:
      return window(x);
    default:
      return draw(x);
    }
  }

  Value binary(Value x) {
    Value y = like(typeOf(x));
    switch (pick(5)) {
    case 0:
      return AddOp::create(b, x, y);
    case 1:
      return SubOp::create(b, x, y);
    case 2:
      return MulOp::create(b, x, y);
    case 3:
      return MaximumOp::create(b, x, y);
    default:
      return SelectOp::create(b, CompareOp::create(b, ComparePredicate::lt, x, y), y, x);
    }
  }

  Value unary(Value x) {
    switch (pick(4)) {
    case 0:
      return TanhOp::create(b, x);
    case 1:
      return ExpOp::create(b, SigmoidOp::create(b, x));
    case 2:
      return NegOp::create(b, x);
    default:
      return CastOp::create(b, x.getType(), CastOp::create(b, typeOf(x).clone(b.getF32Type()), x));
    }
  }

  Value reduce(Value x) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
      if (pick(2))
        dims.push_back(d);
    if (dims.empty())
      return Value();
    switch (pick(4)) {
    case 0:
      return SumOp::create(b, x, dims);
    case 1:
      return MeanOp::create(b, x, dims);
    case 2:
      return LogSumExpOp::create(b, x, dims);
    default:
      return MaxOp::create(b, x, dims);
    }
  }

  /// Repeats a value along new dimensions, often to the shape of an existing value.
  Value spread(Value x) {
    RankedTensorType type = typeOf(x);
    for (int tries = 0; tries < 4; ++tries) {
      RankedTensorType target = typeOf(any());
      SmallVector<int64_t> dims;
      for (int64_t d = 0; d < target.getRank(); ++d)
        if (static_cast<int64_t>(dims.size()) < type.getRank() &&
            target.getDimSize(d) == type.getDimSize(dims.size()))
          dims.push_back(d);
      if (static_cast<int64_t>(dims.size()) == type.getRank())
        return BroadcastOp::create(b, target, x, dims);
    }
    if (type.getNumElements() > 8000)
      return Value();
    SmallVector<int64_t> wide = llvm::to_vector(type.getShape());
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
    int64_t at = pick(type.getRank() + 1);
    wide.insert(wide.begin() + at, 1 + pick(4));
    for (int64_t &dim : dims)
      dim += dim >= at;
    return BroadcastOp::create(b, RankedTensorType::get(wide, element), x, dims);
  }

  Value transpose(Value x) {
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank()));
    std::shuffle(permutation.begin(), permutation.end(), random);
    return TransposeOp::create(b, x, permutation);
  }

  Value slice(Value x) {
    SmallVector<int64_t> starts, limits, strides;
    for (int64_t size : typeOf(x).getShape()) {
      starts.push_back(pick(3) ? 0 : pick(size));
      limits.push_back(pick(3) ? size : starts.back() + 1 + pick(size - starts.back()));
      strides.push_back(pick(3) ? 1 : 1 + pick(3));
    }
    return SliceOp::create(b, x, starts, limits, strides);
  }

  Value pad(Value x) {
    SmallVector<int64_t> low, high, interior;
    if (typeOf(x).getNumElements() > 20000)
      return Value();
    for (int64_t d = 0; d < typeOf(x).getRank(); ++d) {
      low.push_back(pick(2) ? 0 : pick(5));
      high.push_back(pick(2) ? 0 : pick(40));
      interior.push_back(pick(4) ? 0 : pick(3));
    }
    return PadOp::create(b, x, b.getFloatAttr(element, 0.5), low, high, interior);
  }

  Value concatenate(Value x) {
    RankedTensorType type = typeOf(x);
    if (type.getRank() == 0 || type.getNumElements() > 20000)
      return Value();
    return ConcatenateOp::create(b, ValueRange{x, like(type), x}, pick(type.getRank()));
  }

  Value reshape(Value x) {
    SmallVector<int64_t> shape = llvm::to_vector(typeOf(x).getShape());
    if (shape.size() > 1 && pick(2)) {
      int64_t at = pick(shape.size() - 1);
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else if (!shape.empty()) {
      int64_t at = pick(shape.size());
      int64_t divisor = shape[at] % 2 ? shape[at] % 3 ? 1 : 3 : 2;
      shape[at] /= divisor;
      shape.insert(shape.begin() + at + pick(2), divisor);
    }
    return ReshapeOp::create(b, RankedTensorType::get(shape, element), x);
  }

  Value row(Value x) {
    if (typeOf(x).getRank() == 0)
      return Value();
    return pick(2) ? SoftmaxOp::create(b, x).getResult() : LogSoftmaxOp::create(b, x).getResult();
  }

  Value along(Value x) {
    RankedTensorType type = typeOf(x);
    if (type.getRank() == 0)
      return Value();
    SmallVector<int64_t> few = llvm::to_vector(type.getShape());
    few.back() = 1 + pick(std::min<int64_t>(type.getShape().back(), 20));
    RankedTensorType indices = RankedTensorType::get(few, b.getI32Type());
    switch (pick(4)) {
    case 0:
      return CumsumOp::create(b, type, x, b.getI64IntegerAttr(pick(type.getRank())),
                              pick(2) ? b.getUnitAttr() : UnitAttr());
    case 1:
      return TakeAlongOp::create(b, x, argument(indices));
    case 2: {
      auto top = TopKOp::create(b, type.clone(few), indices, x);
      return pick(2) ? top.getValues() : TakeAlongOp::create(b, x, top.getIndices()).getResult();
    }
    default:
      return ScatterAddAlongOp::create(b, type, argument(type.clone(b.getI32Type())), x);
    }
  }

  Value window(Value x) {
    RankedTensorType type = typeOf(x);
    SmallVector<int64_t> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(pick(2) ? size : 1 + pick(size));
    Value starts = argument(RankedTensorType::get(type.getRank(), b.getI64Type()));
    RankedTensorType part = type.clone(sizes);
    if (pick(2))
      return DynamicSliceOp::create(b, part, x, starts);
    return DynamicUpdateOp::create(b, x, like(part), starts);
  }

  Value draw(Value x) {
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    if (!seed) {
      seed = argument(scalar);
      offset = argument(scalar);
    }
    auto dropout = DropoutOp::create(b, x.getType(), x, Value(), Value(), Value(),
                                     b.getF64FloatAttr(0.3), IntegerAttr(), DenseI64ArrayAttr());
    auto random = cast<RandomOpInterface>(dropout.getOperation());
    random.threadState(seed, offset);
    random.setStreamNumber(pick(100));
    return dropout;
  }

  std::mt19937 random;
  ImplicitLocOpBuilder b;
  Block *block = nullptr;
  Type element;
  SmallVector<Value> values;
  Value seed, offset;
};

struct LoopsRandomGraphs : LoopHarness {};

TEST_F(LoopsRandomGraphs, SlowEqualTheInterpreter) {
  specials = false;
  const char *count = std::getenv("REPRISE_RANDOM_GRAPHS");
  const char *first = std::getenv("REPRISE_FIRST_GRAPH");
  unsigned begin = first ? std::atoi(first) : 0, end = begin + (count ? std::atoi(count) : 60);
  int groups = 0;
  for (unsigned seed = begin; seed < end && !HasFailure(); ++seed) {
    OwningOpRef<ModuleOp> module = GraphMaker(&context, seed).make(3 + seed % 10);
    ASSERT_TRUE(succeeded(verify(*module)));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    SCOPED_TRACE("graph " + std::to_string(seed));
    check(text);
    groups += isGroup;
  }
  RecordProperty("groups", groups);
}

} // namespace
