// reprise: convolutions, their gradients and poolings in the programs for kernels
#include "KernelGenerator.h"

using namespace mlir;

namespace reprise::fuzz {

struct KernelGenerator::Window {
  int64_t image, output, size, stride, low, high, dilation;
};

/// The output's size is drawn, not the image's: what fills vectors, strips and blocks are outputs.
KernelGenerator::Window KernelGenerator::drawWindow(int64_t most, bool isPool) {
  static constexpr int64_t sizes[] = {1, 1, 2, 2, 3, 3, 3, 4, 5, 7, 8, 11, 16, 17};
  static constexpr int64_t strides[] = {1, 1, 1, 2, 2, 2, 3, 4};
  for (;;) {
    Window w{};
    w.output = drawSize(most);
    w.size = random.pick(sizes);
    w.stride = random.pick(strides);
    w.dilation = !isPool && random.chance(30) ? random.within(2, 3) : 1;
    int64_t reach = (w.size - 1) * w.dilation + 1, padded = isPool ? w.size : reach + 2;
    w.low = random.chance(50) ? random.below(padded) : 0;
    w.high = random.chance(50) ? random.below(padded) : 0;
    w.image = (w.output - 1) * w.stride + reach - w.low - w.high + random.below(w.stride);
    // A window of a pooling holds a position of the image.
    bool holds = !isPool || (w.output - 1) * w.stride - w.low < w.image;
    if (w.image > 0 && w.image <= 4 * most + 8 && holds)
      return w;
    most = std::max<int64_t>(most, 2);
  }
}

KernelGenerator::Attributes KernelGenerator::windowAttributes(ArrayRef<Window> windows,
                                                              bool isPool) {
  auto all = [&](StringRef name, int64_t Window::*field) {
    Shape values;
    for (const Window &window : windows)
      values.push_back(window.*field);
    return numbers(name, values);
  };
  return {all("strides", &Window::stride), all("low", &Window::low), all("high", &Window::high),
          isPool ? all("window", &Window::size) : all("dilation", &Window::dilation)};
}

/// Image, filter and output of a convolution; none if one is too large.
SmallVector<RankedTensorType> KernelGenerator::drawConvolution(ArrayRef<Window> windows,
                                                               int64_t &groups) {
  int64_t lines = 1, terms = 1;
  for (const Window &w : windows)
    lines *= w.output, terms *= w.size;
  int64_t samples, channels, outputs; // channels and outputs of one group
  draw({&samples, &groups, &channels, &outputs}, std::max<int64_t>(1, mostElements / lines));
  if (random.chance(50))
    groups = 1;
  if (samples * groups * channels * outputs * lines * terms > mostFlops)
    return {};
  Shape image = {samples, groups * channels}, filter = {groups * outputs, channels};
  Shape output = {samples, groups * outputs};
  for (const Window &w : windows) {
    image.push_back(w.image);
    filter.push_back(w.size);
    output.push_back(w.output);
  }
  Type own = drawFloat();
  SmallVector<TensorType> types = {tensor(image, own), tensor(filter, own), tensor(output, own)};
  bool isLarge = llvm::any_of(
      types, [&](TensorType type) { return type.getNumElements() > 2 * mostElements; });
  return isLarge ? SmallVector<TensorType>() : types;
}

/// A convolution or one of its gradients.
Value KernelGenerator::emitConvolution() {
  SmallVector<Window> windows;
  SmallVector<TensorType> types;
  int64_t groups;
  while (types.empty()) {
    windows.clear();
    int64_t left = mostElements / 8;
    for (int64_t rank = random.chance(80) ? 2 : 1; rank > 0; --rank) {
      windows.push_back(drawWindow(left, false));
      left /= windows.back().output;
    }
    types = drawConvolution(windows, groups);
  }
  Attributes attributes = windowAttributes(windows, false);
  attributes.push_back(number("groups", groups));
  static constexpr StringLiteral names[] = {"convolution_filter", "convolution_transpose",
                                            "convolution"};
  // Each makes one of the three from the other two.
  static constexpr int operands[3][2] = {{0, 2}, {2, 1}, {0, 1}}, results[] = {1, 0, 2};
  int64_t kind = random.below(3);
  return emit(names[kind], types[results[kind]],
              {operand(types[operands[kind][0]]), operand(types[operands[kind][1]])}, attributes);
}

Value KernelGenerator::emitPool() {
  bool isAdaptive = random.chance(25);
  Shape image = {random.within(1, 4), random.within(1, 6)}, pooled(image);
  int64_t rank = random.chance(75) ? 2 : 1, left = mostElements / (image[0] * image[1]) / 4;
  SmallVector<Window> windows;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t most = std::clamp<int64_t>(left, 2, 600);
    Window w =
        isAdaptive ? Window{drawSize(most), drawSize(most), 0, 0, 0, 0, 0} : drawWindow(most, true);
    left /= std::max(w.image, w.output);
    image.push_back(w.image);
    pooled.push_back(w.output);
    windows.push_back(w);
  }
  Attributes attributes = windowAttributes(isAdaptive ? ArrayRef<Window>() : windows, true);
  if (isAdaptive)
    attributes.push_back(b.getNamedAttr("adaptive", b.getUnitAttr()));
  auto imageType = tensor(image, drawFloat());
  auto pooledType = imageType.clone(pooled);
  switch (random.below(3)) {
  case 0: {
    Type position = random.chance(50) ? b.getI32Type() : b.getI64Type();
    return emit("max_pool", {pooledType, pooledType.clone(position)}, operand(imageType),
                attributes);
  }
  case 1:
    return emit("average_pool", pooledType, operand(imageType), attributes);
  default:
    return emit("average_pool_backward", imageType, operand(pooledType), attributes);
  }
}

} // namespace reprise::fuzz
