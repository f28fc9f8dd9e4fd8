// reprise: ops of every kind as functions of one op, for tests of their factors
#ifndef REPRISE_TEST_UNIT_DIALECT_REPRISE_BATCHINGINSTANCES_H
#define REPRISE_TEST_UNIT_DIALECT_REPRISE_BATCHINGINSTANCES_H

#include "llvm/ADT/STLExtras.h"

#include <string>
#include <vector>

namespace reprise::test {

/// Op as text, with the types of %0, %1, … and of its results.
struct Instance {
  const char *op;
  std::vector<const char *> operands, results;
};

inline const std::vector<Instance> &instances() {
  static const std::vector<Instance> list{
      {"iota dim 0 : tensor<4x3xf32>", {}, {"tensor<4x3xf32>"}},
      {"constant dense<1.0> : tensor<4xf32>", {}, {"tensor<4xf32>"}},
      {"clamp %0 in [0.0, 1.0] : tensor<4x3xf32>", {"tensor<4x3xf32>"}, {"tensor<4x3xf32>"}},
      {"compare lt %0, %1 : tensor<4x3xf32>",
       {"tensor<4x3xf32>", "tensor<4x3xf32>"},
       {"tensor<4x3xi1>"}},
      {"select %0, %1, %2 : tensor<4x3xi1>, tensor<4x3xf32>",
       {"tensor<4x3xi1>", "tensor<4x3xf32>", "tensor<4x3xf32>"},
       {"tensor<4x3xf32>"}},
      {"cast %0 : tensor<4x3xf32> to tensor<4x3xbf16>", {"tensor<4x3xf32>"}, {"tensor<4x3xbf16>"}},
      {"bitcast %0 : tensor<4x3xf32> to tensor<4x3xi32>", {"tensor<4x3xf32>"}, {"tensor<4x3xi32>"}},
      {"name %0 \"x\" : tensor<4x3xf32>", {"tensor<4x3xf32>"}, {"tensor<4x3xf32>"}},
      {"offload %0 : tensor<4x3xf32>", {"tensor<4x3xf32>"}, {"tensor<4x3xf32>"}},
      {"dropout %0 seed %1 offset %2 {rate = 0.5, stream = 3 : i64, global_shape = array<i64: 4, "
       "6>} "
       ": tensor<4x6xf32>",
       {"tensor<4x6xf32>", "tensor<i64>", "tensor<i64>"},
       {"tensor<4x6xf32>"}},
      {"random_uniform seed %0 offset %1 {stream = 1 : i64, global_shape = array<i64: 4, 6>} : "
       "tensor<4x6xf32>",
       {"tensor<i64>", "tensor<i64>"},
       {"tensor<4x6xf32>"}},
      {"random_normal seed %0 offset %1 {stream = 1 : i64, global_shape = array<i64: 4, 6>} : "
       "tensor<4x6xf32>",
       {"tensor<i64>", "tensor<i64>"},
       {"tensor<4x6xf32>"}},
      {"random_uniform_int seed %0 offset %1 {low = 0 : i64, high = 9 : i64, stream = 1 : i64, "
       "global_shape = array<i64: 4, 6>} : tensor<4x6xi32>",
       {"tensor<i64>", "tensor<i64>"},
       {"tensor<4x6xi32>"}},
      {"random_bernoulli seed %0 offset %1 {probability = 0.3, stream = 1 : i64, global_shape = "
       "array<i64: 4, 6>} : tensor<4x6xi1>",
       {"tensor<i64>", "tensor<i64>"},
       {"tensor<4x6xi1>"}},
      {"broadcast %0 dims [1] : (tensor<3xf32>) -> tensor<4x3xf32>",
       {"tensor<3xf32>"},
       {"tensor<4x3xf32>"}},
      {"transpose %0 [2, 0, 1] : (tensor<4x3x2xf32>) -> tensor<2x4x3xf32>",
       {"tensor<4x3x2xf32>"},
       {"tensor<2x4x3xf32>"}},
      {"reshape %0 : (tensor<4x3x2xf32>) -> tensor<12x2xf32>",
       {"tensor<4x3x2xf32>"},
       {"tensor<12x2xf32>"}},
      {"reshape %0 : (tensor<12x2xf32>) -> tensor<4x3x2xf32>",
       {"tensor<12x2xf32>"},
       {"tensor<4x3x2xf32>"}},
      {"reshape %0 : (tensor<4x6xf32>) -> tensor<6x4xf32>",
       {"tensor<4x6xf32>"},
       {"tensor<6x4xf32>"}},
      {"reshape %0 : (tensor<4x1x6xf32>) -> tensor<1x4x3x1x2xf32>",
       {"tensor<4x1x6xf32>"},
       {"tensor<1x4x3x1x2xf32>"}},
      {"reshape %0 : (tensor<16x9xf32>) -> tensor<4x3x12xf32>",
       {"tensor<16x9xf32>"},
       {"tensor<4x3x12xf32>"}},
      {"slice %0 from [0, 1] to [4, 3] by [1, 1] : (tensor<4x5xf32>) -> tensor<4x2xf32>",
       {"tensor<4x5xf32>"},
       {"tensor<4x2xf32>"}},
      {"pad %0 with 0.0 : f32 low [0, 1] high [0, 2] interior [0, 0] : (tensor<4x3xf32>) -> "
       "tensor<4x6xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<4x6xf32>"}},
      {"concatenate %0, %1 dim 1 : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>",
       {"tensor<4x3xf32>", "tensor<4x2xf32>"},
       {"tensor<4x5xf32>"}},
      {"dynamic_slice %0 at %1 : (tensor<4x5xf32>, tensor<2xi32>) -> tensor<4x2xf32>",
       {"tensor<4x5xf32>", "tensor<2xi32>"},
       {"tensor<4x2xf32>"}},
      {"dynamic_update %1 into %0 at %2 : (tensor<4x5xf32>, tensor<4x2xf32>, tensor<2xi32>) -> "
       "tensor<4x5xf32>",
       {"tensor<4x5xf32>", "tensor<4x2xf32>", "tensor<2xi32>"},
       {"tensor<4x5xf32>"}},
      {"gather %0[%1] : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4x2x3xf32>",
       {"tensor<5x3xf32>", "tensor<4x2xi32>"},
       {"tensor<4x2x3xf32>"}},
      {"scatter_add %1 at %0 : (tensor<4x2xi32>, tensor<4x2x3xf32>) -> tensor<5x3xf32>",
       {"tensor<4x2xi32>", "tensor<4x2x3xf32>"},
       {"tensor<5x3xf32>"}},
      {"scatter %2 into %0 at %1 : (tensor<5x3xf32>, tensor<4xi32>, tensor<4x3xf32>) -> "
       "tensor<5x3xf32>",
       {"tensor<5x3xf32>", "tensor<4xi32>", "tensor<4x3xf32>"},
       {"tensor<5x3xf32>"}},
      {"take_along %0[%1] : (tensor<4x5xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>",
       {"tensor<4x5xf32>", "tensor<4x2xi32>"},
       {"tensor<4x2xf32>"}},
      {"scatter_add_along %1 at %0 : (tensor<4x3xi32>, tensor<4x3xf32>) -> tensor<4x5xf32>",
       {"tensor<4x3xi32>", "tensor<4x3xf32>"},
       {"tensor<4x5xf32>"}},
      {"one_hot %0 : (tensor<4x3xi32>) -> tensor<4x3x5xf32>",
       {"tensor<4x3xi32>"},
       {"tensor<4x3x5xf32>"}},
      {"top_k %0 : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)",
       {"tensor<4x5xf32>"},
       {"tensor<4x2xf32>", "tensor<4x2xi32>"}},
      {"argmax %0 dim 1 : (tensor<4x5xf32>) -> tensor<4xi32>",
       {"tensor<4x5xf32>"},
       {"tensor<4xi32>"}},
      {"cumsum %0 dim 1 : tensor<4x5xf32>", {"tensor<4x5xf32>"}, {"tensor<4x5xf32>"}},
      {"sum %0 dims [0, 2] : (tensor<4x3x2xf32>) -> tensor<3xf32>",
       {"tensor<4x3x2xf32>"},
       {"tensor<3xf32>"}},
      {"mean %0 dims [0] : (tensor<4x3xf32>) -> tensor<3xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<3xf32>"}},
      {"max %0 dims [1] : (tensor<4x3xf32>) -> tensor<4xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<4xf32>"}},
      {"min %0 dims [1] : (tensor<4x3xf32>) -> tensor<4xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<4xf32>"}},
      {"prod %0 dims [1] : (tensor<4x3xf32>) -> tensor<4xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<4xf32>"}},
      {"logsumexp %0 dims [1] : (tensor<4x3xf32>) -> tensor<4xf32>",
       {"tensor<4x3xf32>"},
       {"tensor<4xf32>"}},
      {"softmax %0 : tensor<4x3xf32>", {"tensor<4x3xf32>"}, {"tensor<4x3xf32>"}},
      {"log_softmax %0 : tensor<4x3xf32>", {"tensor<4x3xf32>"}, {"tensor<4x3xf32>"}},
      {"cross_entropy %0, %1 : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<4xf32>",
       {"tensor<4x3xf32>", "tensor<4xi32>"},
       {"tensor<4xf32>"}},
      {"layer_norm %0, %1, %2 {epsilon = 1.0e-5} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) "
       "-> "
       "(tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)",
       {"tensor<4x3xf32>", "tensor<3xf32>", "tensor<3xf32>"},
       {"tensor<4x3xf32>", "tensor<4xf32>", "tensor<4xf32>"}},
      {"rms_norm %0, %1 {epsilon = 1.0e-5} : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, "
       "tensor<4xf32>)",
       {"tensor<4x3xf32>", "tensor<3xf32>"},
       {"tensor<4x3xf32>", "tensor<4xf32>"}},
      {"group_norm %0, %1, %2 groups 2 {epsilon = 1.0e-5} : (tensor<4x6x2xf32>, tensor<6xf32>, "
       "tensor<6xf32>) "
       "-> (tensor<4x6x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)",
       {"tensor<4x6x2xf32>", "tensor<6xf32>", "tensor<6xf32>"},
       {"tensor<4x6x2xf32>", "tensor<4x2xf32>", "tensor<4x2xf32>"}},
      {"batch_norm %0, %1, %2 {epsilon = 1.0e-5} : (tensor<4x6x2xf32>, tensor<6xf32>, "
       "tensor<6xf32>) -> "
       "(tensor<4x6x2xf32>, tensor<6xf32>, tensor<6xf32>)",
       {"tensor<4x6x2xf32>", "tensor<6xf32>", "tensor<6xf32>"},
       {"tensor<4x6x2xf32>", "tensor<6xf32>", "tensor<6xf32>"}},
      {"batch_statistics %0, %1 count 8 : tensor<6xf32>",
       {"tensor<6xf32>", "tensor<6xf32>"},
       {"tensor<6xf32>", "tensor<6xf32>"}},
      {"batch_norm_inference %0, %1, %2, %3, %4 {epsilon = 1.0e-5} : (tensor<4x6x2xf32>, "
       "tensor<6xf32>, "
       "tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x2xf32>",
       {"tensor<4x6x2xf32>", "tensor<6xf32>", "tensor<6xf32>", "tensor<6xf32>", "tensor<6xf32>"},
       {"tensor<4x6x2xf32>"}},
      {"dot_general %0, %1 batch [0] x [1] contracting [2] x [0] : (tensor<4x3x6xf32>, "
       "tensor<6x4x2xf32>) -> "
       "tensor<4x3x2xf32>",
       {"tensor<4x3x6xf32>", "tensor<6x4x2xf32>"},
       {"tensor<4x3x2xf32>"}},
      {"dot_accumulate %0, %1 onto %2 batch [0] x [1] contracting [2] x [0] : (tensor<4x3x6xf32>, "
       "tensor<6x4x2xf32>, tensor<4x3x2xf32>) -> "
       "tensor<4x3x2xf32>",
       {"tensor<4x3x6xf32>", "tensor<6x4x2xf32>", "tensor<4x3x2xf32>"},
       {"tensor<4x3x2xf32>"}},
      {"dot_lanes %0, %1 lanes 2 along 0 batch [0] x [1] contracting [2] x [0] : "
       "(tensor<4x3x6xf32>, tensor<6x4x2xf32>) -> tensor<4x3x2xf32>",
       {"tensor<4x3x6xf32>", "tensor<6x4x2xf32>"},
       {"tensor<4x3x2xf32>"}},
      {"dot_bias %0, %1 bias %2 batch [0] x [1] contracting [2] x [0] : (tensor<4x3x6xf32>, "
       "tensor<6x4x2xf32>, tensor<2xf32>) -> "
       "tensor<4x3x2xf32>",
       {"tensor<4x3x6xf32>", "tensor<6x4x2xf32>", "tensor<2xf32>"},
       {"tensor<4x3x2xf32>"}},
      {"convolution %0, %1 strides [1] low [1] high [0] dilation [1] : (tensor<4x2x5xf32>, "
       "tensor<3x2x2xf32>) "
       "-> tensor<4x3x5xf32>",
       {"tensor<4x2x5xf32>", "tensor<3x2x2xf32>"},
       {"tensor<4x3x5xf32>"}},
      {"convolution_transpose %0, %1 strides [1] low [1] high [0] dilation [1] : "
       "(tensor<4x3x5xf32>, "
       "tensor<3x2x2xf32>) -> tensor<4x2x5xf32>",
       {"tensor<4x3x5xf32>", "tensor<3x2x2xf32>"},
       {"tensor<4x2x5xf32>"}},
      {"convolution_filter %0, %1 strides [1] low [1] high [0] dilation [1] : (tensor<4x2x5xf32>, "
       "tensor<4x3x5xf32>) -> tensor<3x2x2xf32>",
       {"tensor<4x2x5xf32>", "tensor<4x3x5xf32>"},
       {"tensor<3x2x2xf32>"}},
      {"max_pool %0 window [2] strides [1] low [0] high [0] : (tensor<4x2x5xf32>) -> "
       "(tensor<4x2x4xf32>, "
       "tensor<4x2x4xi32>)",
       {"tensor<4x2x5xf32>"},
       {"tensor<4x2x4xf32>", "tensor<4x2x4xi32>"}},
      {"average_pool %0 window [2] strides [1] low [0] high [0] : (tensor<4x2x5xf32>) -> "
       "tensor<4x2x4xf32>",
       {"tensor<4x2x5xf32>"},
       {"tensor<4x2x4xf32>"}},
      {"average_pool_backward %0 window [2] strides [1] low [0] high [0] : (tensor<4x2x4xf32>) -> "
       "tensor<4x2x5xf32>",
       {"tensor<4x2x4xf32>"},
       {"tensor<4x2x5xf32>"}},
      {"attention %0, %1, %2 bias %3 : tensor<1x2x3x5xf32> seed %4 offset %5 {scale = 0.5, rate = "
       "0.5, stream = "
       "2 : i64, global_shape = array<i64: 4, 2, 3, 5>} : (tensor<4x2x3x6xf32>, "
       "tensor<4x1x5x6xf32>, "
       "tensor<4x1x5x7xf32>) -> (tensor<4x2x3x7xf32>, tensor<4x2x3xf32>)",
       {"tensor<4x2x3x6xf32>", "tensor<4x1x5x6xf32>", "tensor<4x1x5x7xf32>", "tensor<1x2x3x5xf32>",
        "tensor<i64>", "tensor<i64>"},
       {"tensor<4x2x3x7xf32>", "tensor<4x2x3xf32>"}},
      {"attention_backward %0, %1, %2, %3, %4, %5 {scale = 0.5, causal} : (tensor<4x2x3x6xf32>, "
       "tensor<4x1x3x6xf32>, tensor<4x1x3x7xf32>, tensor<4x2x3x7xf32>, tensor<4x2x3xf32>, "
       "tensor<4x2x3x7xf32>) -> (tensor<4x2x3x6xf32>, tensor<4x1x3x6xf32>, tensor<4x1x3x7xf32>)",
       {"tensor<4x2x3x6xf32>", "tensor<4x1x3x6xf32>", "tensor<4x1x3x7xf32>", "tensor<4x2x3x7xf32>",
        "tensor<4x2x3xf32>", "tensor<4x2x3x7xf32>"},
       {"tensor<4x2x3x6xf32>", "tensor<4x1x3x6xf32>", "tensor<4x1x3x7xf32>"}},
      {"rotary %0, %1, %2 : tensor<4x2x3x6xf32>, tensor<3x3xf32>",
       {"tensor<4x2x3x6xf32>", "tensor<3x3xf32>", "tensor<3x3xf32>"},
       {"tensor<4x2x3x6xf32>"}},
  };
  return list;
}

/// Returns elementwise ops of one or two operands, of the types that they accept.
inline std::vector<std::string> elementwise() {
  std::vector<std::string> list;
  for (const char *op : {"neg", "abs", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid",
                         "silu", "sin", "cos", "floor", "relu", "gelu"})
    list.push_back(std::string(op) + " %0 : tensor<4x3xf32>");
  for (const char *op : {"add", "sub", "mul", "div", "maximum", "minimum", "pow"})
    list.push_back(std::string(op) + " %0, %1 : tensor<4x3xf32>");
  for (const char *op : {"rem", "and", "shift_left", "shift_right"})
    list.push_back(std::string(op) + " %0, %1 : tensor<4x3xi32>");
  list.push_back("not %0 : tensor<4x3xi1>");
  for (const char *op : {"and", "or", "xor"})
    list.push_back(std::string(op) + " %0, %1 : tensor<4x3xi1>");
  return list;
}

inline std::string writeFunction(const std::string &op, const std::vector<std::string> &operands,
                                 const std::vector<std::string> &results) {
  std::string arguments, types, values;
  for (auto [i, type] : llvm::enumerate(operands))
    arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + type;
  for (auto [i, type] : llvm::enumerate(results)) {
    types += (i ? ", " : "") + type;
    values += (i ? ", %r#" : "%r#") + std::to_string(i);
  }
  return "func.func @f(" + arguments + ") -> (" + types +
         ") {\n  %r:" + std::to_string(results.size()) + " = reprise." + op + "\n  return " +
         values + " : " + types + "\n}";
}

inline std::vector<std::string> allTexts() {
  std::vector<std::string> texts;
  for (const Instance &instance : instances())
    texts.push_back(writeFunction(instance.op, {instance.operands.begin(), instance.operands.end()},
                                  {instance.results.begin(), instance.results.end()}));
  for (const std::string &op : elementwise()) {
    std::string type = op.substr(op.find(" : ") + 3);
    std::vector<std::string> operands(op.find("%1") == std::string::npos ? 1 : 2, type);
    texts.push_back(writeFunction(op, operands, {type}));
  }
  return texts;
}

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_DIALECT_REPRISE_BATCHINGINSTANCES_H
