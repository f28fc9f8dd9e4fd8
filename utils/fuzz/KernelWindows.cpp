// reprise: convolutions, their gradients and poolings in the programs for kernels
#include "KernelValues.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = KernelValues::Shape;
using TensorType = KernelValues::TensorType;
using Attributes = KernelValues::Attributes;

namespace {
struct Window {
  int64_t image, output, size, stride, low, high, dilation;
};
} // namespace

/// Draws a window. The output's size is drawn, not the image's, because outputs fill vectors,
/// strips and blocks.
static Window drawWindow(KernelValues &v, int64_t most, bool isPool) {
  static constexpr int64_t sizes[] = {1, 1, 2, 2, 3, 3, 3, 4, 5, 7, 8, 11, 16, 17};
  static constexpr int64_t strides[] = {1, 1, 1, 2, 2, 2, 3, 4};
  for (;;) {
    Window w{};
    w.output = v.drawSize(most);
    w.size = v.random.pick(sizes);
    w.stride = v.random.pick(strides);
    w.dilation = !isPool && v.random.chance(30) ? v.random.within(2, 3) : 1;
    int64_t reach = (w.size - 1) * w.dilation + 1, padded = isPool ? w.size : reach + 2;
    w.low = v.random.chance(50) ? v.random.below(padded) : 0;
    w.high = v.random.chance(50) ? v.random.below(padded) : 0;
    w.image = (w.output - 1) * w.stride + reach - w.low - w.high + v.random.below(w.stride);
    // A window of a pooling holds a position of the image.
    bool holds = !isPool || (w.output - 1) * w.stride - w.low < w.image;
    if (w.image > 0 && w.image <= 4 * most + 8 && holds)
      return w;
    most = std::max<int64_t>(most, 2);
  }
}

static Attributes windowAttributes(KernelValues &v, ArrayRef<Window> windows, bool isPool) {
  auto all = [&](StringRef name, int64_t Window::*field) {
    Shape values;
    for (const Window &window : windows)
      values.push_back(window.*field);
    return v.numbers(name, values);
  };
  return {all("strides", &Window::stride), all("low", &Window::low), all("high", &Window::high),
          isPool ? all("window", &Window::size) : all("dilation", &Window::dilation)};
}

/// Returns image, filter and output of a convolution; none if one is too large.
static SmallVector<RankedTensorType> drawConvolution(KernelValues &v, ArrayRef<Window> windows,
                                                     int64_t &groups) {
  int64_t lines = 1, terms = 1;
  for (const Window &w : windows)
    lines *= w.output, terms *= w.size;
  int64_t samples, channels, outputs; // channels and outputs of one group
  v.draw({&samples, &groups, &channels, &outputs}, std::max<int64_t>(1, v.mostElements / lines));
  if (v.random.chance(50))
    groups = 1;
  if (samples * groups * channels * outputs * lines * terms > v.mostFlops)
    return {};
  Shape image = {samples, groups * channels}, filter = {groups * outputs, channels};
  Shape output = {samples, groups * outputs};
  for (const Window &w : windows) {
    image.push_back(w.image);
    filter.push_back(w.size);
    output.push_back(w.output);
  }
  Type own = v.drawFloat();
  SmallVector<TensorType> types = {tensor(image, own), tensor(filter, own), tensor(output, own)};
  bool isLarge = llvm::any_of(
      types, [&](TensorType type) { return type.getNumElements() > 2 * v.mostElements; });
  return isLarge ? SmallVector<TensorType>() : types;
}

/// Emits a convolution or one of its gradients.
Value emitConvolution(KernelValues &v) {
  SmallVector<Window> windows;
  SmallVector<TensorType> types;
  int64_t groups;
  while (types.empty()) {
    windows.clear();
    int64_t left = v.mostElements / 8;
    for (int64_t rank = v.random.chance(80) ? 2 : 1; rank > 0; --rank) {
      windows.push_back(drawWindow(v, left, false));
      left /= windows.back().output;
    }
    types = drawConvolution(v, windows, groups);
  }
  Attributes attributes = windowAttributes(v, windows, false);
  attributes.push_back(v.number("groups", groups));
  static constexpr StringLiteral names[] = {"convolution_filter", "convolution_transpose",
                                            "convolution"};
  // Each op computes one of the three from the other two.
  static constexpr int operands[3][2] = {{0, 2}, {2, 1}, {0, 1}}, results[] = {1, 0, 2};
  int64_t kind = v.random.below(3);
  return v.emit(names[kind], types[results[kind]],
                {v.operand(types[operands[kind][0]]), v.operand(types[operands[kind][1]])},
                attributes);
}

Value emitPool(KernelValues &v) {
  bool isAdaptive = v.random.chance(25);
  Shape image = {v.random.within(1, 4), v.random.within(1, 6)}, pooled(image);
  int64_t rank = v.random.chance(75) ? 2 : 1, left = v.mostElements / (image[0] * image[1]) / 4;
  SmallVector<Window> windows;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t most = std::clamp<int64_t>(left, 2, 600);
    Window w = isAdaptive ? Window{v.drawSize(most), v.drawSize(most), 0, 0, 0, 0, 0}
                          : drawWindow(v, most, true);
    left /= std::max(w.image, w.output);
    image.push_back(w.image);
    pooled.push_back(w.output);
    windows.push_back(w);
  }
  Attributes attributes = windowAttributes(v, isAdaptive ? ArrayRef<Window>() : windows, true);
  if (isAdaptive)
    attributes.push_back(v.b.getNamedAttr("adaptive", v.b.getUnitAttr()));
  auto imageType = tensor(image, v.drawFloat());
  auto pooledType = imageType.clone(pooled);
  switch (v.random.below(3)) {
  case 0: {
    Type position = v.random.chance(50) ? v.b.getI32Type() : v.b.getI64Type();
    return v.emit("max_pool", {pooledType, pooledType.clone(position)}, v.operand(imageType),
                  attributes);
  }
  case 1:
    return v.emit("average_pool", pooledType, v.operand(imageType), attributes);
  default:
    return v.emit("average_pool_backward", imageType, v.operand(pooledType), attributes);
  }
}

} // namespace reprise::fuzz
