// Checkpoints in checkpoints, a named value that must be saved, and one that must be recomputed.
module @nested {
  func.func private @loss(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<f32> {
    %h = reprise.checkpoint {
      %a = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %b = reprise.tanh %a : tensor<4x8xf32>
      %c = reprise.checkpoint policy "dots-saveable" {
        %d = reprise.dropout %b {rate = 0.25 : f32} : tensor<4x8xf32>
        %e = reprise.dot_general %d, %w contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
        %f = reprise.exp %e : tensor<4x8xf32>
        reprise.yield %f : tensor<4x8xf32>
      } : tensor<4x8xf32>
      %n, %mean, %rstd = reprise.layer_norm %c, %g, %g {epsilon = 1.0e-5 : f32} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      %spread = reprise.name %rstd "spread" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
      %s = reprise.sigmoid %n : tensor<4x8xf32>
      reprise.yield %s : tensor<4x8xf32>
    } : tensor<4x8xf32>
    %again = reprise.name %h "again" {reprise.label = #reprise.label<must_recompute>} : tensor<4x8xf32>
    %y = reprise.block {
      %p = reprise.mul %again, %again : tensor<4x8xf32>
      %q = reprise.dropout %p {rate = 0.5 : f32} : tensor<4x8xf32>
      %r = reprise.silu %q : tensor<4x8xf32>
      reprise.yield %r : tensor<4x8xf32>
    } : tensor<4x8xf32>
    %mean = reprise.mean %y dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
    return %mean : tensor<f32>
  }

  func.func @train(
      %x: tensor<4x8xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>},
      %w: tensor<8x8xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.3>},
      %g: tensor<8xf32> {reprise.role = "parameter", reprise.name = "g", reprise.init = #reprise.fill<1.0>})
      -> (tensor<f32> {reprise.name = "loss"}, tensor<8x8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "g"}) {
    %loss, %dw, %dg = reprise.value_and_grad @loss(%x, %w, %g) wrt [1, 2] : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8x8xf32>, tensor<8xf32>)
    %nw = reprise.sub %w, %dw : tensor<8x8xf32>
    %ng = reprise.sub %g, %dg : tensor<8xf32>
    return %loss, %nw, %ng : tensor<f32>, tensor<8x8xf32>, tensor<8xf32>
  }
}
