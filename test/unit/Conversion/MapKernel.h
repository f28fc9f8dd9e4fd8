// reprise: compiles emitted arithmetic at several widths and targets, and runs it over arrays
#ifndef REPRISE_TEST_UNIT_CONVERSION_MAPKERNEL_H
#define REPRISE_TEST_UNIT_CONVERSION_MAPKERNEL_H

#include "MappedImage.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace reprise::test {

constexpr int64_t widths[] = {1, 8, 16, 32};

/// Module of kernels. Each applies some arithmetic to every element of its buffers; the last buffer
/// is the output.
class MapKernels {
public:
  /// Gets the elements at `i` of the inputs and i itself.
  using Emit = std::function<mlir::Value(KernelBuilder &, mlir::ValueRange, mlir::Value)>;

  MapKernels() : builder(&context) {
    context.loadDialect<mlir::LLVM::LLVMDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  }

  /// Adds kernels name.WIDTH: buffers [extra pointers…, inputs…, output].
  void add(const std::string &name, llvm::ArrayRef<mlir::Type> inputs, mlir::Type output,
           const Emit &emit, unsigned extra = 0, llvm::ArrayRef<int64_t> at = widths) {
    for (int64_t width : at) {
      KernelBuilder k(*module, name + "." + std::to_string(width));
      forLoop(k, k.begin(), k.end(), k.i64(width), [&](mlir::Value i) {
        llvm::SmallVector<mlir::Value> elements;
        for (auto [number, type] : llvm::enumerate(inputs))
          elements.push_back(emitLoad(k.b, type, k.buffer(extra + number), i, width));
        emitStore(k.b, output, emit(k, elements, i), k.buffer(extra + inputs.size()), i);
      });
    }
  }

  /// Compiles for each target of this machine and hands out the image.
  void forEachTarget(const std::function<void(const CpuTarget &, const MappedImage &)> &run) {
    for (const CpuTarget &target : runnableTargets()) {
      mlir::FailureOr<Image> image = compileKernels(*module, target);
      ASSERT_TRUE(succeeded(image)) << target.name;
      run(target, MappedImage(*image));
    }
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

template <typename T> bool sameBits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a && b != b)
      return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Fails on the first difference to the bit; NaNs are equal.
template <typename T, typename Describe>
void expectSameBits(const std::vector<T> &got, const std::vector<T> &expected, Describe describe) {
  ASSERT_EQ(got.size(), expected.size());
  int64_t different = 0, first = -1;
  for (size_t i = 0; i < got.size(); ++i)
    if (!sameBits(got[i], expected[i]) && different++ == 0)
      first = i;
  EXPECT_EQ(different, 0) << describe(first) << ": " << +got[first] << ", expected "
                          << +expected[first];
}

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_CONVERSION_MAPKERNEL_H
