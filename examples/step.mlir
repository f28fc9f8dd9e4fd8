// A complete training step: two layers, dropout, cross-entropy, SGD. See docs/how-to/WriteAModel.md.
module @tiny {
  // The loss of one batch; differentiated below, so it says nothing of gradients.
  func.func private @loss(%x: tensor<8x16xf32>, %labels: tensor<8xi32>, %w0: tensor<16x32xf32>, %w1: tensor<32x10xf32>) -> tensor<f32> {
    %h = reprise.checkpoint {
      %a = reprise.dot_general %x, %w0 contracting [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %b = reprise.gelu %a : tensor<8x32xf32>
      %c = reprise.dropout %b {rate = 0.1 : f32} : tensor<8x32xf32>
      reprise.yield %c : tensor<8x32xf32>
    } : tensor<8x32xf32>
    %n = reprise.name %h "hidden" {reprise.label = #reprise.label<must_save>} : tensor<8x32xf32>
    %logits = reprise.dot_general %n, %w1 contracting [1] x [0] : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
    %each = reprise.cross_entropy %logits, %labels : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<8xf32>
    %mean = reprise.mean %each dims [0] : (tensor<8xf32>) -> tensor<f32>
    return %mean : tensor<f32>
  }

  func.func @train(
      %x: tensor<8x16xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>},
      %labels: tensor<8xi32> {reprise.role = "input", reprise.name = "labels", reprise.batch_dim = 0 : i64, reprise.init = #reprise.uniform_int<0, 10>},
      %rate: tensor<f32> {reprise.role = "input", reprise.name = "learning_rate", reprise.init = #reprise.fill<0.1>},
      %w0: tensor<16x32xf32> {reprise.role = "parameter", reprise.name = "hidden/weight", reprise.init = #reprise.normal<0.0, 0.02>},
      %w1: tensor<32x10xf32> {reprise.role = "parameter", reprise.name = "head/weight", reprise.init = #reprise.normal<0.0, 0.02>})
      -> (tensor<f32> {reprise.name = "loss"}, tensor<16x32xf32> {reprise.name = "hidden/weight"}, tensor<32x10xf32> {reprise.name = "head/weight"}) {
    %loss, %g0, %g1 = reprise.value_and_grad @loss(%x, %labels, %w0, %w1) wrt [2, 3]
        : (tensor<8x16xf32>, tensor<8xi32>, tensor<16x32xf32>, tensor<32x10xf32>) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x10xf32>)
    %s0 = reprise.mul %g0, %rate : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %s1 = reprise.mul %g1, %rate : (tensor<32x10xf32>, tensor<f32>) -> tensor<32x10xf32>
    %n0 = reprise.sub %w0, %s0 : tensor<16x32xf32>
    %n1 = reprise.sub %w1, %s1 : tensor<32x10xf32>
    return %loss, %n0, %n1 : tensor<f32>, tensor<16x32xf32>, tensor<32x10xf32>
  }
}
