// reprise: convolutions of emulated libraries
#include "Convolution.h"

#include <vector>

using namespace reprise::emulator;

namespace {

/// Returns the part of a sum into which an index of the range falls.
int64_t partOf(int64_t index, int64_t count, int64_t parts) { return index * parts / count; }

std::vector<float> load(const void *data, int type, int64_t size) {
  std::vector<float> loaded(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i)
    loaded[size_t(i)] = loadElement(data, type, i);
  return loaded;
}

/// Line of the output and line of the image, at one place of the window.
struct Line {
  int64_t sample, output, channel, inGroup, r, s, part;
};

class Sums {
public:
  explicit Sums(const Convolution &c) : c(c), shape(c.shape) {
    bool isForward = c.direction == Direction::Forward, isData = c.direction == Direction::Data;
    if (!isData)
      image = load(c.image, shape.type, shape.imageSize());
    if (isForward || isData)
      filter = load(c.filter, shape.type, shape.filterSize());
    if (!isForward)
      output = load(c.output, shape.type, shape.outputSize());
    size = shape.resultSize(c.direction);
    sums.assign(size_t(size * c.parts), 0);
  }

  void add(const Line &line) {
    for (int64_t y = 0; y < shape.output[0]; ++y)
      for (int64_t x = 0; x < shape.output[1]; ++x) {
        int64_t row = y * shape.stride[0] - shape.pad[0] + line.r * shape.dilation[0];
        int64_t column = x * shape.stride[1] - shape.pad[1] + line.s * shape.dilation[1];
        if (row >= 0 && row < shape.image[0] && column >= 0 && column < shape.image[1])
          addTerm(line, y * shape.output[1] + x, row * shape.image[1] + column);
      }
  }

  float at(int64_t part, int64_t i) const { return sums[size_t(part * size + i)]; }
  int64_t size = 0;

private:
  void addTerm(const Line &line, int64_t place, int64_t position) {
    auto i = size_t(
        (line.sample * shape.channels + line.channel) * shape.image[0] * shape.image[1] + position);
    auto f =
        size_t(((line.output * (shape.channels / shape.groups) + line.inGroup) * shape.window[0] +
                line.r) *
                   shape.window[1] +
               line.s);
    auto o = size_t(
        (line.sample * shape.outputs + line.output) * shape.output[0] * shape.output[1] + place);
    auto first = size_t(line.part * size);
    if (c.direction == Direction::Forward)
      sums[first + o] += image[i] * filter[f];
    else if (c.direction == Direction::Data)
      sums[first + i] += output[o] * filter[f];
    else
      sums[first + f] += image[i] * output[o];
  }

  const Convolution &c;
  const ConvolutionShape &shape;
  std::vector<float> image, filter, output, sums;
};

} // namespace

void Convolution::run() const {
  Sums sums(*this);
  int64_t outputs = shape.outputs / shape.groups, channels = shape.channels / shape.groups;
  for (int64_t sample = 0; sample < shape.samples; ++sample)
    for (int64_t output = 0; output < shape.outputs; ++output)
      for (int64_t inGroup = 0; inGroup < channels; ++inGroup) {
        int64_t part = direction == Direction::Forward ? partOf(inGroup, channels, parts)
                       : direction == Direction::Data  ? partOf(output % outputs, outputs, parts)
                                                       : partOf(sample, shape.samples, parts);
        int64_t channel = output / outputs * channels + inGroup;
        for (int64_t r = 0; r < shape.window[0]; ++r)
          for (int64_t s = 0; s < shape.window[1]; ++s)
            sums.add({sample, output, channel, inGroup, r, s, part});
      }
  void *result = direction == Direction::Forward ? output
                 : direction == Direction::Data  ? image
                                                 : filter;
  for (int64_t i = 0; i < sums.size; ++i) {
    float sum = 0;
    for (int64_t part = 0; part < parts; ++part) {
      float own = roundsParts ? roundElement(sums.at(part, i), shape.type) : sums.at(part, i);
      if (parts > 1)
        workspace[part * sums.size + i] = own;
      sum = parts > 1 ? sum + own : own;
    }
    storeElement(result, shape.type, i, sum);
  }
}
