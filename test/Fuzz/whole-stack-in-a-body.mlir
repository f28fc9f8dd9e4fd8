// The body of a loop reads a whole stack from above.
// REQUIRES: slow
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<17xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "parameter"}, %arg1: tensor<17xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a2", reprise.role = "state"}, %arg2: tensor<17xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg3: tensor<17xi32> {reprise.init = #reprise.uniform_int<0, 4>}, %arg4: tensor<1x1x1xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg5: tensor<6x2x4xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<17xf16> {
    %0:2 = reprise.value_and_grad (%arg6 = %arg0) wrt [0] : (tensor<17xf16>) -> (tensor<f16>, tensor<17xf16>) {
      %1:4 = reprise.loop 2 (%arg7 = %arg1, %arg8 = %arg0) : (tensor<17xf16>, tensor<17xf16>) -> (tensor<17xf16>, tensor<17xf16>, tensor<2x6x2x4xbf16>, tensor<2x17xf16>) {
        %7 = reprise.cast %arg3 {reprise.label = #reprise.label<prefer_recompute>} : tensor<17xi32> to tensor<17xf16>
        %8 = reprise.mul %7, %arg8 : tensor<17xf16>
        reprise.yield %arg6, %arg6, %arg5, %8 : tensor<17xf16>, tensor<17xf16>, tensor<6x2x4xbf16>, tensor<17xf16>
      }
      %2:3 = reprise.loop 2 (%arg7 = %1#1) over (%arg8 = %1#3) : (tensor<17xf16>, tensor<2x17xf16>) -> (tensor<17xf16>, tensor<2x17xf64>, tensor<2x17x1x17x17xf16>) {
        %7 = reprise.broadcast %arg8 dims [0] : (tensor<17xf16>) -> tensor<17x1x17x17xf16>
        %8 = reprise.cast %7 : tensor<17x1x17x17xf16> to tensor<17x1x17x17xf64>
        %9:2 = func.call @f0(%1#3, %arg4, %1#3) : (tensor<2x17xf16>, tensor<1x1x1xf64>, tensor<2x17xf16>) -> (tensor<f16>, tensor<2x17xf16>)
        %10 = reprise.cast %8 : tensor<17x1x17x17xf64> to tensor<17x1x17x17xf16>
        %11 = reprise.mean %9#1 dims [0, 1] : (tensor<2x17xf16>) -> tensor<f16>
        %12 = reprise.broadcast %11 dims [] : (tensor<f16>) -> tensor<17x1x17x17xf16>
        %13 = reprise.mul %10, %12 : tensor<17x1x17x17xf16>
        reprise.yield %arg7, %arg2, %13 : tensor<17xf16>, tensor<17xf64>, tensor<17x1x17x17xf16>
      }
      %3 = reprise.reshape %2#2 : (tensor<2x17x1x17x17xf16>) -> tensor<9826xf16>
      %4 = reprise.slice %3 from [3922] to [3956] by [1] : (tensor<9826xf16>) -> tensor<34xf16>
      %5 = reprise.reshape %4 : (tensor<34xf16>) -> tensor<1x2x17xf16>
      %6 = reprise.mean %5 dims [0, 1, 2] : (tensor<1x2x17xf16>) -> tensor<f16>
      reprise.yield %6 : tensor<f16>
    }
    return %0#1 : tensor<17xf16>
  }
  func.func private @f0(%arg0: tensor<2x17xf16>, %arg1: tensor<1x1x1xf64>, %arg2: tensor<2x17xf16>) -> (tensor<f16>, tensor<2x17xf16>) {
    %0 = reprise.mul %arg2, %arg2 : tensor<2x17xf16>
    %1 = reprise.constant dense<1.000000e+00> : tensor<f16>
    return %1, %0 : tensor<f16>, tensor<2x17xf16>
  }
}
