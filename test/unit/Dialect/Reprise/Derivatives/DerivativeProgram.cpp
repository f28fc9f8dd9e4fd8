// reprise: value, gradient and Hessian-vector product of a case, run by the interpreter.
#include "DerivativeProgram.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/InitAll.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <random>

using namespace mlir;

namespace reprise::test {

//===-- Text ----------------------------------------------------------------------------------===//

static std::string typeOf(const CaseValue &value) {
  return "tensor<" + value.shape + value.element + ">";
}

using Values = std::vector<CaseValue>;

/// `format(i, type)` for every value, separated by commas.
template <typename FormatT> static std::string list(const Values &values, FormatT format) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size(); ++i)
    parts.push_back(format(std::to_string(i), typeOf(values[i])));
  return llvm::join(parts, ", ");
}
static std::string declare(const Values &values, std::string name) {
  return list(values,
              [&](std::string i, std::string type) { return "%" + name + i + ": " + type; });
}
static std::string types(const Values &values) {
  return list(values, [](std::string, std::string type) { return type; });
}
static std::string names(const Values &values, std::string name) {
  return list(values, [&](std::string i, std::string) { return "%" + name + i; });
}

/// Adds the sum of `value` to %PREFIX0, %PREFIX1, …; `count` sums have been added so far.
static std::string addSum(std::string value, const CaseValue &like, std::string prefix, int count) {
  std::string text, id = prefix + std::to_string(count), type = "tensor<" + like.element + ">";
  int64_t rank = llvm::count(like.shape, 'x');
  std::string sum = value;
  if (rank != 0) {
    std::vector<std::string> dims;
    for (int64_t d = 0; d < rank; ++d)
      dims.push_back(std::to_string(d));
    sum = "%s" + id;
    text += sum + " = reprise.sum " + value + " dims [" + llvm::join(dims, ", ") + "] : (" +
            typeOf(like) + ") -> " + type + "\n";
  }
  std::string cast = count ? "%c" + id : "%" + id;
  text += cast + " = reprise.cast " + sum + " : " + type + " to tensor<$c>\n";
  if (count)
    text += "%" + id + " = reprise.add %" + prefix + std::to_string(count - 1) + ", " + cast +
            " : tensor<$c>\n";
  return text;
}

/// The body on %x0, … or %n0, … and its quadratic form; sets `loss` to its name.
static std::string lossText(const DerivativeCase &test, bool indirect, std::string &loss) {
  std::string text;
  if (indirect)
    for (auto [n, value] : llvm::enumerate(test.operands))
      text += "%x" + std::to_string(n) + " = reprise.name %n" + std::to_string(n) +
              " \"x\" : " + typeOf(value) + "\n";
  text += test.body + "\n";
  for (auto [n, value] : llvm::enumerate(test.results)) {
    std::string i = std::to_string(n), type = " : " + typeOf(value) + "\n";
    text += "%sq" + i + " = reprise.mul %r" + i + ", %r" + i + type;
    text += "%uq" + i + " = reprise.mul %u" + i + ", %sq" + i + type;
    text += "%vr" + i + " = reprise.mul %v" + i + ", %r" + i + type;
    text += "%form" + i + " = reprise.add %uq" + i + ", %vr" + i + type;
    text += addSum("%form" + i, value, "loss", n);
  }
  loss = "%loss" + std::to_string(test.results.size() - 1);
  return text;
}

/// `%PREFIX, %GRADIENT0, … = value_and_grad (%ARG0 = %FROM0, …) { body; yield scalar }`.
static std::string gradText(const Values &x, std::string result, std::string gradient,
                            std::string argument, std::string from, std::string body,
                            std::string scalar) {
  auto bind = [&](std::string i, std::string) { return "%" + argument + i + " = %" + from + i; };
  auto index = [](std::string i, std::string) { return i; };
  return "%" + result + ", " + names(x, gradient) + " = reprise.value_and_grad (" + list(x, bind) +
         ") wrt [" + list(x, index) + "] : (" + types(x) + ") -> (tensor<$c>, " + types(x) +
         ") {\n" + body + "reprise.yield " + scalar + " : tensor<$c>\n}\n";
}

static std::string programText(const DerivativeCase &test, bool indirect) {
  const Values &x = test.operands;
  std::string argument = indirect ? "n" : "x";
  std::string weights = ", " + declare(test.results, "u") + ", " + declare(test.results, "v");
  std::string loss, body = lossText(test, indirect, loss), gradients = "(" + types(x) + ")";
  std::string text = "func.func @value(" + declare(x, argument) + weights + ") -> tensor<$c> {\n" +
                     body + "return " + loss + " : tensor<$c>\n}\n";
  text += "func.func @grad(" + declare(x, "in") + weights + ") -> " + gradients + " {\n" +
          gradText(x, "l", "g", argument, "in", body, loss) + "return " + names(x, "g") + " : " +
          types(x) + "\n}\n";
  std::string inner = gradText(x, "l", "g", argument, "o", body, loss);
  for (auto [n, value] : llvm::enumerate(x)) {
    std::string i = std::to_string(n);
    inner += "%gd" + i + " = reprise.mul %g" + i + ", %d" + i + " : " + typeOf(value) + "\n";
    inner += addSum("%gd" + i, value, "dot", n);
  }
  text += "func.func @hvp(" + declare(x, "in") + weights + ", " + declare(x, "d") + ") -> " +
          gradients + " {\n" +
          gradText(x, "p", "h", "o", "in", inner, "%dot" + std::to_string(x.size() - 1)) +
          "return " + names(x, "h") + " : " + types(x) + "\n}\n";
  return text;
}

static void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at; (at = text.find(from.str())) != std::string::npos;)
    text.replace(at, from.size(), to.str());
}

//===-- Running -------------------------------------------------------------------------------===//

DerivativeProgram::DerivativeProgram(const DerivativeCase &test, const std::string &element,
                                     bool indirect)
    : context(MLIRContext::Threading::DISABLED), test(test) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.getDiagEngine().registerHandler([this](Diagnostic &d) { error += d.str() + "\n"; });
  std::string text = programText(test, indirect);
  replaceAll(text, "$t", element);
  replaceAll(text, "$c", element == "f64" ? "f64" : "f32");
  module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context);
  manager.addPass(createDifferentiatePass());
  if (!module || failed(manager.run(*module)))
    error += "in\n" + text;
}

static void store(Tensor &tensor, int64_t i, double value) {
  Type element = tensor.type.getElementType();
  if (element.isF64())
    tensor.data<double>()[i] = value;
  else if (element.isF32())
    tensor.data<float>()[i] = value;
  else
    tensor.data<uint16_t>()[i] =
        element.isBF16() ? reference::toBf16(value) : reference::toF16(value);
}

static double load(const Tensor &tensor, int64_t i) {
  Type element = tensor.type.getElementType();
  if (element.isF64())
    return tensor.data<double>()[i];
  if (element.isF32())
    return tensor.data<float>()[i];
  uint16_t bits = tensor.data<uint16_t>()[i];
  return element.isBF16() ? reference::fromBf16(bits) : reference::fromF16(bits);
}

Arrays DerivativeProgram::run(StringRef name, const Arrays &arguments) {
  auto function = module->lookupSymbol<func::FuncOp>(name);
  std::vector<Tensor> tensors;
  for (auto [type, array] : llvm::zip_equal(function.getArgumentTypes(), arguments)) {
    Tensor &tensor = tensors.emplace_back(cast<RankedTensorType>(type));
    for (size_t i = 0; i < array.size(); ++i)
      store(tensor, i, array[i]);
  }
  auto results = interpret(function, tensors);
  Arrays arrays;
  if (failed(results))
    return arrays;
  for (const Tensor &tensor : *results) {
    std::vector<double> &array = arrays.emplace_back();
    for (int64_t i = 0; i < tensor.size(); ++i)
      array.push_back(load(tensor, i));
  }
  return arrays;
}

/// Returns the values of a grid in shuffled order, so that no value lies near another or on a kink.
static std::vector<double> drawGrid(std::mt19937 &random, const CaseValue &value, double shift) {
  SmallVector<StringRef> sizes;
  StringRef(value.shape).split(sizes, 'x', -1, /*KeepEmpty=*/false);
  size_t count = 1;
  for (StringRef size : sizes)
    count *= std::stoul(size.str());
  std::vector<double> array;
  for (size_t i = 0; i < count; ++i) {
    double x = value.low + (value.high - value.low) * (i + shift) / count;
    array.push_back(reference::fromBf16(reference::toBf16(x)));
  }
  // std::shuffle is not used, because it differs between libraries.
  for (size_t i = count; i > 1; --i)
    std::swap(array[i - 1], array[random() % i]);
  return array;
}

Arrays DerivativeProgram::drawInputs() const {
  std::mt19937 random(1);
  Arrays inputs;
  double shift = 0.2;
  for (const CaseValue &value : test.operands)
    inputs.push_back(drawGrid(random, value, shift += 0.125));
  for (int weights = 0; weights < 2; ++weights)
    for (const CaseValue &value : test.results)
      inputs.push_back(drawGrid(random, {value.shape, 0.5, 1.5}, 0.5));
  return inputs;
}

} // namespace reprise::test
