// reprise: convolutions and pooling in the interpreter.
#include "Chains.h"
#include "Models.h"

using namespace mlir;

namespace reprise::reference {
namespace {

//===-- Convolutions --------------------------------------------------------------------------===//

/// Spatial dimension; a convolution over one dimension has another dimension of size 1 before it.
struct Axis {
  int64_t image = 1, output = 1, window = 1, stride = 1, low = 0, dilation = 1;

  /// The image position under window position `r` of an output.
  int64_t imageAt(int64_t y, int64_t r) const { return y * stride + r * dilation - low; }
  /// The window positions that hold image position `i` of some step of the stride.
  std::vector<int64_t> windowAt(int64_t i) const {
    std::vector<int64_t> positions;
    for (int64_t r = 0; r < window; ++r)
      if ((i + low - r * dilation) % stride == 0)
        positions.push_back(r);
    return positions;
  }
};

/// Sizes of a convolution and the values of its existing tensors.
template <typename T> struct Sizes {
  template <typename OpT> explicit Sizes(OpT op) {
    auto image = op.getImageType(), filter = op.getFilterType(), output = op.getOutputType();
    groups = op.getGroups();
    samples = image.getDimSize(0);
    channels = filter.getDimSize(1);
    outputs = filter.getDimSize(0) / groups;
    int64_t spatial = image.getRank() - 2;
    for (int64_t d = 0; d < spatial; ++d)
      axes[2 - spatial + d] = {image.getDimSize(d + 2),  output.getDimSize(d + 2),
                               filter.getDimSize(d + 2), op.getStrides()[d],
                               op.getLow()[d],           op.getDilation()[d]};
  }

  T image(const Values<T> &values, int64_t n, int64_t c, int64_t y, int64_t x) const {
    bool inside = y >= 0 && y < axes[0].image && x >= 0 && x < axes[1].image;
    return inside ? values[imageIndex(n, c, y, x)] : T(0);
  }
  T output(const Values<T> &values, int64_t n, int64_t o, int64_t y, int64_t x) const {
    bool inside = y >= 0 && y < axes[0].output && x >= 0 && x < axes[1].output;
    return inside ? values[((n * groups * outputs + o) * axes[0].output + y) * axes[1].output + x]
                  : T(0);
  }
  T filter(const Values<T> &values, int64_t o, int64_t c, int64_t r, int64_t s) const {
    return values[((o * channels + c) * axes[0].window + r) * axes[1].window + s];
  }
  int64_t imageIndex(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return ((n * groups * channels + c) * axes[0].image + y) * axes[1].image + x;
  }

  /// Calls fn(r, s) for each window position, in order.
  template <typename Fn> void forWindow(Fn fn) const {
    for (int64_t r = 0; r < axes[0].window; ++r)
      for (int64_t s = 0; s < axes[1].window; ++s)
        fn(r, s);
  }
  template <typename Fn> void forOutput(Fn fn) const {
    for (int64_t y = 0; y < axes[0].output; ++y)
      for (int64_t x = 0; x < axes[1].output; ++x)
        fn(y, x);
  }

  /// Sizes; channels and outputs are those of one group.
  int64_t groups, samples, channels, outputs;
  Axis axes[2];
};

template <typename T> Tensor convolve(ConvolutionOp op, Operands operands) {
  Sizes<T> sizes(op);
  Values<T> image(*operands[0]), filter(*operands[1]);
  const Axis &rows = sizes.axes[0], &columns = sizes.axes[1];
  int64_t positions = rows.output * columns.output;
  int64_t terms = sizes.channels * rows.window * columns.window;
  std::vector<T> results;
  for (int64_t n = 0; n < sizes.samples; ++n)
    for (int64_t g = 0; g < sizes.groups; ++g) {
      std::vector<T> covered; // [terms][positions]
      for (int64_t c = 0; c < sizes.channels; ++c)
        sizes.forWindow([&](int64_t r, int64_t s) {
          sizes.forOutput([&](int64_t y, int64_t x) {
            covered.push_back(sizes.image(image, n, g * sizes.channels + c, rows.imageAt(y, r),
                                          columns.imageAt(x, s)));
          });
        });
      for (int64_t o = 0; o < sizes.outputs; ++o)
        contractRow(terms, positions, &filter[(g * sizes.outputs + o) * terms], covered.data(),
                    results);
    }
  return round(op.getType(), results);
}

template <typename T> Tensor convolveTransposed(ConvolutionTransposeOp op, Operands operands) {
  Sizes<T> sizes(op);
  Values<T> output(*operands[0]), filter(*operands[1]);
  const Axis &rows = sizes.axes[0], &columns = sizes.axes[1];
  std::vector<T> results(op.getType().getNumElements());
  auto at = [&](int64_t n, int64_t g, int64_t iy, int64_t ix) {
    std::vector<T> left, right; // [terms], [terms][channels]
    for (int64_t o = g * sizes.outputs; o < (g + 1) * sizes.outputs; ++o)
      for (int64_t r : rows.windowAt(iy))
        for (int64_t s : columns.windowAt(ix)) {
          int64_t y = (iy + rows.low - r * rows.dilation) / rows.stride;
          int64_t x = (ix + columns.low - s * columns.dilation) / columns.stride;
          left.push_back(sizes.output(output, n, o, y, x));
          for (int64_t c = 0; c < sizes.channels; ++c)
            right.push_back(sizes.filter(filter, o, c, r, s));
        }
    std::vector<T> sums;
    contractRow(static_cast<int64_t>(left.size()), sizes.channels, left.data(), right.data(), sums);
    for (int64_t c = 0; c < sizes.channels; ++c)
      results[sizes.imageIndex(n, g * sizes.channels + c, iy, ix)] = sums[c];
  };
  for (int64_t n = 0; n < sizes.samples; ++n)
    for (int64_t g = 0; g < sizes.groups; ++g)
      for (int64_t iy = 0; iy < rows.image; ++iy)
        for (int64_t ix = 0; ix < columns.image; ++ix)
          at(n, g, iy, ix);
  return round(op.getType(), results);
}

template <typename T> Tensor convolveFilter(ConvolutionFilterOp op, Operands operands) {
  Sizes<T> sizes(op);
  Values<T> image(*operands[0]), output(*operands[1]);
  const Axis &rows = sizes.axes[0], &columns = sizes.axes[1];
  int64_t terms = sizes.samples * rows.output * columns.output;
  int64_t window = sizes.channels * rows.window * columns.window;
  std::vector<T> results;
  for (int64_t g = 0; g < sizes.groups; ++g) {
    std::vector<T> covered; // [terms][window]
    for (int64_t n = 0; n < sizes.samples; ++n)
      sizes.forOutput([&](int64_t y, int64_t x) {
        for (int64_t c = g * sizes.channels; c < (g + 1) * sizes.channels; ++c)
          sizes.forWindow([&](int64_t r, int64_t s) {
            covered.push_back(sizes.image(image, n, c, rows.imageAt(y, r), columns.imageAt(x, s)));
          });
      });
    for (int64_t o = g * sizes.outputs; o < (g + 1) * sizes.outputs; ++o) {
      std::vector<T> left;
      for (int64_t n = 0; n < sizes.samples; ++n)
        sizes.forOutput(
            [&](int64_t y, int64_t x) { left.push_back(sizes.output(output, n, o, y, x)); });
      contractRow(terms, window, left.data(), covered.data(), results);
    }
  }
  return round(op.getType(), results);
}

Results evaluateConvolution(ConvolutionOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(),
                          [&](auto zero) { return convolve<decltype(zero)>(op, operands); }));
}
Results evaluateTransposed(ConvolutionTransposeOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    return convolveTransposed<decltype(zero)>(op, operands);
  }));
}
Results evaluateFilter(ConvolutionFilterOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(),
                          [&](auto zero) { return convolveFilter<decltype(zero)>(op, operands); }));
}

//===-- Pooling -------------------------------------------------------------------------------===//

/// Windows of a pooling from images of shape `from` to images of shape `to`.
class Windows {
public:
  Windows(Operation *op, RankedTensorType from, RankedTensorType to) {
    int64_t spatial = from.getRank() - 2;
    planes = from.getDimSize(0) * from.getDimSize(1);
    for (int64_t d = 0; d < spatial; ++d) {
      int64_t size = from.getDimSize(d + 2), steps = to.getDimSize(d + 2);
      auto &axis = ranges[2 - spatial + d] = {};
      for (int64_t i = 0; i < steps; ++i)
        axis.push_back(getWindowRange(op, d, size, steps, i));
      (d + 1 == spatial ? width : height) = size;
    }
  }

  /// Calls fn(output, positions) for each output, row-major, with the covered elements of the image
  /// and the first element of their plane.
  template <typename Fn> void forEach(Fn fn) const {
    int64_t output = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (WindowRange y : ranges[0])
        for (WindowRange x : ranges[1]) {
          std::vector<int64_t> positions;
          for (int64_t iy = y.begin; iy < y.end; ++iy)
            for (int64_t ix = x.begin; ix < x.end; ++ix)
              positions.push_back((plane * height + iy) * width + ix);
          fn(output++, positions, plane * height * width);
        }
  }

private:
  int64_t planes, height = 1, width = 1;
  std::vector<WindowRange> ranges[2] = {{{0, 1}}, {{0, 1}}};
};

template <typename T> Results poolMaxima(MaxPoolOp op, const Tensor &operand) {
  Values<T> values(operand);
  std::vector<T> maxima;
  std::vector<int64_t> places;
  auto wins = [](T x, T leader) {
    if (leader != leader || x != x)
      return leader == leader;
    return x > leader || (x == leader && std::signbit(leader) && !std::signbit(x));
  };
  Windows(op, operand.type, resultType(op)).forEach([&](int64_t, auto positions, int64_t plane) {
    int64_t first = positions.front();
    for (int64_t position : positions)
      if (wins(values[position], values[first]))
        first = position;
    maxima.push_back(values[first]);
    places.push_back(first - plane);
  });
  Results results;
  results.push_back(round(resultType(op), maxima));
  Tensor positions(resultType(op, 1));
  for (size_t i = 0; i < places.size(); ++i)
    store(positions, i, places[i]);
  results.push_back(std::move(positions));
  return results;
}

Results evaluateMaxPool(MaxPoolOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return poolMaxima<decltype(zero)>(op, *operands[0]); });
}

Results evaluateAveragePool(AveragePoolOp op, Operands operands) {
  const Tensor &operand = *operands[0];
  return single(withFloat(operand.type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(operand);
    std::vector<T> means;
    Windows(op, operand.type, resultType(op)).forEach([&](int64_t, auto positions, int64_t) {
      T sum = 0;
      for (int64_t position : positions)
        sum += values[position];
      means.push_back(sum / static_cast<T>(positions.size()));
    });
    return round(op.getType(), means);
  }));
}

Results evaluateAveragePoolBackward(AveragePoolBackwardOp op, Operands operands) {
  const Tensor &output = *operands[0];
  return single(withFloat(output.type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(output);
    std::vector<T> sums(op.getType().getNumElements(), T(0));
    Windows(op, op.getType(), output.type).forEach([&](int64_t i, auto positions, int64_t) {
      for (int64_t position : positions)
        sums[position] += values[i] / static_cast<T>(positions.size());
    });
    return round(op.getType(), sums);
  }));
}

} // namespace

REPRISE_EVALUATE(ConvolutionOp, evaluateConvolution)
REPRISE_EVALUATE(ConvolutionTransposeOp, evaluateTransposed)
REPRISE_EVALUATE(ConvolutionFilterOp, evaluateFilter)
REPRISE_EVALUATE(MaxPoolOp, evaluateMaxPool)
REPRISE_EVALUATE(AveragePoolOp, evaluateAveragePool)
REPRISE_EVALUATE(AveragePoolBackwardOp, evaluateAveragePoolBackward)

} // namespace reprise::reference
