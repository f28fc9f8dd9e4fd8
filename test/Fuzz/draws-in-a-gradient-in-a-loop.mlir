// The offsets of the draws are rows of the outer loop, around the gradient, which its loops read where they are.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> tensor<4xf32> {
  %0 = reprise.loop 2 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1:2 = reprise.value_and_grad (%a = %c) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
      %2 = reprise.loop 3 (%d = %a) : (tensor<4xf32>) -> tensor<4xf32> {
        %4 = reprise.dropout %d {rate = 0.5 : f64} : tensor<4xf32>
        %5 = reprise.mul %4, %4 : tensor<4xf32>
        reprise.yield %5 : tensor<4xf32>
      }
      %3 = reprise.sum %2 dims [0] : (tensor<4xf32>) -> tensor<f32>
      reprise.yield %3 : tensor<f32>
    }
    reprise.yield %1#1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
