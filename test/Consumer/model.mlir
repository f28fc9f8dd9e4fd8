// A linear layer with a squared loss, one step of gradient descent.
func.func private @loss(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<f32> {
  %y = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %squares = reprise.mul %y, %y : tensor<8x4xf32>
  %mean = reprise.mean %squares dims [0, 1] : (tensor<8x4xf32>) -> tensor<f32>
  return %mean : tensor<f32>
}

func.func @train(
    %x: tensor<8x16xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %rate: tensor<f32> {reprise.role = "input", reprise.name = "learning_rate", reprise.init = #reprise.fill<0.1>},
    %w: tensor<16x4xf32> {reprise.role = "parameter", reprise.name = "weight", reprise.init = #reprise.normal<0.0, 0.5>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<16x4xf32> {reprise.name = "weight"}) {
  %loss, %gradient = reprise.value_and_grad @loss(%x, %w) wrt [1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> (tensor<f32>, tensor<16x4xf32>)
  %change = reprise.mul %gradient, %rate : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %next = reprise.sub %w, %change : tensor<16x4xf32>
  return %loss, %next : tensor<f32>, tensor<16x4xf32>
}
