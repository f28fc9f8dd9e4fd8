// The columns of a filter's gradient are (channel, y, x): padding of y and x takes their number apart, which no tile does.
// RUN: reprise-fuzz check --kind=kernels %s
func.func @train(%x: tensor<1x1x12x63xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
                 %g: tensor<1x8x3x33xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "g", reprise.role = "input"},
                 %w: tensor<8x1x4x4xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "w", reprise.role = "input"},
                 %v: tensor<4x1x7x5xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "v", reprise.role = "input"})
    -> (tensor<8x1x7x5xf32> {reprise.name = "r"}, tensor<8x1x7x5xf32> {reprise.name = "s"}) {
  %0 = reprise.convolution_filter %x, %g strides [2, 2] low [0, 0] high [0, 6] dilation [1, 1] : (tensor<1x1x12x63xf32>, tensor<1x8x3x33xf32>) -> tensor<8x1x7x5xf32>
  %1 = reprise.pad %w with 1.500000e+00 : f32 low [0, 0, 2, 1] high [0, 0, 1, 0] interior [0, 0, 0, 0] : (tensor<8x1x4x4xf32>) -> tensor<8x1x7x5xf32>
  %2 = reprise.add %0, %1 : tensor<8x1x7x5xf32>
  // Padding along rows leaves the columns whole.
  %3 = reprise.convolution_filter %x, %g strides [2, 2] low [0, 0] high [0, 6] dilation [1, 1] : (tensor<1x1x12x63xf32>, tensor<1x8x3x33xf32>) -> tensor<8x1x7x5xf32>
  %4 = reprise.pad %v with 1.500000e+00 : f32 low [3, 0, 0, 0] high [1, 0, 0, 0] interior [0, 0, 0, 0] : (tensor<4x1x7x5xf32>) -> tensor<8x1x7x5xf32>
  %5 = reprise.mul %3, %4 : tensor<8x1x7x5xf32>
  return %2, %5 : tensor<8x1x7x5xf32>, tensor<8x1x7x5xf32>
}
