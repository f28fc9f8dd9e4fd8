// Units are cut where few bytes cross. One input that is kept may save the replay that would have read another: then that
// one has no reason to be kept.
// RUN: reprise-fuzz check %s
!big = tensor<2x2x2x2x1x2x2x1x2x2x2xf64>
module {
  func.func @train(%arg0: tensor<2x2xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a0", reprise.role = "state"}, %arg1: tensor<2x2x2xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<2x2x2xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg3: tensor<2x2xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<f64>, tensor<2x2xf64>, tensor<2x2xf64>) {
    %0:4 = reprise.value_and_grad (%arg4 = %arg0) wrt [0] of [0, 1] : (tensor<2x2xf64>) -> (tensor<f64>, tensor<f64>, tensor<2x2xf64>, tensor<2x2xf64>) {
      %1:2 = reprise.block {
        %13 = reprise.mul %arg3, %arg4 : tensor<2x2xf64>
        reprise.yield %arg2, %13 : tensor<2x2x2xf64>, tensor<2x2xf64>
      } : tensor<2x2x2xf64>, tensor<2x2xf64>
      %2 = reprise.broadcast %1#1 dims [0, 1] : (tensor<2x2xf64>) -> !big
      %3 = reprise.rsqrt %2 : !big
      %4 = reprise.mul %1#0, %arg1 : tensor<2x2x2xf64>
      %5 = reprise.reshape %3 : (!big) -> tensor<512xf64>
      %6 = reprise.slice %5 from [117] to [121] by [1] : (tensor<512xf64>) -> tensor<4xf64>
      %7 = reprise.reshape %6 : (tensor<4xf64>) -> tensor<2x2xf64>
      %8 = reprise.mul %arg4, %7 : tensor<2x2xf64>
      %9 = reprise.mean %8 dims [0, 1] : (tensor<2x2xf64>) -> tensor<f64>
      %10 = reprise.sum %8 dims [0, 1] : (tensor<2x2xf64>) -> tensor<f64>
      %11 = reprise.mean %4 dims [0, 1, 2] : (tensor<2x2x2xf64>) -> tensor<f64>
      %12 = reprise.add %10, %11 : tensor<f64>
      reprise.yield %9, %12 : tensor<f64>, tensor<f64>
    }
    return %0#0, %0#2, %0#3 : tensor<f64>, tensor<2x2xf64>, tensor<2x2xf64>
  }
}
