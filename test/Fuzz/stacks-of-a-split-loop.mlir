// A loop that is split, whose stacks have other readers: their cotangents are added in the same order.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<8xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "input"}, %arg1: tensor<f32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<8xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<8xf32> {
    %0:3 = reprise.value_and_grad (%arg3 = %arg0, %arg4 = %arg0) wrt [0, 1] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
      %1:4 = reprise.value_and_grad @f0(%arg4) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8x8x1xf32>, tensor<4x8xf32>, tensor<8xf32>)
      %2 = reprise.mul %1#3, %arg2 : tensor<8xf32>
      %3 = reprise.mean %2 dims [0] : (tensor<8xf32>) -> tensor<f32>
      %4 = reprise.add %arg1, %3 : tensor<f32>
      reprise.yield %4 : tensor<f32>
    }
    return %0#2 : tensor<8xf32>
  }
  func.func private @f0(%arg0: tensor<8xf32>) -> (tensor<f32>, tensor<8x8x1xf32>, tensor<4x8xf32>) {
    %0 = reprise.broadcast %arg0 dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %1:2 = reprise.loop 4 (%arg1 = %arg0) over (%arg2 = %0) reverse : (tensor<8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
      %7 = reprise.mul %arg1, %arg2 {reprise.label = #reprise.label<must_recompute>} : tensor<8xf32>
      reprise.yield %arg2, %7 : tensor<8xf32>, tensor<8xf32>
    }
    %2 = reprise.constant dense<1.000000e+00> : tensor<8x8x1xf32>
    %3 = reprise.mul %0, %1#1 : tensor<4x8xf32>
    %4 = reprise.sum %3 dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
    %5 = reprise.sum %1#1 dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
    %6 = reprise.add %4, %5 : tensor<f32>
    return %6, %2, %0 : tensor<f32>, tensor<8x8x1xf32>, tensor<4x8xf32>
  }
}
