// A gradient in a loop's body replays there what it reads of a value from above the loop. For the plan of the gradient
// around the loop that is a read by the loop, in its forward pass.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f32>, tensor<4xf32>) {
  %0:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %e = reprise.exp %a {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
    %1 = reprise.loop 2 (%c = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      %2:2 = reprise.value_and_grad (%b = %e) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
        %t = reprise.tanh %b {reprise.label = #reprise.label<prefer_recompute>} : tensor<4xf32>
        %m = reprise.mul %t, %t : tensor<4xf32>
        %u = reprise.exp %m : tensor<4xf32>
        %s = reprise.sum %u dims [0] : (tensor<4xf32>) -> tensor<f32>
        reprise.yield %s : tensor<f32>
      }
      %d = reprise.add %2#1, %c : tensor<4xf32>
      reprise.yield %d : tensor<4xf32>
    }
    %s = reprise.sum %1 dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<4xf32>
}
