// Neighbouring parts that one replica adds are one value, so a gradient leaves in one message per level of the tree.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-shard-arrays{replicas=4 least-bytes=8}))" | FileCheck %s

// The parts of w belong to the replicas 0, 2, 1, 3, whose numbers are those of the parts with their bits reversed.
// CHECK-LABEL: reprise.program @update
// CHECK: %[[W0:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 0 : i64, reprise.name = "w[0:2]"
// CHECK: %[[W1:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 2 : i64, reprise.name = "w[2:4]"
// CHECK: %[[W2:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 1 : i64, reprise.name = "w[4:6]"
// CHECK: %[[W3:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 3 : i64, reprise.name = "w[6:8]"

// Replicas 0 and 1 add halves. Halves are cut again for the sum with those of replicas 2 and 3.
// CHECK: %[[G0:.*]] = reprise.sin
// CHECK: %[[A0:.*]] = reprise.add {{.*}} {pipe.replica = 0 : i64, reprise.cotangent} : tensor<4x4xf32>
// CHECK: %[[A1:.*]] = reprise.add {{.*}} {pipe.replica = 1 : i64, reprise.cotangent} : tensor<4x4xf32>
// CHECK: %[[B0:.*]] = reprise.add {{.*}} {pipe.replica = 2 : i64, reprise.cotangent} : tensor<4x4xf32>
// CHECK: %[[B1:.*]] = reprise.add {{.*}} {pipe.replica = 3 : i64, reprise.cotangent} : tensor<4x4xf32>
// CHECK: %[[A00:.*]] = reprise.slice %[[A0]] from [0, 0] to [2, 4] by [1, 1] {pipe.replica = 0 : i64
// CHECK: %[[B00:.*]] = reprise.slice %[[B0]] from [0, 0] to [2, 4] by [1, 1] {pipe.replica = 2 : i64
// CHECK: %[[S0:.*]] = reprise.add %[[A00]], %[[B00]] {pipe.replica = 0 : i64, reprise.cotangent} : tensor<2x4xf32>
// CHECK: %[[A01:.*]] = reprise.slice %[[A0]] from [2, 0] to [4, 4] by [1, 1] {pipe.replica = 0 : i64
// CHECK: %[[B01:.*]] = reprise.slice %[[B0]] from [2, 0] to [4, 4] by [1, 1] {pipe.replica = 2 : i64
// CHECK: %[[S1:.*]] = reprise.add %[[A01]], %[[B01]] {pipe.replica = 2 : i64, reprise.cotangent} : tensor<2x4xf32>
// CHECK: reprise.add {{.*}} {pipe.replica = 1 : i64, reprise.cotangent} : tensor<2x4xf32>
// CHECK: reprise.add {{.*}} {pipe.replica = 3 : i64, reprise.cotangent} : tensor<2x4xf32>
// CHECK: reprise.sub %[[W0]], %[[S0]] {pipe.replica = 0 : i64}
// CHECK: reprise.sub %[[W1]], %[[S1]] {pipe.replica = 2 : i64}
reprise.program @update devices [0] (%w: tensor<8x4xf32> {reprise.name = "w", reprise.role = "parameter"})
    -> (tensor<8x4xf32> {reprise.name = "w"}) {
  %g0 = reprise.sin %w {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : tensor<8x4xf32>
  %g1 = reprise.cos %w {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : tensor<8x4xf32>
  %g2 = reprise.exp %w {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 2 : i64} : tensor<8x4xf32>
  %g3 = reprise.tanh %w {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 3 : i64} : tensor<8x4xf32>
  %a = reprise.add %g0, %g1 {reprise.cotangent, reprise.microbatch = 1 : i64} : tensor<8x4xf32>
  %b = reprise.add %g2, %g3 {reprise.cotangent, reprise.microbatch = 3 : i64} : tensor<8x4xf32>
  %s = reprise.add %a, %b {reprise.cotangent, reprise.microbatch = 3 : i64} : tensor<8x4xf32>
  %n = reprise.sub %w, %s : tensor<8x4xf32>
  reprise.return %n : tensor<8x4xf32>
}
