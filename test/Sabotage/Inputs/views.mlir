// A step whose backward pass reads a value through a view alone.
func.func @train(%x: tensor<8x4xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
                 %w: tensor<4x4xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<4x4xf32> {reprise.name = "dw"}) {
  %loss, %dw = reprise.value_and_grad (%x0 = %x, %w0 = %w) wrt [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
    %p = reprise.dot_general %x0, %w0 contracting [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %s = reprise.sin %p : tensor<8x4xf32>
    %f = reprise.reshape %s : (tensor<8x4xf32>) -> tensor<32xf32>
    %e = reprise.mul %f, %f : tensor<32xf32>
    %sum = reprise.sum %e dims [0] : (tensor<32xf32>) -> tensor<f32>
    reprise.yield %sum : tensor<f32>
  }
  return %loss, %dw : tensor<f32>, tensor<4x4xf32>
}
