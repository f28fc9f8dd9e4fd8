// The second loss comes through a loop that the first one made wider.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<8xf32> {reprise.name = "x", reprise.role = "state", reprise.init = #reprise.normal<0.0, 1.0>}) -> tensor<8xf32> {
  %0:4 = reprise.value_and_grad (%a = %x) wrt [0] of [0, 1] : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
    %8 = reprise.loop 2 () : () -> tensor<2x2xf32> {
      %13 = reprise.loop 2 () : () -> tensor<2xf32> {
        %14 = reprise.exp %a : tensor<8xf32>
        %15 = reprise.sum %14 dims [0] : (tensor<8xf32>) -> tensor<f32>
        reprise.yield %15 : tensor<f32>
      }
      reprise.yield %13 : tensor<2xf32>
    }
    %9 = reprise.sum %8 dims [0, 1] : (tensor<2x2xf32>) -> tensor<f32>
    %10 = reprise.add %9, %9 : tensor<f32>
    reprise.yield %9, %10 : tensor<f32>, tensor<f32>
  }
  return %0#3 : tensor<8xf32>
}
