// reprise: convolutions and pooling as kernels, against the interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

using Sizes = std::vector<int64_t>;

/// A convolution; its output's size follows. Spatial attributes have one number per dimension of
/// `image`.
struct Case {
  int64_t samples, channels, outputs, groups;
  Sizes image, window, strides, low, high, dilation;
  std::string type = "f32";
};

struct Convolution : LoopHarness {
  Convolution() { specials = false; }

  static std::string list(const Sizes &sizes) {
    std::string text;
    for (int64_t size : sizes)
      text += (text.empty() ? "[" : ", ") + std::to_string(size);
    return text + "]";
  }

  static std::string tensor(Sizes sizes, const Sizes &more, const std::string &type) {
    sizes.insert(sizes.end(), more.begin(), more.end());
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + type + ">";
  }

  static std::string fillCase(std::string text, const Case &c) {
    Sizes output;
    for (size_t d = 0; d < c.image.size(); ++d)
      output.push_back((c.image[d] + c.low[d] + c.high[d] - (c.window[d] - 1) * c.dilation[d] - 1) /
                           c.strides[d] +
                       1);
    text = fill(text, "$W",
                "strides " + list(c.strides) + " low " + list(c.low) + " high " + list(c.high) +
                    " dilation " + list(c.dilation) + " {groups = " + std::to_string(c.groups) +
                    " : i64}");
    text = fill(text, "$I", tensor({c.samples, c.channels}, c.image, c.type));
    text = fill(text, "$F", tensor({c.outputs, c.channels / c.groups}, c.window, c.type));
    return fill(text, "$O", tensor({c.samples, c.outputs}, output, c.type));
  }

  /// The convolution and both of its gradients.
  void checkAll(const Case &c) {
    check(fillCase(R"(
func.func @f(%i: $I, %f: $F) -> $O {
  %0 = reprise.convolution %i, %f $W : ($I, $F) -> $O
  return %0 : $O
})",
                   c));
    check(fillCase(R"(
func.func @f(%o: $O, %f: $F) -> $I {
  %0 = reprise.convolution_transpose %o, %f $W : ($O, $F) -> $I
  return %0 : $I
})",
                   c));
    check(fillCase(R"(
func.func @f(%i: $I, %o: $O) -> $F {
  %0 = reprise.convolution_filter %i, %o $W : ($I, $O) -> $F
  return %0 : $F
})",
                   c));
  }

  /// A square window of `window`, padded alike on all sides.
  void checkSquare(int64_t samples, int64_t channels, int64_t outputs, int64_t size, int64_t window,
                   int64_t stride = 1, int64_t padding = 0, int64_t dilation = 1,
                   int64_t groups = 1, const std::string &type = "f32") {
    checkAll({samples,
              channels,
              outputs,
              groups,
              {size, size},
              {window, window},
              {stride, stride},
              {padding, padding},
              {padding, padding},
              {dilation, dilation},
              type});
  }
};

TEST_F(Convolution, OfAnyWindow) {
  checkSquare(2, 5, 7, 9, 3, 1, 1);
  checkSquare(1, 3, 4, 11, 5, 2, 2);
  checkSquare(3, 4, 6, 8, 3, 2, 1);
  checkSquare(2, 3, 2, 10, 3, 1, 2, 2);
  checkSquare(1, 2, 3, 13, 3, 2, 0, 3);
  checkSquare(1, 2, 3, 17, 3, 4, 1, 2);
  checkSquare(2, 3, 16, 21, 7, 2, 3);
  checkAll({2, 3, 4, 1, {7, 12}, {2, 5}, {3, 1}, {0, 4}, {1, 2}, {2, 1}});
  checkAll({2, 3, 4, 1, {5, 9}, {5, 1}, {1, 2}, {4, 0}, {0, 0}, {1, 1}});
}

TEST_F(Convolution, OfManyChannels) {
  checkSquare(2, 64, 64, 16, 3, 1, 1);
  checkSquare(1, 64, 48, 14, 3, 2, 1);
  checkSquare(16, 40, 96, 4, 3, 1, 1);
  checkSquare(16, 64, 33, 2, 3, 1, 1);
  checkSquare(3, 17, 50, 7, 3, 1, 1);
}

TEST_F(Convolution, Pointwise) {
  checkSquare(2, 37, 65, 7, 1);
  checkSquare(3, 64, 32, 8, 1);
  checkSquare(2, 16, 24, 9, 1, 2);
  checkSquare(1, 4, 8, 5, 1, 1, 2);
}

TEST_F(Convolution, InGroups) {
  checkSquare(2, 6, 4, 9, 3, 1, 1, 1, 2);
  checkSquare(2, 32, 64, 8, 3, 1, 1, 1, 8);
  checkSquare(1, 20, 20, 19, 3, 1, 1, 1, 20);
  checkSquare(2, 17, 17, 10, 3, 2, 1, 1, 17);
  checkSquare(1, 6, 18, 12, 5, 1, 2, 1, 6);
  checkSquare(2, 33, 33, 5, 3, 1, 2, 2, 33);
}

TEST_F(Convolution, OfOneDimension) {
  checkAll({2, 5, 8, 1, {37}, {4}, {1}, {3}, {0}, {1}});
  checkAll({2, 4, 4, 4, {37}, {4}, {1}, {3}, {0}, {1}});
  checkAll({3, 4, 6, 2, {50}, {3}, {2}, {1}, {1}, {2}});
}

TEST_F(Convolution, OfSeveralChains) {
  checkSquare(1, 460, 9, 3, 3, 1, 1);
  checkSquare(1, 1030, 3, 2, 2, 1, 1);
  checkSquare(2, 3, 4, 70, 3, 1, 1);
  checkSquare(1, 5, 5, 110, 3, 1, 1, 1, 5);
}

TEST_F(Convolution, OfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"}) {
    checkSquare(2, 6, 20, 9, 3, 1, 1, 1, 1, type);
    checkSquare(2, 6, 8, 9, 3, 2, 1, 1, 2, type);
    checkSquare(2, 18, 18, 9, 3, 1, 1, 1, 18, type);
    checkSquare(2, 18, 20, 6, 1, 1, 0, 1, 1, type);
  }
}

/// Positions two apart that fill whole vectors: output lines of the filter's gradient, a dilated
/// window, and every second position of a window.
TEST_F(Convolution, OfStridedRunsInOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"}) {
    checkAll({1, 1, 1, 1, {2, 33}, {1, 2}, {1, 2}, {0, 0}, {0, 0}, {1, 1}, type});
    checkAll({3, 1, 13, 1, {7, 16}, {5, 5}, {2, 2}, {3, 2}, {3, 3}, {1, 1}, type});
    checkAll({1, 2, 3, 1, {5, 31}, {2, 16}, {1, 1}, {0, 0}, {0, 0}, {1, 2}, type});
    checkAll({2, 3, 2, 1, {6, 65}, {3, 32}, {1, 2}, {1, 1}, {0, 0}, {1, 1}, type});
    checkAll({2, 2, 40, 2, {3, 66}, {2, 1}, {2, 2}, {1, 0}, {0, 0}, {1, 1}, type});
  }
}

TEST_F(Convolution, OfSpecialValues) {
  specials = true;
  checkSquare(2, 3, 5, 6, 3, 1, 1);
  checkSquare(2, 5, 5, 6, 3, 2, 1, 1, 5);
}

TEST_F(Convolution, OfMovedOperands) {
  check(R"(
func.func @f(%i: tensor<7x9x2x3xf32>, %f: tensor<3x3x4x3xf32>) -> tensor<2x4x7x9xf32> {
  %0 = reprise.transpose %i [2, 3, 0, 1] : (tensor<7x9x2x3xf32>) -> tensor<2x3x7x9xf32>
  %1 = reprise.transpose %f [2, 3, 0, 1] : (tensor<3x3x4x3xf32>) -> tensor<4x3x3x3xf32>
  %2 = reprise.convolution %0, %1 strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1]
      : (tensor<2x3x7x9xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x7x9xf32>
  return %2 : tensor<2x4x7x9xf32>
})");
}

TEST_F(Convolution, WithElementwiseOps) {
  for (const char *size : {"16", "7", "2"})
    for (int64_t groups : {1, 5})
      check(fill(fill(fill(R"(
func.func @f(%i: tensor<3x5x$Nx$Nxf32>, %f: tensor<20x$Cx3x3xf32>, %b: tensor<20xf32>, %r: tensor<3x20x$Nx$Nxf32>)
    -> (tensor<3x20x$Nx$Nxf32>, tensor<3x20x$Nx$Nxf32>) {
  %0 = reprise.convolution %i, %f strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] {groups = $G : i64}
      : (tensor<3x5x$Nx$Nxf32>, tensor<20x$Cx3x3xf32>) -> tensor<3x20x$Nx$Nxf32>
  %1 = reprise.broadcast %b dims [1] : (tensor<20xf32>) -> tensor<3x20x$Nx$Nxf32>
  %2 = reprise.add %0, %1 : tensor<3x20x$Nx$Nxf32>
  %3 = reprise.add %2, %r : tensor<3x20x$Nx$Nxf32>
  %4 = reprise.relu %3 : tensor<3x20x$Nx$Nxf32>
  return %4, %2 : tensor<3x20x$Nx$Nxf32>, tensor<3x20x$Nx$Nxf32>
})",
                           "$N", size),
                      "$G", std::to_string(groups)),
                 "$C", std::to_string(5 / groups)));
}

TEST_F(Convolution, GradientsWithElementwiseOps) {
  check(R"(
func.func @f(%o: tensor<3x8x9x9xf32>, %f: tensor<8x10x3x3xf32>, %b: tensor<20xf32>, %r: tensor<3x20x9x9xf32>)
    -> tensor<3x20x9x9xf32> {
  %0 = reprise.convolution_transpose %o, %f strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] {groups = 2 : i64}
      : (tensor<3x8x9x9xf32>, tensor<8x10x3x3xf32>) -> tensor<3x20x9x9xf32>
  %1 = reprise.broadcast %b dims [1] : (tensor<20xf32>) -> tensor<3x20x9x9xf32>
  %2 = reprise.mul %0, %1 : tensor<3x20x9x9xf32>
  %3 = reprise.add %2, %r : tensor<3x20x9x9xf32>
  return %3 : tensor<3x20x9x9xf32>
})");
  check(R"(
func.func @f(%i: tensor<3x10x9x9xf32>, %o: tensor<3x20x9x9xf32>, %w: tensor<20x5x3x3xf32>) -> tensor<20x5x3x3xf32> {
  %0 = reprise.convolution_filter %i, %o strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] {groups = 2 : i64}
      : (tensor<3x10x9x9xf32>, tensor<3x20x9x9xf32>) -> tensor<20x5x3x3xf32>
  %1 = reprise.add %0, %w : tensor<20x5x3x3xf32>
  return %1 : tensor<20x5x3x3xf32>
})");
}

//===-- Pooling -------------------------------------------------------------------------------===//

struct Pool : Convolution {
  Pool() { specials = true; }

  /// Checks all poolings of planes of `image` to planes of `pooled`, with `windows` as attributes.
  void checkAll(const Sizes &image, const Sizes &pooled, const std::string &windows,
                const std::string &type = "f32", const std::string &positions = "i32") {
    auto text = [&](std::string text) {
      text = fill(text, "$W", windows);
      text = fill(text, "$I", tensor({2, 3}, image, type));
      text = fill(text, "$Q", tensor({2, 3}, pooled, positions));
      return fill(text, "$P", tensor({2, 3}, pooled, type));
    };
    check(text(R"(
func.func @f(%i: $I) -> ($P, $Q) {
  %0:2 = reprise.max_pool %i $W : ($I) -> ($P, $Q)
  return %0#0, %0#1 : $P, $Q
})"));
    check(text(R"(
func.func @f(%i: $I) -> ($Q) {
  %0:2 = reprise.max_pool %i $W : ($I) -> ($P, $Q)
  return %0#1 : $Q
})"));
    check(text(R"(
func.func @f(%i: $I) -> $P {
  %0 = reprise.average_pool %i $W : ($I) -> $P
  return %0 : $P
})"));
    check(text(R"(
func.func @f(%o: $P) -> $I {
  %0 = reprise.average_pool_backward %o $W : ($P) -> $I
  return %0 : $I
})"));
  }

  void checkSquare(int64_t size, int64_t window, int64_t stride, int64_t padding,
                   const std::string &type = "f32", const std::string &positions = "i32") {
    int64_t to = (size + 2 * padding - window) / stride + 1;
    checkAll({size, size}, {to, to},
             "window " + list({window, window}) + " strides " + list({stride, stride}) + " low " +
                 list({padding, padding}) + " high " + list({padding, padding}),
             type, positions);
  }
};

TEST_F(Pool, OfAnyWindow) {
  checkSquare(8, 2, 2, 0);
  checkSquare(17, 3, 2, 1);
  checkSquare(40, 3, 2, 1);
  checkSquare(9, 3, 1, 1);
  checkSquare(35, 5, 3, 2);
  checkSquare(6, 6, 1, 0);
  checkAll({5, 19}, {5, 6}, "window [2, 4] strides [1, 3] low [0, 1] high [1, 1]");
  checkAll({20}, {10}, "window [3] strides [2] low [1] high [0]");
}

TEST_F(Pool, Adaptive) {
  std::string windows = "adaptive window [] strides [] low [] high []";
  checkAll({7, 7}, {1, 1}, windows);
  checkAll({7, 9}, {3, 4}, windows);
  checkAll({3, 5}, {7, 6}, windows);
  checkAll({11}, {4}, windows);
}

TEST_F(Pool, OfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"})
    checkSquare(19, 3, 2, 1, type, "i64");
}

TEST_F(Pool, OfMovedOperands) {
  check(R"(
func.func @f(%i: tensor<8x6x2x3xf32>) -> tensor<2x3x4x3xf32> {
  %0 = reprise.transpose %i [2, 3, 0, 1] : (tensor<8x6x2x3xf32>) -> tensor<2x3x8x6xf32>
  %1 = reprise.average_pool %0 window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
      : (tensor<2x3x8x6xf32>) -> tensor<2x3x4x3xf32>
  return %1 : tensor<2x3x4x3xf32>
})");
}

} // namespace
