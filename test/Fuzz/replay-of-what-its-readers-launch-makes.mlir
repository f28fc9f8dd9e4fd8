// A replay reads what the launch of its own reader makes, so launches are formed anew.
// REQUIRES: slow
// RUN: reprise-fuzz check %s
// RUN: reprise-compile %s --estimate --budget=50% | FileCheck %s
// CHECK: fits

module {
  func.func @train(%arg0: tensor<5xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a2", reprise.role = "state"}, %arg1: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<3x1x1x2x1x2x3x6x2x3xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg3: tensor<5xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg4: tensor<5x5x1x5xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg5: tensor<5x5x1x5xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<5xf16>, tensor<5x5x1x5xf16>) {
    %0:4 = reprise.value_and_grad (%arg6 = %arg0, %arg7 = %arg4) wrt [0, 1] : (tensor<5xf16>, tensor<5x5x1x5xf16>) -> (tensor<f64>, tensor<f16>, tensor<5xf16>, tensor<5x5x1x5xf16>) {
      %1 = reprise.cast %arg7 : tensor<5x5x1x5xf16> to tensor<5x5x1x5xf64>
      %2 = reprise.reshape %1 : (tensor<5x5x1x5xf64>) -> tensor<125xf64>
      %3 = reprise.slice %2 from [110] to [115] by [1] : (tensor<125xf64>) -> tensor<5xf64>
      %4 = reprise.reshape %3 : (tensor<5xf64>) -> tensor<1x5xf64>
      %result, %mean, %rstd = reprise.layer_norm %4, %arg3, %arg3 {epsilon = 1.000000e+00 : f64} : (tensor<1x5xf64>, tensor<5xf64>, tensor<5xf64>) -> (tensor<1x5xf64>, tensor<1xf64>, tensor<1xf64>)
      %5 = reprise.broadcast %rstd dims [1] : (tensor<1xf64>) -> tensor<3x1x1x2x1x2x3x6x2x3xf64>
      %6 = reprise.mul %arg2, %5 : tensor<3x1x1x2x1x2x3x6x2x3xf64>
      %7:5 = reprise.value_and_grad @f0(%arg5, %6, %arg7) wrt [0, 1, 2] : (tensor<5x5x1x5xf16>, tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<5x5x1x5xf16>) -> (tensor<f16>, tensor<5x5x5x1x5x5xf32>, tensor<5x5x1x5xf16>, tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<5x5x1x5xf16>)
      %8:5 = reprise.value_and_grad @f0(%7#4, %7#3, %7#4) wrt [0, 1, 2] : (tensor<5x5x1x5xf16>, tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<5x5x1x5xf16>) -> (tensor<f16>, tensor<5x5x5x1x5x5xf32>, tensor<5x5x1x5xf16>, tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<5x5x1x5xf16>)
      %9 = reprise.mean %8#3 dims [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : (tensor<3x1x1x2x1x2x3x6x2x3xf64>) -> tensor<f64>
      reprise.yield %9, %arg1 : tensor<f64>, tensor<f16>
    }
    return %0#2, %0#3 : tensor<5xf16>, tensor<5x5x1x5xf16>
  }
  func.func private @f0(%arg0: tensor<5x5x1x5xf16>, %arg1: tensor<3x1x1x2x1x2x3x6x2x3xf64>, %arg2: tensor<5x5x1x5xf16>) -> (tensor<f16>, tensor<5x5x5x1x5x5xf32>) {
    %0:3 = reprise.loop 4 (%arg3 = %arg1) : (tensor<3x1x1x2x1x2x3x6x2x3xf64>) -> (tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<4x1xf16>, tensor<4x32xf64>) {
      %14 = reprise.reshape %arg1 : (tensor<3x1x1x2x1x2x3x6x2x3xf64>) -> tensor<1296xf64>
      %15 = reprise.slice %14 from [90] to [91] by [1] : (tensor<1296xf64>) -> tensor<1xf64>
      %16 = reprise.cast %15 {reprise.label = #reprise.label<must_recompute>} : tensor<1xf64> to tensor<1xf16>
      %17 = reprise.mean %16 dims [0] {reprise.label = #reprise.label<must_recompute>} : (tensor<1xf16>) -> tensor<f16>
      %18 = reprise.broadcast %17 dims [] : (tensor<f16>) -> tensor<5x5x5xf16>
      %19 = reprise.constant dense<1.000000e+00> : tensor<5x5xf16>
      %20 = reprise.reshape %18 : (tensor<5x5x5xf16>) -> tensor<125xf16>
      %21 = reprise.slice %20 from [4] to [125] by [5] : (tensor<125xf16>) -> tensor<25xf16>
      %22 = reprise.reshape %21 : (tensor<25xf16>) -> tensor<5x5xf16>
      %23 = reprise.mul %19, %22 : tensor<5x5xf16>
      %24 = reprise.constant dense<1.000000e+00> : tensor<32xf64>
      %25 = reprise.cast %15 : tensor<1xf64> to tensor<1xf16>
      %26 = reprise.reshape %23 : (tensor<5x5xf16>) -> tensor<25xf16>
      %27 = reprise.slice %26 from [19] to [20] by [1] : (tensor<25xf16>) -> tensor<1xf16>
      %28 = reprise.mul %25, %27 {reprise.label = #reprise.label<prefer_recompute>} : tensor<1xf16>
      reprise.yield %arg3, %28, %24 : tensor<3x1x1x2x1x2x3x6x2x3xf64>, tensor<1xf16>, tensor<32xf64>
    }
    %1 = reprise.mean %0#1 dims [0, 1] : (tensor<4x1xf16>) -> tensor<f16>
    %2 = reprise.broadcast %1 dims [] : (tensor<f16>) -> tensor<5x5x5x7xf16>
    %3 = reprise.cast %2 : tensor<5x5x5x7xf16> to tensor<5x5x5x7xf32>
    %4 = reprise.cast %3 : tensor<5x5x5x7xf32> to tensor<5x5x5x7xf16>
    %5 = reprise.mean %4 dims [0, 1, 2, 3] : (tensor<5x5x5x7xf16>) -> tensor<f16>
    %6 = reprise.broadcast %5 dims [] : (tensor<f16>) -> tensor<5x5x5x1x5x5xf16>
    %7 = reprise.sin %6 : tensor<5x5x5x1x5x5xf16>
    %8 = reprise.cast %7 : tensor<5x5x5x1x5x5xf16> to tensor<5x5x5x1x5x5xf32>
    %9 = reprise.constant dense<1.000000e+00> : tensor<5x5x5x1x5x5xf32>
    %10 = reprise.constant dense<1.000000e+00> : tensor<f16>
    %11 = reprise.mean %8 dims [0, 1, 2, 3, 4, 5] : (tensor<5x5x5x1x5x5xf32>) -> tensor<f32>
    %12 = reprise.cast %11 : tensor<f32> to tensor<f16>
    %13 = reprise.add %10, %12 : tensor<f16>
    return %13, %9 : tensor<f16>, tensor<5x5x5x1x5x5xf32>
  }
}
