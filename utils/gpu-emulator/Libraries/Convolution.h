// reprise: convolutions of emulated libraries
#ifndef REPRISE_GPU_EMULATOR_LIBRARIES_CONVOLUTION_H
#define REPRISE_GPU_EMULATOR_LIBRARIES_CONVOLUTION_H

#include "Elements.h"

namespace reprise::emulator {

enum class Direction { Forward, Data, Filter };

/// Image [samples, channels, y, x], filter [outputs, channels / groups, y, x], output [samples,
/// outputs, y, x], all dense.
struct ConvolutionShape {
  int type = typeF16;
  int64_t samples = 0, channels = 0, outputs = 0, groups = 1;
  int64_t image[2] = {}, window[2] = {}, output[2] = {};
  int64_t stride[2] = {}, pad[2] = {}, dilation[2] = {};

  int64_t imageSize() const { return samples * channels * image[0] * image[1]; }
  int64_t filterSize() const { return outputs * (channels / groups) * window[0] * window[1]; }
  int64_t outputSize() const { return samples * outputs * output[0] * output[1]; }
  int64_t resultSize(Direction direction) const {
    return direction == Direction::Forward ? outputSize()
           : direction == Direction::Data  ? imageSize()
                                           : filterSize();
  }
};

/// Convolution that computes one of the three from the other two. Sums are in f32 in several parts,
/// which lie in the workspace and are added in order.
struct Convolution {
  ConvolutionShape shape;
  Direction direction = Direction::Forward;
  int64_t parts = 1;
  bool roundsParts = false; ///< whether parts are rounded to the type of the elements
  void *image = nullptr, *filter = nullptr, *output = nullptr;
  float *workspace = nullptr; ///< parts · elements of the result, if there are several

  void run() const;
};

} // namespace reprise::emulator

#endif
