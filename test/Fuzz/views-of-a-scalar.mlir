// A filter's gradient times views of one scalar, which divide no dimension.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<2x4x2x2xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a3", reprise.role = "state"}, %arg1: tensor<f64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<1x1x1x1x1x1x1xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<2x2x1x6x1xf64> {
    %0 = reprise.broadcast %arg1 dims [] : (tensor<f64>) -> tensor<4x1x4x2xf64>
    %1:5 = reprise.value_and_grad @f1(%arg2, %arg0, %0) wrt [0, 1] : (tensor<1x1x1x1x1x1x1xf64>, tensor<2x4x2x2xf64>, tensor<4x1x4x2xf64>) -> (tensor<f64>, tensor<2x2x4x2x2xf64>, tensor<2x2x1x6x1xf64>, tensor<1x1x1x1x1x1x1xf64>, tensor<2x4x2x2xf64>)
    return %1#2 : tensor<2x2x1x6x1xf64>
  }
  func.func private @f1(%arg0: tensor<1x1x1x1x1x1x1xf64>, %arg1: tensor<2x4x2x2xf64>, %arg2: tensor<4x1x4x2xf64>) -> (tensor<f64>, tensor<2x2x4x2x2xf64>, tensor<2x2x1x6x1xf64>) {
    %0 = reprise.broadcast %arg2 dims [0, 2, 3, 4] : (tensor<4x1x4x2xf64>) -> tensor<4x4x1x4x2xf64>
    %1 = reprise.constant dense<1.000000e+00> : tensor<2x2x2x4xf64>
    %2 = reprise.convolution_filter %arg1, %1 strides [2, 3] low [1, 2] high [3, 8] dilation [2, 2] : (tensor<2x4x2x2xf64>, tensor<2x2x2x4xf64>) -> tensor<2x4x2x2xf64>
    %3 = reprise.reshape %0 : (tensor<4x4x1x4x2xf64>) -> tensor<128xf64>
    %4 = reprise.slice %3 from [13] to [77] by [1] : (tensor<128xf64>) -> tensor<64xf64>
    %5 = reprise.reshape %4 : (tensor<64xf64>) -> tensor<2x2x4x2x2xf64>
    %6:4 = reprise.loop 2 (%arg3 = %2, %arg4 = %2) over (%arg5 = %5) reverse : (tensor<2x4x2x2xf64>, tensor<2x4x2x2xf64>, tensor<2x2x4x2x2xf64>) -> (tensor<2x4x2x2xf64>, tensor<2x4x2x2xf64>, tensor<2x2x4x2x2xf64>, tensor<2x2x1x6x1xf64>) {
      %13 = reprise.constant dense<1.000000e+00> : tensor<2x1x6x1xf64>
      %14 = reprise.mul %arg5, %arg3 : tensor<2x4x2x2xf64>
      %15 = reprise.constant dense<1.000000e+00> : tensor<2x4x2x2xf64>
      reprise.yield %15, %15, %14, %13 : tensor<2x4x2x2xf64>, tensor<2x4x2x2xf64>, tensor<2x4x2x2xf64>, tensor<2x1x6x1xf64>
    }
    %7 = reprise.reshape %6#2 : (tensor<2x2x4x2x2xf64>) -> tensor<64xf64>
    %8 = reprise.slice %7 from [10] to [57] by [2] : (tensor<64xf64>) -> tensor<24xf64>
    %9 = reprise.reshape %8 : (tensor<24xf64>) -> tensor<2x2x1x6x1xf64>
    %10 = reprise.mul %6#3, %9 : tensor<2x2x1x6x1xf64>
    %11 = reprise.constant dense<1.000000e+00> : tensor<2x2x4x2x2xf64>
    %12 = reprise.constant dense<1.000000e+00> : tensor<f64>
    return %12, %11, %10 : tensor<f64>, tensor<2x2x4x2x2xf64>, tensor<2x2x1x6x1xf64>
  }
}
