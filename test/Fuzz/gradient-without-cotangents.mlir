// The inner gradients of a loss that depends on no parameter have reads of a backward pass, too, so that a budget plans
// them, and a plan in another order of launches keeps no value against its label.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<2x3x3xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg1: tensor<32xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<2x3x3xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<f32> {reprise.name = "r1"}) {
    %0:6 = reprise.value_and_grad @f0(%arg0) wrt [0] of [0, 1] : (tensor<2x3x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x3x1xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>)
    %1 = reprise.reshape %0#5 : (tensor<2x3x3xf64>) -> tensor<18xf64>
    %2 = reprise.slice %1 from [2] to [8] by [1] : (tensor<18xf64>) -> tensor<6xf64>
    %3 = reprise.reshape %2 : (tensor<6xf64>) -> tensor<2x3xf64>
    %4 = reprise.cast %3 : tensor<2x3xf64> to tensor<2x3xf32>
    %5:3 = reprise.value_and_grad (%arg3 = %4) wrt [0] : (tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3x3xf64>, tensor<2x3xf32>) {
      %6:6 = reprise.value_and_grad @f0(%arg2) wrt [0] of [0, 1] : (tensor<2x3x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x3x1xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>)
      %7 = reprise.mean %arg3 dims [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
      %8 = reprise.broadcast %7 dims [] : (tensor<f32>) -> tensor<32xf32>
      %9 = reprise.mul %arg1, %8 : tensor<32xf32>
      %10 = reprise.cast %6#4 : tensor<2x3x3xf64> to tensor<2x3x3xf32>
      %11 = reprise.mean %10 dims [0, 1, 2] : (tensor<2x3x3xf32>) -> tensor<f32>
      %12 = reprise.sum %9 dims [0] : (tensor<32xf32>) -> tensor<f32>
      %13 = reprise.add %11, %12 : tensor<f32>
      reprise.yield %13, %6#5 : tensor<f32>, tensor<2x3x3xf64>
    }
    return %5#0 : tensor<f32>
  }
  func.func private @f0(%arg0: tensor<2x3x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x3x1xf64>) {
    %0:10 = reprise.value_and_grad (%arg1 = %arg0, %arg2 = %arg0, %arg3 = %arg0) wrt [0, 1, 2] of [0, 1] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<1x3x4x2x1x2x2x3x4x2x1x2x2xi32>, tensor<1x3x4x2x1x2x2xi32>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>) {
      %11 = reprise.constant dense<4> : tensor<1x3x4x2x1x2x2xi32>
      %12 = reprise.constant dense<1> : tensor<1x3x4x2x1x2x2x3x4x2x1x2x2xi32>
      %13 = reprise.mul %arg3, %arg3 : tensor<2x3x3xf64>
      %14 = reprise.constant dense<1.000000e+00> : tensor<f64>
      %15 = reprise.mean %13 dims [0, 1, 2] : (tensor<2x3x3xf64>) -> tensor<f64>
      reprise.yield %14, %15, %12, %11 : tensor<f64>, tensor<f64>, tensor<1x3x4x2x1x2x2x3x4x2x1x2x2xi32>, tensor<1x3x4x2x1x2x2xi32>
    }
    %1 = reprise.broadcast %0#9 dims [0, 1, 4] : (tensor<2x3x3xf64>) -> tensor<2x3x6x1x3x2x6xf64>
    %2 = reprise.slice %0#9 from [0, 0, 0] to [1, 3, 1] by [1, 1, 1] {reprise.label = #reprise.label<must_recompute>} : (tensor<2x3x3xf64>) -> tensor<1x3x1xf64>
    %3 = reprise.mul %2, %2 : tensor<1x3x1xf64>
    %4 = reprise.constant dense<1.000000e+00> : tensor<2x3x6x1x3x2x6xf64>
    %5 = reprise.constant dense<1.000000e+00> : tensor<f64>
    %6 = reprise.sum %3 dims [0, 1, 2] : (tensor<1x3x1xf64>) -> tensor<f64>
    %7 = reprise.add %5, %6 : tensor<f64>
    %8 = reprise.constant dense<1.000000e+00> : tensor<f64>
    %9 = reprise.sum %1 dims [0, 1, 2, 3, 4, 5, 6] : (tensor<2x3x6x1x3x2x6xf64>) -> tensor<f64>
    %10 = reprise.add %8, %9 : tensor<f64>
    return %7, %10, %4, %3 : tensor<f64>, tensor<f64>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x3x1xf64>
  }
}
