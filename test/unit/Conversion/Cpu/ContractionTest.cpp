// reprise: contractions against the plain scalar chain of fma, to the bit
#include "reprise/Conversion/Cpu/Contraction.h"
#include "../MappedImage.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct Bytes {
  Bytes(int64_t elements, Type type) : type(type), data(elements * bytesOf(type) + 64) {}
  Type type;
  std::vector<uint8_t> data;

  template <typename T> T &at(int64_t i) { return reinterpret_cast<T *>(data.data())[i]; }
  double get(int64_t i) {
    if (type.isF64())
      return at<double>(i);
    if (type.isF16())
      return at<_Float16>(i);
    if (type.isF32())
      return at<float>(i);
    uint32_t bits = uint32_t(at<uint16_t>(i)) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  void set(int64_t i, double value) {
    if (type.isF64())
      at<double>(i) = value;
    else if (type.isF16())
      at<_Float16>(i) = _Float16(float(value));
    else if (type.isF32())
      at<float>(i) = float(value);
    else
      at<uint16_t>(i) = rounded(float(value));
  }
  static uint16_t rounded(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
};

struct ContractionTest : testing::Test {
  ContractionTest() : b(&context) {
    context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        vector::VectorDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { error = diagnostic.str(); });
  }
  MLIRContext context;
  OpBuilder b;
  std::string error;
  std::mt19937 random{7};

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  /// Lays dimensions of one operand out in a random order, sometimes with gaps, also between
  /// neighbours; returns the number of elements that the operand needs.
  int64_t layOut(std::vector<std::pair<int64_t, int64_t *>> dims) {
    std::shuffle(dims.begin(), dims.end(), random);
    int64_t stride = pick(0, 2) == 0 ? pick(2, 3) : 1;
    for (auto &[size, to] : dims) {
      bool repeats = pick(0, 15) == 0;
      *to = repeats ? 0 : stride;
      if (repeats)
        continue;
      stride *= size;
      if (pick(0, 5) == 0)
        stride += pick(1, 9);
    }
    return stride;
  }

  struct Layout {
    ContractionSpec spec;
    int64_t lhsElements, rhsElements;
  };
  Layout layOut(ContractionSpec spec) {
    std::vector<std::pair<int64_t, int64_t *>> lhs, rhs;
    auto both = [&](SmallVector<SharedDim> &dims) {
      for (SharedDim &dim : dims) {
        lhs.push_back({dim.size, &dim.lhsStride});
        rhs.push_back({dim.size, &dim.rhsStride});
      }
    };
    both(spec.batch);
    both(spec.contracted);
    for (FreeDim &dim : spec.rows)
      lhs.push_back({dim.size, &dim.stride});
    for (FreeDim &dim : spec.columns)
      rhs.push_back({dim.size, &dim.stride});
    int64_t lhsElements = layOut(lhs), rhsElements = layOut(rhs);
    return {spec, lhsElements, rhsElements};
  }

  void check(const Layout &layout, const ContractionHooks &hooks = {}, double scale = 1);
};

int64_t product(ArrayRef<FreeDim> dims) {
  int64_t size = 1;
  for (const FreeDim &dim : dims)
    size *= dim.size;
  return size;
}

int64_t offsetOf(ArrayRef<FreeDim> dims, int64_t index) {
  int64_t offset = 0;
  for (size_t d = dims.size(); d-- > 0; index /= dims[d].size)
    offset += index % dims[d].size * dims[d].stride;
  return offset;
}

SmallVector<FreeDim> lhsOf(ArrayRef<SharedDim> dims) {
  SmallVector<FreeDim> result;
  for (const SharedDim &dim : dims)
    result.push_back({dim.size, dim.lhsStride});
  return result;
}
SmallVector<FreeDim> rhsOf(ArrayRef<SharedDim> dims) {
  SmallVector<FreeDim> result;
  for (const SharedDim &dim : dims)
    result.push_back({dim.size, dim.rhsStride});
  return result;
}

/// Sums in the order of the contract, without the kernels' code: chains of 4,096, then neighbours
/// level by level.
template <typename T>
T canonicalSum(int64_t terms, llvm::function_ref<std::pair<T, T>(int64_t)> term) {
  std::vector<T> sums;
  for (int64_t start = 0; start == 0 || start < terms; start += 4096) {
    T sum = 0;
    for (int64_t k = start; k < std::min<int64_t>(start + 4096, terms); ++k) {
      auto [x, y] = term(k);
      sum = std::fma(x, y, sum);
    }
    sums.push_back(sum);
  }
  while (sums.size() > 1) {
    std::vector<T> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      next.push_back(sums[i] + sums[i + 1]);
    if (sums.size() % 2)
      next.push_back(sums.back());
    sums = next;
  }
  return sums[0];
}

template <typename T>
void reference(const ContractionSpec &spec, Bytes &lhs, Bytes &rhs, Bytes &result, double scale) {
  auto lhsBatch = lhsOf(spec.batch), rhsBatch = rhsOf(spec.batch);
  auto lhsTerms = lhsOf(spec.contracted), rhsTerms = rhsOf(spec.contracted);
  int64_t batch = product(lhsBatch), rows = product(spec.rows), columns = product(spec.columns);
  for (int64_t i = 0; i < batch * rows * columns; ++i) {
    int64_t column = i % columns, row = i / columns % rows, entry = i / columns / rows;
    int64_t left = offsetOf(lhsBatch, entry) + offsetOf(spec.rows, row);
    int64_t right = offsetOf(rhsBatch, entry) + offsetOf(spec.columns, column);
    T sum = canonicalSum<T>(product(lhsTerms), [&](int64_t k) {
      return std::pair<T, T>(T(lhs.get(left + offsetOf(lhsTerms, k))) * T(scale),
                             T(rhs.get(right + offsetOf(rhsTerms, k))));
    });
    result.set(i, sum);
  }
}

/// Runs every command, its items cut into `workers` ranges that run one after the other, the last
/// one first.
void runCommands(const MappedImage &image, ArrayRef<KernelCommand> commands,
                 std::vector<void *> buffers, int workers) {
  int64_t shared = 0;
  for (const KernelCommand &command : commands)
    shared = std::max(shared, command.sharedBytes);
  std::vector<char> sharedBytes(shared, 'x');
  buffers.push_back(sharedBytes.data());
  for (const KernelCommand &command : commands)
    for (int worker = workers; worker-- > 0;) {
      // Bytes that are NaN reveal reads of memory that was not written.
      std::vector<char> own(command.workerBytes + 64, '\xff');
      void *aligned = reinterpret_cast<void *>(llvm::alignTo(uintptr_t(own.data()), 64));
      image.kernel(command.kernel)(buffers.data(), command.items * worker / workers,
                                   command.items * (worker + 1) / workers, aligned);
    }
}

/// Numbers in kernels come from sizes and strides; an address of the compiler's would be greater.
int64_t greatestNumber(ModuleOp module) {
  int64_t greatest = 0;
  module.walk([&](arith::ConstantOp constant) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      greatest = std::max(greatest, number.getInt());
  });
  return greatest;
}

void ContractionTest::check(const Layout &layout, const ContractionHooks &hooks, double scale) {
  const ContractionSpec &spec = layout.spec;
  int64_t results = product(lhsOf(spec.batch)) * product(spec.rows) * product(spec.columns);
  Bytes lhs(layout.lhsElements, spec.lhsType), rhs(layout.rhsElements, spec.rhsType);
  Bytes expected(results, spec.resultType);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < layout.lhsElements; ++i)
    lhs.set(i, normal(random));
  for (int64_t i = 0; i < layout.rhsElements; ++i)
    rhs.set(i, normal(random));
  if (spec.accumulatorType().isF64())
    reference<double>(spec, lhs, rhs, expected, scale);
  else
    reference<float>(spec, lhs, rhs, expected, scale);
  for (const CpuTarget &target : runnableTargets()) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    auto commands = emitContraction(*module, "contract", spec, target, hooks);
    ASSERT_LT(greatestNumber(*module), int64_t(1) << 32);
    FailureOr<Image> image = compileKernels(*module, target);
    ASSERT_TRUE(succeeded(image)) << error;
    MappedImage mapped(*image);
    for (int workers : {1, 2, 3}) {
      Bytes result(results, spec.resultType);
      runCommands(mapped, commands, {lhs.data.data(), rhs.data.data(), result.data.data()},
                  workers);
      int64_t wrong = 0;
      for (int64_t i = 0; i < results; ++i)
        wrong += result.get(i) != expected.get(i);
      auto describe = [](ArrayRef<FreeDim> dims) {
        std::string text;
        for (const FreeDim &dim : dims)
          text += " " + std::to_string(dim.size) + "/" + std::to_string(dim.stride);
        return text + ";";
      };
      ASSERT_EQ(wrong, 0) << "of " << results << ", " << target.name << ", " << workers
                          << " workers, rows" << describe(spec.rows) << " columns"
                          << describe(spec.columns) << " terms" << describe(lhsOf(spec.contracted))
                          << describe(rhsOf(spec.contracted)) << " batch"
                          << describe(lhsOf(spec.batch)) << describe(rhsOf(spec.batch));
      for (size_t i = results * bytesOf(spec.resultType); i < result.data.size(); ++i)
        ASSERT_EQ(result.data[i], 0) << "written beyond the result";
    }
  }
}

TEST_F(ContractionTest, SlowRandomShapesAndStrides) {
  Type types[] = {b.getF32Type(), b.getF32Type(), b.getF64Type(), b.getBF16Type(), b.getF16Type()};
  for (int i = 0; i < 50; ++i) {
    ContractionSpec spec;
    spec.lhsType = spec.rhsType = spec.resultType = types[pick(0, 4)];
    if (!spec.lhsType.isF64() && pick(0, 3) == 0)
      spec.resultType = b.getF32Type();
    auto free = [&](SmallVector<FreeDim> &dims) {
      dims.push_back({pick(0, 2) == 0 ? pick(1, 4) * 16 : pick(1, 70), 0});
      if (pick(0, 3) == 0)
        dims.push_back({pick(1, 6), 0});
    };
    free(spec.rows);
    free(spec.columns);
    spec.contracted.push_back({pick(1, 70), 0, 0});
    if (pick(0, 2) == 0)
      spec.contracted.push_back({pick(0, 1) ? 16 : pick(1, 9), 0, 0});
    for (int64_t d = pick(0, 2); d > 0; --d)
      spec.batch.push_back({pick(1, 3), 0, 0});
    check(layOut(spec));
    if (HasFatalFailure())
      return;
  }
}

/// Sizes M, N, K, and flags of transposed operands.
struct Shape {
  int64_t m, n, k;
  bool lhsTransposed, rhsTransposed;
};

ContractionSpec plain(Type type, const Shape &shape) {
  ContractionSpec spec;
  spec.lhsType = spec.rhsType = spec.resultType = type;
  spec.rows = {{shape.m, shape.lhsTransposed ? 1 : shape.k}};
  spec.columns = {{shape.n, shape.rhsTransposed ? shape.k : 1}};
  spec.contracted = {
      {shape.k, shape.lhsTransposed ? shape.m : 1, shape.rhsTransposed ? 1 : shape.n}};
  return spec;
}

TEST_F(ContractionTest, SlowEveryTranspositionOfChosenShapes) {
  // Several blocks in each direction; terms beyond one chain, and odd numbers of chains; vectors;
  // nothing to add.
  std::tuple<int64_t, int64_t, int64_t> sizes[] = {{200, 130, 70}, {33, 1100, 40}, {300, 64, 1030},
                                                   {16, 32, 5000}, {3, 5, 12300},  {2, 7, 20490},
                                                   {1, 256, 300},  {256, 1, 300},  {1, 1, 9000},
                                                   {256, 10, 100}, {5, 40, 0},     {64, 64, 1024}};
  for (auto [m, n, k] : sizes)
    for (bool lhsTransposed : {false, true})
      for (bool rhsTransposed : {false, true}) {
        Shape shape{m, n, k, lhsTransposed, rhsTransposed};
        check({plain(b.getF32Type(), shape), m * k, k * n});
        if (HasFatalFailure())
          return;
      }
}

TEST_F(ContractionTest, TermsTwoApart) {
  for (Type type :
       {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getBF16Type()), Type(b.getF16Type())})
    for (int64_t columns : {5, 40}) {
      ContractionSpec spec;
      spec.lhsType = spec.rhsType = spec.resultType = type;
      spec.rows = {{13, 3 * 65}};
      spec.columns = {{columns, 3 * 32}};
      spec.contracted = {{3, 65, 32}, {32, 2, 1}};
      check({spec, 13 * 3 * 65, columns * 3 * 32});
    }
}

TEST_F(ContractionTest, OneRowOrColumnOfTermsInSeveralDimensions) {
  for (Type type : {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getBF16Type())})
    for (auto [rows, columns] : {std::pair(13, 1), std::pair(1, 40), std::pair(1, 1)})
      // Strides: a run, two apart, neither.
      for (int64_t innermost : {1, 2, 3}) {
        ContractionSpec spec;
        spec.lhsType = spec.rhsType = spec.resultType = type;
        spec.rows = {{rows, 7 * 20}};
        spec.columns = {{columns, 7 * 20}};
        spec.contracted = {{7, 20, 20}, {5, innermost, innermost}};
        check({spec, rows * 7 * 20, columns * 7 * 20});
        if (HasFatalFailure())
          return;
      }
}

TEST_F(ContractionTest, EpilogueSeesEveryResultOnce) {
  // result = 2 · sum + old result: an element that two blocks hold would be wrong.
  auto epilogue = [](KernelBuilder &k, const ContractionBlock &block) {
    forLoop(k, block.row0, block.row1, k.i64(1), [&](Value row) {
      forLoop(k, block.column0, block.column1, k.i64(1), [&](Value column) {
        Value at = k.add(k.mul(k.sub(row, block.row0), block.ld), k.sub(column, block.column0));
        Type f32 = k.b.getF32Type();
        Value sum = emitLoad(k.b, f32, block.scratch, at);
        Value to = k.add(k.mul(k.add(k.mul(block.batch, 75), row), 90), column);
        Value old = emitLoad(k.b, f32, k.buffer(2), to);
        sum = math::FmaOp::create(k.b, sum, emitConstant(k.b, f32, 2), old);
        emitStore(k.b, f32, sum, k.buffer(2), to);
      });
    });
  };
  ContractionSpec spec = plain(b.getF32Type(), {75, 90, 33, false, true});
  spec.batch = {{3, 75 * 33, 90 * 33}};
  ContractionHooks hooks;
  hooks.epilogue = epilogue;
  check({spec, 3 * 75 * 33, 3 * 90 * 33}, hooks, 2);
}

TEST_F(ContractionTest, PrologueAppliesToEveryElement) {
  auto doubled = [](KernelBuilder &k, const PackedElements &elements) -> Value {
    Value two = emitConstant(k.b, elements.value.getType(), 2);
    return arith::MulFOp::create(k.b, elements.value, two);
  };
  for (bool transposed : {false, true}) {
    ContractionHooks hooks;
    hooks.lhsPrologue = doubled;
    check({plain(b.getBF16Type(), {75, 90, 133, transposed, false}), 75 * 133, 90 * 133}, hooks, 2);
    hooks = {};
    hooks.rhsPrologue = doubled;
    check({plain(b.getF32Type(), {75, 90, 133, false, transposed}), 75 * 133, 90 * 133}, hooks, 2);
  }
}

} // namespace
