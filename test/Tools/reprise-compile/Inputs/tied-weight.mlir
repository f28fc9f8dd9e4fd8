// A weight that every layer reads behind the same tanh.
func.func private @loss(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> tensor<f32> {
  %t0 = reprise.tanh %w : tensor<16x16xf32>
  %d0 = reprise.dot_general %x, %t0 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h0 = reprise.sin %d0 : tensor<4x16xf32>
  %t1 = reprise.tanh %w : tensor<16x16xf32>
  %d1 = reprise.dot_general %h0, %t1 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h1 = reprise.sin %d1 : tensor<4x16xf32>
  %t2 = reprise.tanh %w : tensor<16x16xf32>
  %d2 = reprise.dot_general %h1, %t2 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h2 = reprise.sin %d2 : tensor<4x16xf32>
  %t3 = reprise.tanh %w : tensor<16x16xf32>
  %d3 = reprise.dot_general %h2, %t3 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h3 = reprise.sin %d3 : tensor<4x16xf32>
  %t4 = reprise.tanh %w : tensor<16x16xf32>
  %d4 = reprise.dot_general %h3, %t4 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h4 = reprise.sin %d4 : tensor<4x16xf32>
  %t5 = reprise.tanh %w : tensor<16x16xf32>
  %d5 = reprise.dot_general %h4, %t5 contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %h5 = reprise.sin %d5 : tensor<4x16xf32>
  %loss = reprise.mean %h5 dims [0, 1] : (tensor<4x16xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @grad(%x: tensor<4x16xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>}, %w: tensor<16x16xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.5>}) -> (tensor<f32> {reprise.name = "loss"}, tensor<16x16xf32> {reprise.name = "g"}) {
  %0:2 = reprise.value_and_grad @loss(%x, %w) wrt [1] : (tensor<4x16xf32>, tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>)
  return %0#0, %0#1 : tensor<f32>, tensor<16x16xf32>
}
