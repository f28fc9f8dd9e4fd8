// One lane of a vector is stored, in 16 bits: the next element stays as it is.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<1x3x3xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg1: tensor<81xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<3x3x3xbf16>, tensor<3x3x3xf32>) {
    %0 = reprise.slice %arg1 from [2] to [81] by [3] : (tensor<81xf32>) -> tensor<27xf32>
    %1 = reprise.reshape %0 : (tensor<27xf32>) -> tensor<3x3x3xf32>
    %2 = reprise.cast %1 : tensor<3x3x3xf32> to tensor<3x3x3xbf16>
    %3 = reprise.add %2, %arg0 : (tensor<3x3x3xbf16>, tensor<1x3x3xbf16>) -> tensor<3x3x3xbf16>
    %4 = reprise.cast %3 : tensor<3x3x3xbf16> to tensor<3x3x3xf32>
    return %2, %4 : tensor<3x3x3xbf16>, tensor<3x3x3xf32>
  }
}
