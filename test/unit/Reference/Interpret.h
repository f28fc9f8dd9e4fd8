// reprise: runs functions of the dialect, written as text, in the interpreter.
#ifndef REPRISE_TEST_UNIT_REFERENCE_INTERPRET_H
#define REPRISE_TEST_UNIT_REFERENCE_INTERPRET_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "reprise/InitAll.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Numbers.h"
#include "gtest/gtest.h"
#include <cstring>

namespace reprise::test {

/// A tensor of T in storage type; bf16 and f16 as uint16_t, i1 as uint8_t.
template <typename T> Tensor makeTensor(mlir::RankedTensorType type, const std::vector<T> &values) {
  Tensor tensor(type);
  EXPECT_EQ(tensor.bytes.size(), values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <typename T> std::vector<T> valuesOf(const Tensor &tensor) {
  EXPECT_EQ(tensor.bytes.size(), tensor.size() * sizeof(T));
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.size());
}

struct InterpreterTest : testing::Test {
  InterpreterTest() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { error += diagnostic.str(); });
  }

  /// Parses `text` and runs its function @f. On an error, returns no results and sets `error`.
  std::vector<Tensor> run(llvm::StringRef text, llvm::ArrayRef<Tensor> arguments) {
    error.clear();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << error << "\n" << text.str();
      return {};
    }
    auto results = interpret(module->lookupSymbol<mlir::func::FuncOp>("f"), arguments);
    return failed(results) ? std::vector<Tensor>() : *results;
  }

  /// Runs one op on %0, %1, …: `op` is its text, `types` are the types of the operands, `result` is
  /// the type of its only result.
  Tensor runOp(const std::string &op, const std::vector<std::string> &types,
               const std::string &result, llvm::ArrayRef<Tensor> operands) {
    std::string text = "func.func @f(";
    for (size_t i = 0; i < types.size(); ++i)
      text += (i ? ", %a" : "%a") + std::to_string(i) + ": " + types[i];
    text += ") -> " + result + " {\n  %r = reprise." + op + "\n  return %r : " + result + "\n}";
    std::vector<Tensor> results = run(text, operands);
    if (results.size() == 1)
      return results[0];
    ADD_FAILURE() << error << "\n" << text;
    return Tensor();
  }

  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Type f32() { return mlir::Float32Type::get(&context); }
  mlir::Type f64() { return mlir::Float64Type::get(&context); }
  mlir::Type bf16() { return mlir::BFloat16Type::get(&context); }
  mlir::Type f16() { return mlir::Float16Type::get(&context); }
  mlir::Type integer(unsigned width) { return mlir::IntegerType::get(&context, width); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string error;
};

} // namespace reprise::test

#endif
