// RUN: reprise-opt %s --reprise-checkpoint --reprise-verify-checkpoint --split-input-file | FileCheck %s

// A block in a block: what crosses the inner units (%a and %c) is replayed once for all of the outer
// block's backward (replay 1), with %b to get there; %b, an inner value of the inner block, is
// replayed for that block's own backward (replay 2). Of all this only %out is kept.

#again = #reprise.label<prefer_recompute>

// CHECK-LABEL: reprise.program @nested_blocks
// CHECK-SAME: reprise.replayed_ops = 4 : i64, reprise.saved_bytes = 16
reprise.program @nested_blocks devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0, 1>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.tanh %a {reprise.primal, reprise.block = array<i64: 0, 2>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %c = reprise.sqrt %b {reprise.primal, reprise.block = array<i64: 0, 2>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %d = reprise.log %c {reprise.primal, reprise.block = array<i64: 0, 3>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: %[[OUT:.*]] = reprise.erf {{.*}}[#reprise.decision<kept>], {{.*}}[#reprise.reason<"block input">]
  %out = reprise.erf %d {reprise.primal, reprise.block = array<i64: 0, 3>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %e = reprise.neg %out {reprise.primal, reprise.block = array<i64: 4>} : tensor<4xf32>
  // CHECK: reprise.mul %arg1, %[[OUT]]
  %f = reprise.mul %dy, %out {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 4>} : tensor<4xf32>
  // CHECK: %[[A1:.*]] = reprise.exp %arg0 {replay = 1
  // CHECK: %[[B1:.*]] = reprise.tanh %[[A1]] {replay = 1
  // CHECK: %[[C1:.*]] = reprise.sqrt %[[B1]] {replay = 1
  // CHECK: reprise.mul %{{.*}}, %[[C1]]
  %g = reprise.mul %f, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0, 3>} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[C1]]
  %h = reprise.mul %g, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0, 2>} : tensor<4xf32>
  // CHECK: %[[B2:.*]] = reprise.tanh %[[A1]] {replay = 2
  // CHECK: reprise.mul %{{.*}}, %[[B2]]
  %i = reprise.mul %h, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0, 2>} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[A1]]
  %j = reprise.mul %i, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0, 1>} : tensor<4xf32>
  reprise.return %j : tensor<4xf32>
}

// -----

// A second derivative. Unit (0, 0) is replayed for the inner backward of its block (order 1) and
// again for each outer one (orders 3 and 2); a value of order 1 is replayed for order 3 only. The
// inner loss (block 1) keeps the inner backward from following its forward directly.

#again = #reprise.label<prefer_recompute>

// CHECK-LABEL: reprise.program @second_derivative
// CHECK-SAME: reprise.replayed_ops = 4
reprise.program @second_derivative devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp %arg0 {{.*}}[#reprise.decision<replayed>]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.neg %a {reprise.primal, reprise.block = array<i64: 1>} : tensor<4xf32>
  %c = reprise.neg %b {reprise.primal, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK: %[[C:.*]] = reprise.neg {{.*}}reprise.order = 1
  // CHECK: %[[A1:.*]] = reprise.exp %arg0 {replay = 1
  // CHECK: %[[D:.*]] = reprise.mul %[[C]], %[[A1]] {{.*}}[#reprise.decision<replayed>]
  %d = reprise.mul %c, %a {reprise.primal, reprise.order = 1 : i64, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: %[[E:.*]] = reprise.abs %[[D]]
  %e = reprise.abs %d {reprise.primal, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK: %[[F:.*]] = reprise.mul %arg1, %[[E]]
  %f = reprise.mul %dy, %e {reprise.cotangent, reprise.order = 2 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK: %[[A2:.*]] = reprise.exp %arg0 {replay = 2
  // CHECK: %[[D2:.*]] = reprise.mul %[[C]], %[[A2]] {replay = 2
  // CHECK: reprise.mul %[[F]], %[[D2]]
  %g = reprise.mul %f, %d {reprise.cotangent, reprise.order = 3 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[A2]]
  %h = reprise.mul %g, %a {reprise.cotangent, reprise.order = 3 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK: %[[A3:.*]] = reprise.exp %arg0 {replay = 3
  // CHECK: reprise.mul %{{.*}}, %[[A3]]
  %i = reprise.mul %h, %a {reprise.cotangent, reprise.order = 2 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %i : tensor<4xf32>
}
