// The step of two-programs.mlir on one device.
reprise.program @train devices [0] (
    %x: tensor<4x8xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
    %rate: tensor<f32> {reprise.init = #reprise.fill<0.1>, reprise.name = "rate", reprise.role = "input"},
    %w0: tensor<8x8xf32> {reprise.init = #reprise.normal<0.0, 0.5>, reprise.name = "w0", reprise.role = "parameter"},
    %w1: tensor<8x8xf32> {reprise.init = #reprise.normal<0.0, 0.5>, reprise.name = "w1", reprise.role = "parameter"},
    %seed: tensor<i64> {reprise.name = "seed", reprise.role = "seed"},
    %offset: tensor<i64> {reprise.name = "offset", reprise.role = "offset"})
    -> (tensor<8x8xf32> {reprise.name = "w0"}, tensor<i64> {reprise.name = "offset"},
        tensor<f32> {reprise.name = "loss"}, tensor<8x8xf32> {reprise.name = "w1"}) {
  %0 = reprise.dot_general %x, %w0 contracting [1] x [0] {reprise.primal} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = reprise.tanh %0 {reprise.primal} : tensor<4x8xf32>
  %y = reprise.dot_general %h, %w1 contracting [1] x [0] {reprise.primal} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = reprise.mul %y, %y {reprise.primal} : tensor<4x8xf32>
  %loss = reprise.mean %1 dims [0, 1] {reprise.primal} : (tensor<4x8xf32>) -> tensor<f32>
  %scale = reprise.constant dense<0.0625> : tensor<4x8xf32>
  %dy = reprise.mul %y, %scale {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %dh = reprise.dot_general %dy, %w1 contracting [1] x [1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %dw1 = reprise.dot_general %h, %dy contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %one = reprise.constant dense<1.0> : tensor<4x8xf32>
  %2 = reprise.mul %h, %h {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %3 = reprise.sub %one, %2 {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %d = reprise.mul %dh, %3 {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %dw0 = reprise.dot_general %x, %d contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = reprise.broadcast %rate dims [] : (tensor<f32>) -> tensor<8x8xf32>
  %5 = reprise.mul %dw0, %4 : tensor<8x8xf32>
  %6 = reprise.sub %w0, %5 : tensor<8x8xf32>
  %7 = reprise.mul %dw1, %4 : tensor<8x8xf32>
  %8 = reprise.sub %w1, %7 : tensor<8x8xf32>
  reprise.return %6, %offset, %loss, %8 : tensor<8x8xf32>, tensor<i64>, tensor<f32>, tensor<8x8xf32>
}
