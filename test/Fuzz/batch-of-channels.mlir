// A batch along the channels of a batch norm: its means are over no samples, and no group's.
// RUN: reprise-fuzz check --kind=batches %s
module {
  func.func private @f(%arg0: tensor<1x7x8xf16>, %arg1: tensor<7xf16>, %arg2: tensor<7xf32>) -> (tensor<f32>, tensor<1x7x8xf16>) {
    %0 = reprise.dropout %arg0 {rate = 0.000000e+00 : f64} : tensor<1x7x8xf16>
    %1 = reprise.abs %arg1 : tensor<7xf16>
    %result, %mean, %variance = reprise.batch_norm %0, %1, %arg1 {epsilon = 1.000000e-05 : f64} : (tensor<1x7x8xf16>, tensor<7xf16>, tensor<7xf16>) -> (tensor<1x7x8xf16>, tensor<7xf32>, tensor<7xf32>)
    %2 = reprise.relu %variance : tensor<7xf32>
    %3 = reprise.abs %arg2 : tensor<7xf32>
    %4 = reprise.sum %3 dims [0] : (tensor<7xf32>) -> tensor<f32>
    %5 = reprise.mean %2 dims [0] : (tensor<7xf32>) -> tensor<f32>
    %6 = reprise.add %4, %5 : tensor<f32>
    %7 = reprise.sum %mean dims [0] : (tensor<7xf32>) -> tensor<f32>
    %8 = reprise.add %6, %7 : tensor<f32>
    return %8, %result : tensor<f32>, tensor<1x7x8xf16>
  }
  func.func @train(%arg0: tensor<1x7x8xf16> {reprise.batch_dim = 1 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a0", reprise.role = "input"}, %arg1: tensor<7xf16> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "input"}, %arg2: tensor<7xf32> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a2", reprise.role = "input"}) -> (tensor<7xf32> {reprise.name = "r0"}, tensor<7xf16> {reprise.name = "r1"}, tensor<1x7x8xf16> {reprise.name = "a0"}, tensor<1x7x8xf16> {reprise.name = "r3"}, tensor<f32> {reprise.name = "r4"}) {
    %0:5 = reprise.value_and_grad @f(%arg0, %arg1, %arg2) wrt [0, 1, 2] : (tensor<1x7x8xf16>, tensor<7xf16>, tensor<7xf32>) -> (tensor<f32>, tensor<1x7x8xf16>, tensor<1x7x8xf16>, tensor<7xf16>, tensor<7xf32>)
    return %0#4, %0#3, %0#2, %0#1, %0#0 : tensor<7xf32>, tensor<7xf16>, tensor<1x7x8xf16>, tensor<1x7x8xf16>, tensor<f32>
  }
}
