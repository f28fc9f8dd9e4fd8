// A step whose parameters are large enough for two replicas to own half of the rows each.
func.func private @loss(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %v: tensor<32x32xf32>) -> tensor<f32> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
  %1 = reprise.tanh %0 : tensor<4x32xf32>
  %2 = reprise.dot_general %1, %v contracting [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
  %3 = reprise.mul %2, %2 : tensor<4x32xf32>
  %4 = reprise.mean %3 dims [0, 1] : (tensor<4x32xf32>) -> tensor<f32>
  return %4 : tensor<f32>
}
func.func @train(%x: tensor<4x32xf32> {reprise.name = "x", reprise.role = "input", reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>},
                 %w: tensor<32x32xf32> {reprise.name = "w", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 0.5>},
                 %v: tensor<32x32xf32> {reprise.name = "v", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 0.5>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<32x32xf32> {reprise.name = "w"}, tensor<32x32xf32> {reprise.name = "v"}) {
  %0:3 = reprise.value_and_grad @loss(%x, %w, %v) wrt [1, 2] : (tensor<4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>)
  %1 = reprise.sub %w, %0#1 : tensor<32x32xf32>
  %2 = reprise.sub %v, %0#2 : tensor<32x32xf32>
  return %0#0, %1, %2 : tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>
}
