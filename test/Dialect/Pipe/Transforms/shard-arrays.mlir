// Replicas share parameters, states, updates and inputs; sums meet on the replica that works for a part.
// RUN: reprise-opt %s -split-input-file --pass-pipeline="builtin.module(reprise.program(pipe-shard-arrays{replicas=2 least-bytes=8}))" | FileCheck %s

// Each replica owns two rows of w, and its rows of x. A slice of a lane's sum stands on the replica of the sum, so
// that only a part leaves the replica. Readers of all of w join it.
// CHECK-LABEL: reprise.program @update devices [0] (
// CHECK-SAME: %[[X0:[a-z0-9]+]]: tensor<2x4xf32> {reprise.batch_dim = 0 : i64, reprise.name = "x[0:2]", reprise.role = "input", reprise.rows = array<i64: 0, 2, 4>, reprise.whole = "x"}
// CHECK-SAME: %[[X1:[a-z0-9]+]]: tensor<2x4xf32> {{.*}}"x[2:4]"
// CHECK-SAME: %[[W0:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 0 : i64, reprise.name = "w[0:2]", reprise.role = "parameter", reprise.rows = array<i64: 0, 2, 4>, reprise.whole = "w"}
// CHECK-SAME: %[[W1:[a-z0-9]+]]: tensor<2x4xf32> {pipe.replica = 1 : i64, reprise.name = "w[2:4]"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<1xf32> {pipe.replica = 0 : i64, reprise.name = "b"
// CHECK-SAME: -> (tensor<2x4xf32> {reprise.name = "w[0:2]", {{.*}}, tensor<2x4xf32> {reprise.name = "w[2:4]"
// CHECK: %[[JOINED:.*]] = reprise.concatenate %[[W0]], %[[W1]] dim 0 :
// CHECK: reprise.dot_general %[[X0]], %[[JOINED]]
// CHECK: %[[G0:.*]] = reprise.dot_general %[[X0]]
// CHECK: reprise.dot_general %[[X1]]
// CHECK: %[[G1:.*]] = reprise.dot_general %[[X1]]
// CHECK: %[[G00:.*]] = reprise.slice %[[G0]] from [0, 0] to [2, 4] by [1, 1] {pipe.replica = 0 : i64, reprise.cotangent, reprise.stage = 0 : i64}
// CHECK: %[[G10:.*]] = reprise.slice %[[G1]] from [0, 0] to [2, 4] by [1, 1] {pipe.replica = 1 : i64, reprise.cotangent, reprise.stage = 0 : i64}
// CHECK: %[[S0:.*]] = reprise.add %[[G00]], %[[G10]] {pipe.replica = 0 : i64, reprise.cotangent}
// CHECK: %[[G01:.*]] = reprise.slice %[[G0]] from [2, 0] to [4, 4]
// CHECK: %[[G11:.*]] = reprise.slice %[[G1]] from [2, 0] to [4, 4]
// CHECK: %[[S1:.*]] = reprise.add %[[G01]], %[[G11]] {pipe.replica = 1 : i64, reprise.cotangent}
// CHECK: %[[N0:.*]] = reprise.sub %[[W0]], %[[S0]] {pipe.replica = 0 : i64}
// CHECK: %[[N1:.*]] = reprise.sub %[[W1]], %[[S1]] {pipe.replica = 1 : i64}
// CHECK: return %[[N0]], %[[N1]]
reprise.program @update devices [0] (%x: tensor<4x4xf32> {reprise.name = "x", reprise.role = "input", reprise.batch_dim = 0 : i64},
                 %w: tensor<4x4xf32> {reprise.name = "w", reprise.role = "parameter"},
                 %b: tensor<1xf32> {reprise.name = "b", reprise.role = "parameter"})
    -> (tensor<4x4xf32> {reprise.name = "w"}) {
  %x0 = reprise.slice %x from [0, 0] to [2, 4] by [1, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %x1 = reprise.slice %x from [2, 0] to [4, 4] by [1, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %y0 = reprise.dot_general %x0, %w contracting [1] x [0] {reprise.primal, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g0 = reprise.dot_general %x0, %y0 contracting [0] x [0] {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %y1 = reprise.dot_general %x1, %w contracting [1] x [0] {reprise.primal, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g1 = reprise.dot_general %x1, %y1 contracting [0] x [0] {reprise.cotangent, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %s = reprise.add %g0, %g1 {reprise.cotangent, reprise.microbatch = 1 : i64} : tensor<4x4xf32>
  %n = reprise.sub %w, %s : tensor<4x4xf32>
  reprise.return %n : tensor<4x4xf32>
}
