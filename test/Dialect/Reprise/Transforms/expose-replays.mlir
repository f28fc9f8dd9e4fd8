// RUN: reprise-opt %s --reprise-expose-replays -split-input-file -verify-diagnostics -allow-unregistered-dialect | FileCheck %s

// Two replays of one original share it; a named result is its own original; views and unread results are left alone.
// CHECK-LABEL: @pairs
// CHECK-SAME: -> (tensor<4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "e"},
// CHECK-SAME: tensor<4xf32> {reprise.check = "original of a replay"},
// CHECK-SAME: tensor<4xf32> {reprise.check = "replay 1 of reprise.exp 'layer/0/exp#1:0' at model.mlir:3:7", reprise.replay_of = 2 : i64},
// CHECK-SAME: tensor<4xf32> {reprise.check = "replay 2 of reprise.exp 'layer/0/exp#1:0' at model.mlir:3:7", reprise.replay_of = 2 : i64},
// CHECK-SAME: tensor<4xf32> {reprise.check = "replay 2 of reprise.exp 'exp#0:0'", reprise.replay_of = 1 : i64})
// CHECK: %[[OTHER:.*]] = reprise.exp %arg0 : tensor<4xf32>
// CHECK: %[[A:.*]] = reprise.exp %arg0 {reprise.id = 0
// CHECK: %[[E:.*]] = reprise.exp %[[A]] {reprise.id = 1
// CHECK: %[[A1:.*]] = reprise.exp %arg0 {replay = 1
// CHECK: %[[A2:.*]] = reprise.exp %arg0 {replay = 2
// CHECK: %[[E2:.*]] = reprise.exp %[[A2]] {replay = 2
// CHECK: return %{{.*}}, %[[E]], %[[A]], %[[A1]], %[[A2]], %[[E2]] :
reprise.program @pairs devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "e"}) {
  %other = reprise.exp %x : tensor<4xf32> loc("layer/0")
  %a = reprise.exp %x {reprise.primal, reprise.id = 0 : i64} : tensor<4xf32> loc("layer/0"("model.mlir":3:7))
  %e = reprise.exp %a {reprise.primal, reprise.id = 1 : i64} : tensor<4xf32> loc(unknown)
  %v = reprise.reshape %a {reprise.primal, reprise.id = 2 : i64} : (tensor<4xf32>) -> tensor<2x2xf32>
  %u = reprise.log %a {reprise.primal, reprise.id = 3 : i64} : tensor<4xf32>
  %a1 = reprise.exp %x {replay = 1 : i64, reprise.original = 0 : i64} : tensor<4xf32>
  %v1 = reprise.reshape %a1 {replay = 1 : i64, reprise.original = 2 : i64} : (tensor<4xf32>) -> tensor<2x2xf32>
  %u1 = reprise.log %a1 {replay = 1 : i64, reprise.original = 3 : i64} : tensor<4xf32>
  %a2 = reprise.exp %x {replay = 2 : i64, reprise.original = 0 : i64} : tensor<4xf32>
  %e2 = reprise.exp %a2 {replay = 2 : i64, reprise.original = 1 : i64} : tensor<4xf32>
  %w1 = reprise.reshape %v1 {reprise.cotangent} : (tensor<2x2xf32>) -> tensor<4xf32>
  %y = reprise.mul %w1, %e2 {reprise.cotangent} : tensor<4xf32>
  reprise.return %y, %e : tensor<4xf32>, tensor<4xf32>
}

// -----

// Without replays nothing changes.
// CHECK-LABEL: @none
// CHECK-SAME: -> (tensor<4xf32> {reprise.name = "y"}) {
reprise.program @none devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = "y"}) {
  %y = reprise.exp %x : tensor<4xf32>
  reprise.return %y : tensor<4xf32>
}

// -----

reprise.program @orphan devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a replay of an earlier op: run reprise-verify-checkpoint}}
  %y = reprise.exp %x {replay = 1 : i64, reprise.original = 5 : i64} : tensor<4xf32>
  reprise.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected 'reprise.check' to be a string without a name beside it (result 0)}}
reprise.program @named devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.check = "x", reprise.name = "y"}) {
  reprise.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected 'reprise.replay_of' to be an earlier result of the same type, with 'reprise.check' beside it (result 0)}}
reprise.program @early devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.check = "x", reprise.replay_of = 0 : i64}) {
  reprise.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected 'reprise.replay_of' to be an earlier result of the same type}}
reprise.program @type devices [0] (%x: tensor<4xf32>, %z: tensor<4xi32>) -> (tensor<4xi32> {reprise.name = "y"}, tensor<4xf32> {reprise.check = "x", reprise.replay_of = 0 : i64}) {
  reprise.return %z, %x : tensor<4xi32>, tensor<4xf32>
}
