// The columns of a filter's gradient are (channel, y, x): a factor per channel takes their number apart, which no tile does.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<2x4x4x4xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %g: tensor<2x2x3x3xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %s: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> tensor<2x4x2x2xf32> {
  %0 = reprise.convolution_filter %x, %g strides [1, 1] low [0, 0] high [0, 0] dilation [1, 1]
    : (tensor<2x4x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x4x2x2xf32>
  %1 = reprise.broadcast %s dims [1] : (tensor<4xf32>) -> tensor<2x4x2x2xf32>
  %2 = reprise.mul %0, %1 : tensor<2x4x2x2xf32>
  return %2 : tensor<2x4x2x2xf32>
}
