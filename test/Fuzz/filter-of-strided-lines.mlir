// Terms of 16 bits that lie two apart: no vector of neighbours holds them.
// RUN: reprise-fuzz check --kind=kernels %s
module {
  func.func @train(%arg0: tensor<1x1x2x33xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "image", reprise.role = "input"}, %arg1: tensor<1x1x2x16xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "output", reprise.role = "input"}, %arg2: tensor<3x1x7x16xf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "image2", reprise.role = "input"}, %arg3: tensor<3x13x4x8xf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "output2", reprise.role = "input"}) -> (tensor<1x1x1x2xbf16> {reprise.name = "filter"}, tensor<13x1x4x4xf16> {reprise.name = "filter2"}) {
    %0 = reprise.convolution_filter %arg0, %arg1 strides [1, 2] low [0, 0] high [0, 0] dilation [1, 1] : (tensor<1x1x2x33xbf16>, tensor<1x1x2x16xbf16>) -> tensor<1x1x1x2xbf16>
    %1 = reprise.convolution_filter %arg2, %arg3 strides [2, 2] low [3, 2] high [0, 0] dilation [1, 1] : (tensor<3x1x7x16xf16>, tensor<3x13x4x8xf16>) -> tensor<13x1x4x4xf16>
    return %0, %1 : tensor<1x1x1x2xbf16>, tensor<13x1x4x4xf16>
  }
}
