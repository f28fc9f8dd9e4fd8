// CSE merges equal pure ops, but never an original with its replay, nor draws without a seed.
// RUN: reprise-opt %s --cse | FileCheck %s

// CHECK-LABEL: func @equal(
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.exp
  %0 = reprise.exp %x : tensor<4xf32>
  %1 = reprise.exp %x : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[A]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @replays(
func.func @replays(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.exp
  %0 = reprise.exp %x : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = reprise.exp {{.*}} {replay = 1 : i64}
  %1 = reprise.exp %x {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = reprise.exp {{.*}} {replay = 2 : i64}
  %2 = reprise.exp %x {replay = 2 : i64} : tensor<4xf32>
  %3 = reprise.exp %x {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[B]]
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Before the random phase two draws are two draws, even unused ones.
// CHECK-LABEL: func @unthreaded(
func.func @unthreaded(%x: tensor<1x1x2x2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.random_uniform
  %0 = reprise.random_uniform : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = reprise.random_uniform
  %1 = reprise.random_uniform : tensor<4xf32>
  // CHECK-NEXT: reprise.random_bernoulli
  %2 = reprise.random_bernoulli {probability = 0.5 : f64} : tensor<4xi1>
  // CHECK-NEXT: reprise.attention {{.*}}rate = 5.000000e-01
  %3:2 = reprise.attention %x, %x, %x {scale = 1.0 : f64, rate = 0.5 : f64} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2xf32>)
  // Attention without dropout draws nothing.
  %4:2 = reprise.attention %x, %x, %x {scale = 1.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2xf32>)
  // CHECK-NEXT: return %[[A]], %[[B]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// With a seed a draw is a value like any other; another stream or a replay is another value.
// CHECK-LABEL: func @threaded(
func.func @threaded(%s: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.random_uniform {{.*}}stream = 0
  %0 = reprise.random_uniform seed %s offset %s {stream = 0 : i64} : tensor<4xf32>
  %1 = reprise.random_uniform seed %s offset %s {stream = 0 : i64} : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = reprise.random_uniform {{.*}}stream = 1
  %2 = reprise.random_uniform seed %s offset %s {stream = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = reprise.random_uniform {{.*}}replay = 1
  %3 = reprise.random_uniform seed %s offset %s {stream = 0 : i64, replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]]
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A region is as pure as its body: an unused block without draws goes, one with a draw stays.
// CHECK-LABEL: func @regions(
func.func @regions(%x: tensor<4xf32>) {
  // CHECK-NEXT: reprise.block {
  // CHECK-NEXT: reprise.random_uniform
  // CHECK-NEXT: reprise.yield
  // CHECK-NEXT: }
  reprise.block {
    %0 = reprise.random_uniform : tensor<4xf32>
    reprise.yield
  }
  %1 = reprise.checkpoint {
    %2 = reprise.exp %x : tensor<4xf32>
    reprise.yield %2 : tensor<4xf32>
  } : tensor<4xf32>
  // CHECK-NEXT: reprise.value_and_grad
  %3:2 = reprise.value_and_grad (%y = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %4 = reprise.dropout %y {rate = 0.5 : f64} : tensor<4xf32>
    %5 = reprise.sum %4 dims [0] : (tensor<4xf32>) -> tensor<f32>
    // CHECK: reprise.yield
    reprise.yield %5 : tensor<f32>
  // CHECK-NEXT: }
  }
  %6:2 = reprise.value_and_grad (%y = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %7 = reprise.sum %y dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %7 : tensor<f32>
  }
  // CHECK-NEXT: return
  return
}

// Equal ops of different units stay apart: a plan that replays one of them must not touch the other.
// CHECK-LABEL: func @units(
func.func @units(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.exp {{.*}}array<i64: 0>
  %0 = reprise.exp %x {reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = reprise.exp {{.*}}array<i64: 1>
  %1 = reprise.exp %x {reprise.block = array<i64: 1>} : tensor<4xf32>
  %2 = reprise.exp %x {reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[B]], %[[A]]
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
