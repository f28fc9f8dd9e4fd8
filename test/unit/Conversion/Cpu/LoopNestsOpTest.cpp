// reprise: every op as a group of its own, on all element types and awkward shapes, against the
// interpreter
#include "NestOpHarness.h"

using namespace reprise::test;

namespace {

const Strings floats = {"f32", "f64", "bf16", "f16"};
const Strings numbers = {"f32", "f64", "bf16", "f16", "i32", "i64"};
const Strings shapes = {"", "1x", "0x", "7x", "64x", "3x5x", "2x3x33x", "4099x"};

std::string tensor(const std::string &shape, const std::string &element) {
  return "tensor<" + shape + element + ">";
}

struct LoopsOps : LoopHarness {
  /// Checks an op on operands of the given types.
  void one(const std::string &op, const Strings &operands, const std::string &result,
           const std::string &types) {
    std::string arguments, names;
    for (size_t i = 0; i < operands.size(); ++i) {
      arguments += (i ? ", %" : "%") + std::string("a") + std::to_string(i) + ": " + operands[i];
      names += (i ? ", %a" : " %a") + std::to_string(i);
    }
    check("func.func @f(" + arguments + ") -> " + result + " {\n  %r = reprise." + op + names +
          " : " + types + "\n  return %r : " + result + "\n}");
  }
};

TEST_F(LoopsOps, Unary) {
  for (const std::string &op : Strings{"neg", "abs", "relu"})
    for (const std::string &element : numbers)
      one(op, {tensor("3x11x", element)}, tensor("3x11x", element), tensor("3x11x", element));
  for (const std::string &op : Strings{"exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid",
                                       "silu", "gelu", "sin", "cos", "floor"})
    for (const std::string &element : floats)
      one(op, {tensor("45x", element)}, tensor("45x", element), tensor("45x", element));
}

TEST_F(LoopsOps, GeluByTanh) {
  for (const std::string &element : floats)
    check("func.func @f(%x: tensor<77x" + element + ">) -> tensor<77x" + element + "> {\n" +
          "  %r = reprise.gelu %x {form = #reprise<gelu_form tanh>} : tensor<77x" + element +
          ">\n" + "  return %r : tensor<77x" + element + ">\n}");
}

TEST_F(LoopsOps, Clamp) {
  for (const std::string &element : floats)
    check("func.func @f(%x: tensor<77x" + element + ">) -> tensor<77x" + element + "> {\n" +
          "  %r = reprise.clamp %x in [-0.3 : f64, 0.7 : f64] : tensor<77x" + element + ">\n" +
          "  return %r : tensor<77x" + element + ">\n}");
}

TEST_F(LoopsOps, Logic) {
  one("not", {tensor("99x", "i1")}, tensor("99x", "i1"), tensor("99x", "i1"));
  for (const std::string &op : Strings{"and", "or", "xor"})
    one(op, {tensor("99x", "i1"), tensor("99x", "i1")}, tensor("99x", "i1"), tensor("99x", "i1"));
}

TEST_F(LoopsOps, Binary) {
  for (const std::string &element : floats)
    one("pow", {tensor("3x37x", element), tensor("3x37x", element)}, tensor("3x37x", element),
        tensor("3x37x", element));

  for (const std::string &op : Strings{"add", "sub", "mul", "div", "maximum", "minimum"})
    for (const std::string &element : numbers)
      one(op, {tensor("3x37x", element), tensor("3x37x", element)}, tensor("3x37x", element),
          tensor("3x37x", element));
  for (const std::string &op : Strings{"and", "or", "xor", "shift_left", "shift_right"})
    for (const std::string &element : Strings{"i32", "i64"})
      one(op, {tensor("99x", element), tensor("99x", element)}, tensor("99x", element),
          tensor("99x", element));
  for (const std::string &element : Strings{"i32", "i64"})
    one("rem", {tensor("99x", element), tensor("99x", element)}, tensor("99x", element),
        tensor("99x", element));
}

TEST_F(LoopsOps, Bitcast) {
  for (auto [from, to] : {std::pair("f32", "i32"), {"i64", "f64"}, {"f64", "i64"}})
    one("bitcast", {tensor("99x", from)}, tensor("99x", to),
        tensor("99x", from) + " to " + tensor("99x", to));
}

TEST_F(LoopsOps, Compare) {
  for (const std::string &predicate : Strings{"eq", "ne", "lt", "le", "gt", "ge"})
    for (const std::string &element : elements)
      one("compare " + predicate, {tensor("70x", element), tensor("70x", element)},
          tensor("70x", "i1"), tensor("70x", element));
}

TEST_F(LoopsOps, Select) {
  for (const std::string &element : elements)
    one("select", {tensor("70x", "i1"), tensor("70x", element), tensor("70x", element)},
        tensor("70x", element), tensor("70x", "i1") + ", " + tensor("70x", element));
}

TEST_F(LoopsOps, Cast) {
  for (const std::string &from : elements)
    for (const std::string &to : elements)
      one("cast", {tensor("67x", from)}, tensor("67x", to),
          tensor("67x", from) + " to " + tensor("67x", to));
}

TEST_F(LoopsOps, Shapes) {
  for (const std::string &shape : shapes)
    for (const std::string &element : elements)
      one("select", {tensor(shape, "i1"), tensor(shape, element), tensor(shape, element)},
          tensor(shape, element), tensor(shape, "i1") + ", " + tensor(shape, element));
}

} // namespace
