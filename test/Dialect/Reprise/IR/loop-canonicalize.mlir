// Loops lose what nobody reads, and nothing else.
// RUN: reprise-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @unread(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<3x4xf32>
func.func @unread(%x: tensor<4xf32>, %w: tensor<3x4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = reprise.loop 3 (%[[C:.*]] = %[[X]]) : (tensor<4xf32>) -> tensor<4xf32> {
  %0:4 = reprise.loop 3 (%a = %x, %idle = %x) over (%s = %w, %t = %w) : (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    // CHECK-NEXT: %[[E:.*]] = reprise.exp %[[C]]
    %1 = reprise.exp %a : tensor<4xf32>
    // CHECK-NEXT: reprise.yield %[[E]] : tensor<4xf32>
    reprise.yield %1, %idle, %s, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: return %[[R]]
  return %0#0 : tensor<4xf32>
}

// Equal loops are one, but for replays; a carry that is read stays.
// CHECK-LABEL: func @equal(
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = reprise.loop 3
  %0 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.exp %a : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  // CHECK-NOT: reprise.loop {{.*}} {{{$}}
  %2 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.exp %a : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  // CHECK: %[[B:.*]] = reprise.loop 3
  // CHECK: replay = 1
  %3 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.exp %a : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  } {replay = 1 : i64}
  // CHECK: return %[[A]], %[[A]], %[[B]]
  return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A draw keeps its loop, and its writes are not merged.
// CHECK-LABEL: func @draws(
func.func @draws(%x: tensor<4xf32>) {
  // CHECK: reprise.loop 3
  // CHECK-NEXT: reprise.random_uniform
  %0 = reprise.loop 3 (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.random_uniform : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  return
}
