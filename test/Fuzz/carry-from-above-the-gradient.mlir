// What a body hands to the next iteration may be an argument of the gradient, which stands for a value that must not be kept.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f32>, tensor<4xf32>) {
  %e = reprise.exp %x {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  %0:2 = reprise.value_and_grad (%a = %e) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %1:2 = reprise.loop 4 (%c = %a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
      %m = reprise.mul %c, %c : tensor<4xf32>
      reprise.yield %a, %m : tensor<4xf32>, tensor<4xf32>
    }
    %s = reprise.sum %1#1 dims [0, 1] : (tensor<4x4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<4xf32>
}
