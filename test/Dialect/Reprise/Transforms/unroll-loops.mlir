// Every iteration becomes a unit of its own, on its own rows.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(func.func(reprise-unroll-loops),canonicalize)" | FileCheck %s

// CHECK-LABEL: func @scan(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<2x4xf32>, %[[U:.*]]: tensor<4xf32>
func.func @scan(%x: tensor<4xf32>, %w: tensor<2x4xf32>, %u: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) {
  // CHECK: %[[S0:.*]] = reprise.slice %[[W]] from [0, 0] to [1, 4] by [1, 1] {reprise.block = array<i64: 7>, reprise.primal}
  // CHECK: %[[W0:.*]] = reprise.reshape %[[S0]]
  // CHECK: %[[A0:.*]] = reprise.mul %[[X]], %[[W0]] {reprise.block = array<i64: 8>, reprise.primal}
  // CHECK: %[[B0:.*]] = reprise.mul %[[A0]], %[[U]] {reprise.block = array<i64: 8, 4>, reprise.primal}
  // CHECK: %[[S1:.*]] = reprise.slice %[[W]] from [1, 0] to [2, 4]
  // CHECK: %[[W1:.*]] = reprise.reshape %[[S1]]
  // CHECK: %[[A1:.*]] = reprise.mul %[[B0]], %[[W1]] {reprise.block = array<i64: 9>, reprise.primal}
  // CHECK: %[[B1:.*]] = reprise.mul %[[A1]], %[[U]] {reprise.block = array<i64: 9, 4>, reprise.primal}
  %h, %a = reprise.loop 2 (%c = %x) over (%s = %w) : (tensor<4xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
    %m = reprise.mul %c, %s {reprise.block = array<i64: 7>, reprise.primal} : tensor<4xf32>
    %n = reprise.mul %m, %u {reprise.block = array<i64: 7, 4>, reprise.primal} : tensor<4xf32>
    reprise.yield %n, %m : tensor<4xf32>, tensor<4xf32>
  } {reprise.block = array<i64: 7>, reprise.primal}
  // Another loop of the unit, backwards: iteration 1 first, in the unit of iteration 1, on the row itself.
  // CHECK: %[[C1:.*]] = reprise.mul %[[B1]], %[[A1]] {reprise.block = array<i64: 9>, reprise.cotangent}
  // CHECK: %[[C0:.*]] = reprise.mul %[[C1]], %[[A0]] {reprise.block = array<i64: 8>, reprise.cotangent}
  %d, %y = reprise.loop 2 (%c = %h) over (%s = %a) reverse : (tensor<4xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
    %m = reprise.mul %c, %s {reprise.block = array<i64: 7>, reprise.cotangent} : tensor<4xf32>
    reprise.yield %m, %c : tensor<4xf32>, tensor<4xf32>
  } {reprise.block = array<i64: 7>, reprise.cotangent}
  // Row 0 is what the last iteration yields.
  // CHECK: %[[Y0:.*]] = reprise.reshape %[[C1]]
  // CHECK: %[[Y1:.*]] = reprise.reshape %[[B1]]
  // CHECK: %[[Y:.*]] = reprise.concatenate %[[Y0]], %[[Y1]] dim 0
  // CHECK: return %[[B1]], %[[C0]], %[[Y]]
  return %h, %d, %y : tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>
}

// Rows of an inner loop go from iteration to iteration without a stack.
// CHECK-LABEL: func @nested(
// CHECK-NOT: reprise.loop
// CHECK-NOT: reprise.concatenate
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %h, %a = reprise.loop 2 (%c = %x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x3x4xf32>) {
    %i, %r = reprise.loop 3 (%e = %c) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
      %m = reprise.exp %e : tensor<4xf32>
      reprise.yield %m, %e : tensor<4xf32>, tensor<4xf32>
    }
    reprise.yield %i, %r : tensor<4xf32>, tensor<3x4xf32>
  }
  // CHECK-COUNT-6: reprise.exp
  // CHECK-COUNT-6: reprise.mul
  %d = reprise.loop 2 (%c = %h) over (%s = %a) reverse : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<4xf32> {
    %i = reprise.loop 3 (%e = %c) over (%t = %s) reverse : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32> {
      %m = reprise.mul %e, %t : tensor<4xf32>
      reprise.yield %m : tensor<4xf32>
    }
    reprise.yield %i : tensor<4xf32>
  }
  // CHECK: return
  return %d : tensor<4xf32>
}
