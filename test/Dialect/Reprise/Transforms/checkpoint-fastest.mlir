// RUN: reprise-opt %s --reprise-checkpoint --reprise-verify-checkpoint --split-input-file | FileCheck %s
// RUN: reprise-opt %s --reprise-checkpoint --split-input-file > %t.1
// RUN: reprise-opt %s --reprise-checkpoint --split-input-file --mlir-disable-threading > %t.2
// RUN: cmp %t.1 %t.2

// Without a label, what a consumer's kernel computes again for next to nothing is not saved.

// CHECK-LABEL: reprise.program @nearly_free
reprise.program @nearly_free devices [0] (%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %dy: tensor<8x8xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[A:.*]] = reprise.dot_general {{.*}}[#reprise.decision<saved>], {{.*}}[#reprise.reason<fastest>]
  %a = reprise.dot_general %x, %w contracting [1] x [0] {reprise.primal} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // A chain over a saved value, read by an elementwise op.
  // CHECK: reprise.gelu {{.*}}[#reprise.decision<replayed>], {{.*}}[#reprise.reason<"nearly free">]
  %b = reprise.gelu %a {reprise.primal} : tensor<8x8xf32>
  // A draw, with the gelu in its chain.
  // CHECK: reprise.random_bernoulli {{.*}}[#reprise.decision<replayed>], {{.*}}[#reprise.reason<"nearly free">]
  %m = reprise.random_bernoulli seed %seed offset %offset {probability = 0.5 : f32, stream = 0 : i64, reprise.primal} : tensor<8x8xi1>
  // Read by a contraction: one pass over its operand is little beside it.
  // CHECK: reprise.select {{.*}}[#reprise.decision<replayed>], {{.*}}[#reprise.reason<"nearly free">]
  %d = reprise.select %m, %b, %a {reprise.primal} : tensor<8x8xi1>, tensor<8x8xf32>
  // CHECK: %[[B1:.*]] = reprise.gelu %[[A]] {replay = 1
  // CHECK: reprise.mul %arg2, %[[B1]]
  %e = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x8xf32>
  // CHECK: %[[M1:.*]] = reprise.random_bernoulli seed %arg3 offset %arg4 {{.*}}replay = 1
  // CHECK: reprise.select %[[M1]], %{{.*}}, %arg2
  %f = reprise.select %m, %e, %dy {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x8xi1>, tensor<8x8xf32>
  // CHECK: %[[D:.*]] = reprise.select %[[M1]], %[[B1]], %[[A]] {{.*}}replay = 1
  // CHECK: reprise.dot_general %[[D]]
  %g = reprise.dot_general %d, %f contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: reprise.mul %{{.*}}, %[[A]]
  %h = reprise.mul %f, %a {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x8xf32>
  reprise.return %g, %h : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Too much arithmetic, a leaf that would have to be saved instead, and a row-wise op are saved; a
// small leaf is worth it.

// CHECK-LABEL: reprise.program @not_free
reprise.program @not_free devices [0] (%x: tensor<8x64xf32>, %w: tensor<64x64xf32>, %dy: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = reprise.dot_general %x, %w contracting [1] x [0] {reprise.primal} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  // CHECK: reprise.add {{.*}}[#reprise.decision<saved>], {{.*}}[#reprise.reason<fastest>]
  %b = reprise.add %a, %x {reprise.primal} : tensor<8x64xf32>
  // CHECK: reprise.gelu {{.*}}[#reprise.decision<"not needed">]
  %c = reprise.gelu %b {reprise.primal} : tensor<8x64xf32>
  // CHECK: reprise.gelu {{.*}}[#reprise.decision<saved>], {{.*}}[#reprise.reason<fastest>]
  %d = reprise.gelu %c {reprise.primal} : tensor<8x64xf32>
  // CHECK: reprise.softmax {{.*}}[#reprise.decision<saved>], {{.*}}[#reprise.reason<fastest>]
  %e = reprise.softmax %d {reprise.primal} : tensor<8x64xf32>
  // CHECK: %[[R:.*]] = reprise.max {{.*}}[#reprise.decision<saved>], {{.*}}[#reprise.reason<fastest>]
  %r = reprise.max %e dims [1] {reprise.primal} : (tensor<8x64xf32>) -> tensor<8xf32>
  // CHECK: reprise.broadcast %[[R]] {{.*}}[#reprise.decision<replayed>], {{.*}}[#reprise.reason<"nearly free">]
  %s = reprise.broadcast %r dims [0] {reprise.primal} : (tensor<8xf32>) -> tensor<8x64xf32>
  // CHECK: reprise.exp {{.*}}[#reprise.decision<replayed>], {{.*}}[#reprise.reason<"nearly free">]
  %t = reprise.exp %s {reprise.primal} : tensor<8x64xf32>
  %1 = reprise.mul %dy, %t {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x64xf32>
  %2 = reprise.mul %1, %e {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x64xf32>
  %3 = reprise.mul %2, %d {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x64xf32>
  %4 = reprise.mul %3, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x64xf32>
  reprise.return %4 : tensor<8x64xf32>
}

// -----

// An MLP's block with layer_norm, gelu and dropout: what its backward reads and cannot make again
// is saved; the mask takes no bytes at all.

// CHECK-LABEL: reprise.program @mlp
// CHECK-SAME: reprise.replayed_ops = 0
reprise.program @mlp devices [0] (%x: tensor<8x16xf32>, %g: tensor<16xf32>, %w: tensor<16x16xf32>, %dy: tensor<8x16xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> (tensor<16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: reprise.layer_norm {{.*}}[#reprise.decision<saved>, #reprise.decision<saved>, #reprise.decision<"not needed">]
  // CHECK-SAME: [#reprise.reason<fastest>, #reprise.reason<fastest>, #reprise.reason<"not read">]
  %n, %mean, %rstd = reprise.layer_norm %x, %g, %g {epsilon = 1.0e-5 : f32, reprise.primal} : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: reprise.dot_general {{.*}}[#reprise.decision<saved>]
  %h = reprise.dot_general %n, %w contracting [1] x [0] {reprise.primal} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  // CHECK: reprise.gelu {{.*}}[#reprise.decision<"not needed">]
  %a = reprise.gelu %h {reprise.primal} : tensor<8x16xf32>
  // CHECK: reprise.dropout {{.*}}[#reprise.decision<"not needed">]
  %d = reprise.dropout %a seed %seed offset %offset {rate = 0.5 : f32, stream = 0 : i64, reprise.primal} : tensor<8x16xf32>
  %1 = reprise.dropout %dy seed %seed offset %offset {rate = 0.5 : f32, stream = 0 : i64, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x16xf32>
  %2 = reprise.mul %1, %h {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x16xf32>
  %3 = reprise.dot_general %n, %2 contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %4 = reprise.broadcast %mean dims [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<8xf32>) -> tensor<8x16xf32>
  %5 = reprise.mul %2, %4 {reprise.cotangent, reprise.order = 1 : i64} : tensor<8x16xf32>
  reprise.return %3, %5, %d : tensor<16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
