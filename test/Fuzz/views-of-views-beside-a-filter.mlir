// What is read along columns of the filter is the same for all of them, but the view between takes their number apart.
// RUN: reprise-fuzz check --kind=kernels %s
func.func @train(%one: tensor<1xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "one", reprise.role = "parameter"},
                 %three: tensor<3xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "three", reprise.role = "parameter"},
                 %x: tensor<1x2x156x31xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
                 %y: tensor<1x1x80x8xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "y", reprise.role = "input"},
                 %z: tensor<1x3x80x8xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "z", reprise.role = "input"})
    -> (tensor<1x2x3x2xbf16> {reprise.name = "a"}, tensor<3x2x3x2xbf16> {reprise.name = "b"}) {
  %0 = reprise.convolution_filter %x, %y strides [2, 4] low [4, 1] high [6, 0] dilation [3, 1] : (tensor<1x2x156x31xbf16>, tensor<1x1x80x8xbf16>) -> tensor<1x2x3x2xbf16>
  %1 = reprise.broadcast %one dims [0] : (tensor<1xbf16>) -> tensor<1x2xbf16>
  %2 = reprise.broadcast %1 dims [0, 3] : (tensor<1x2xbf16>) -> tensor<1x2x3x2xbf16>
  %a = reprise.mul %0, %2 : tensor<1x2x3x2xbf16>
  %3 = reprise.convolution_filter %x, %z strides [2, 4] low [4, 1] high [6, 0] dilation [3, 1] : (tensor<1x2x156x31xbf16>, tensor<1x3x80x8xbf16>) -> tensor<3x2x3x2xbf16>
  %4 = reprise.broadcast %three dims [0] : (tensor<3xbf16>) -> tensor<3x2xbf16>
  %5 = reprise.broadcast %4 dims [0, 3] : (tensor<3x2xbf16>) -> tensor<3x2x3x2xbf16>
  %b = reprise.mul %3, %5 : tensor<3x2x3x2xbf16>
  return %a, %b : tensor<1x2x3x2xbf16>, tensor<3x2x3x2xbf16>
}
