// Two device programs that train two layers, each with its own: activations go there, their gradient comes back.
// one-program.mlir is the same step on one device.
reprise.program @stage0 devices [0] (
    %x: tensor<4x8xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
    %rate: tensor<f32> {reprise.init = #reprise.fill<0.1>, reprise.name = "rate", reprise.role = "input"},
    %w: tensor<8x8xf32> {reprise.init = #reprise.normal<0.0, 0.5>, reprise.name = "w0", reprise.role = "parameter"},
    %seed: tensor<i64> {reprise.name = "seed", reprise.role = "seed"},
    %offset: tensor<i64> {reprise.name = "offset", reprise.role = "offset"})
    -> (tensor<8x8xf32> {reprise.name = "w0"}, tensor<i64> {reprise.name = "offset"}) {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] {reprise.primal} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = reprise.tanh %0 {reprise.primal} : tensor<4x8xf32>
  %sent = exec.send %h to @stage1 tag 1 : tensor<4x8xf32>
  exec.wait %sent
  %dh, %arrived = exec.receive from @stage1 tag 2 : tensor<4x8xf32>
  exec.wait %arrived
  %one = reprise.constant dense<1.0> : tensor<4x8xf32>
  %1 = reprise.mul %h, %h {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %2 = reprise.sub %one, %1 {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %d = reprise.mul %dh, %2 {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %dw = reprise.dot_general %x, %d contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = reprise.broadcast %rate dims [] : (tensor<f32>) -> tensor<8x8xf32>
  %4 = reprise.mul %dw, %3 : tensor<8x8xf32>
  %5 = reprise.sub %w, %4 : tensor<8x8xf32>
  reprise.return %5, %offset : tensor<8x8xf32>, tensor<i64>
}

reprise.program @stage1 devices [1] (
    %rate: tensor<f32> {reprise.init = #reprise.fill<0.1>, reprise.name = "rate", reprise.role = "input"},
    %w: tensor<8x8xf32> {reprise.init = #reprise.normal<0.0, 0.5>, reprise.name = "w1", reprise.role = "parameter"},
    %seed: tensor<i64> {reprise.name = "seed", reprise.role = "seed"})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<8x8xf32> {reprise.name = "w1"}) {
  %h, %arrived = exec.receive from @stage0 tag 1 : tensor<4x8xf32>
  exec.wait %arrived
  %y = reprise.dot_general %h, %w contracting [1] x [0] {reprise.primal} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %0 = reprise.mul %y, %y {reprise.primal} : tensor<4x8xf32>
  %loss = reprise.mean %0 dims [0, 1] {reprise.primal} : (tensor<4x8xf32>) -> tensor<f32>
  %scale = reprise.constant dense<0.0625> : tensor<4x8xf32>
  %dy = reprise.mul %y, %scale {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x8xf32>
  %dh = reprise.dot_general %dy, %w contracting [1] x [1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %sent = exec.send %dh to @stage0 tag 2 : tensor<4x8xf32>
  %dw = reprise.dot_general %h, %dy contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = reprise.broadcast %rate dims [] : (tensor<f32>) -> tensor<8x8xf32>
  %2 = reprise.mul %dw, %1 : tensor<8x8xf32>
  %3 = reprise.sub %w, %2 : tensor<8x8xf32>
  exec.wait %sent
  reprise.return %loss, %3 : tensor<f32>, tensor<8x8xf32>
}
