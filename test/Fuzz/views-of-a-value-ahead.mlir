// What stands ahead of a gradient is in memory in any case: a MUST on one view of it does not forbid to keep another one.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<4x3xf32> {reprise.init = #reprise.normal<0.0, 1.0>}, %w: tensor<12xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f32>, tensor<12xf32>) {
  %e = reprise.exp %x : tensor<4x3xf32>
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<12xf32>) -> (tensor<f32>, tensor<12xf32>) {
    %flat = reprise.reshape %e {reprise.label = #reprise.label<must_recompute>} : (tensor<4x3xf32>) -> tensor<12xf32>
    %other = reprise.transpose %e [1, 0] {reprise.label = #reprise.label<prefer_save>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %line = reprise.reshape %other {reprise.label = #reprise.label<prefer_save>} : (tensor<3x4xf32>) -> tensor<12xf32>
    %a = reprise.mul %v, %flat : tensor<12xf32>
    %b = reprise.mul %a, %line : tensor<12xf32>
    %s = reprise.sum %b dims [0] : (tensor<12xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<12xf32>
}
