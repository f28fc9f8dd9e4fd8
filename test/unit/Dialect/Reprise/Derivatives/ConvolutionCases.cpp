// reprise: small programs around convolutions and pooling, for the test of their derivatives.
#include "DerivativeCases.h"

namespace reprise::test {

using Cases = std::vector<DerivativeCase>;

void addConvolutionCases(Cases &cases) {
  struct Shape {
    std::string name, image, filter, output, windows;
  };
  const Shape shapes[] = {{"", "2x2x4x3x", "3x2x3x2x", "2x3x2x4x",
                           "strides [2, 1] low [1, 1] high [0, 1] dilation [1, 1]"},
                          {"Groups", "1x4x5x", "2x2x2x", "1x2x2x",
                           "strides [2] low [0] high [0] dilation [2] {groups = 2 : i64}"}};
  auto type = [](const std::string &shape) { return "tensor<" + shape + "$t>"; };
  for (const Shape &s : shapes) {
    auto add = [&](std::string op, std::string name, std::string first, std::string second,
                   std::string result) {
      cases.push_back({op,
                       name + s.name,
                       {{first}, {second}},
                       "%r0 = reprise." + op + " %x0, %x1 " + s.windows + " : (" + type(first) +
                           ", " + type(second) + ") -> " + type(result),
                       {{result}}});
    };
    add("convolution", "convolution", s.image, s.filter, s.output);
    add("convolution_transpose", "convolutionTranspose", s.output, s.filter, s.image);
    add("convolution_filter", "convolutionFilter", s.image, s.output, s.filter);
  }
  auto pool = [&](std::string op, std::string name, std::string from, std::string windows,
                  std::string to) {
    bool max = op == "max_pool";
    cases.push_back({op,
                     name,
                     {{from, -2, 2}},
                     std::string(max ? "%r0, %at" : "%r0") + " = reprise." + op + " %x0 " +
                         windows + " : (" + type(from) + ") -> " +
                         (max ? "(" + type(to) + ", tensor<" + to + "i32>)" : type(to)),
                     {{to}}});
  };
  std::string windows = "window [3, 2] strides [2, 1] low [1, 0] high [0, 1]";
  std::string adaptive = "adaptive window [] strides [] low [] high []";
  pool("max_pool", "maxPool", "2x1x4x3x", windows, "2x1x2x3x");
  pool("max_pool", "maxPoolAdaptive", "1x2x5x", adaptive, "1x2x3x");
  pool("average_pool", "averagePool", "2x1x4x3x", windows, "2x1x2x3x");
  pool("average_pool", "averagePoolAdaptive", "1x2x5x", adaptive, "1x2x3x");
  pool("average_pool_backward", "averagePoolBackward", "2x1x2x3x", windows, "2x1x4x3x");
  pool("average_pool_backward", "averagePoolBackwardAdaptive", "1x2x3x", adaptive, "1x2x5x");
  cases.push_back({"dot_accumulate",
                   "dotAccumulate",
                   {{"2x3x"}, {"3x4x"}, {"2x4x", 0, 0, "$c"}},
                   "%r0 = reprise.dot_accumulate %x0, %x1 onto %x2 contracting [1] x [0] : "
                   "(tensor<2x3x$t>, tensor<3x4x$t>, tensor<2x4x$c>) -> tensor<2x4x$c>",
                   {{"2x4x", 0, 0, "$c"}}});
  cases.push_back({"dot_lanes",
                   "dotLanes",
                   {{"2x4x"}, {"4x3x"}},
                   "%r0 = reprise.dot_lanes %x0, %x1 lanes 2 along 0 contracting [1] x [0] : "
                   "(tensor<2x4x$t>, tensor<4x3x$t>) -> tensor<2x3x$t>",
                   {{"2x3x"}}});
}

} // namespace reprise::test
