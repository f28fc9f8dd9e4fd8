// RUN: reprise-opt %s --reprise-import --reprise-thread-random -split-input-file -verify-diagnostics | FileCheck %s

// The next offset grows by the largest draw, rounded up to 4: 5 elements take 8 words.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {reprise.name = "seed", reprise.role = "seed"}
// CHECK-SAME: %[[OFFSET:[a-z0-9]+]]: tensor<i64> {reprise.name = "offset", reprise.role = "offset"}
// CHECK-SAME: tensor<i64> {reprise.name = "offset"}
// CHECK: reprise.dropout %arg0 seed %[[SEED]] offset %[[OFFSET]] {global_shape = array<i64: 5>
// CHECK: reprise.random_normal seed %[[SEED]] offset %[[OFFSET]] {global_shape = array<i64: 3>
// CHECK: %[[WORDS:.*]] = reprise.constant dense<8> : tensor<i64>
// CHECK: reprise.add %[[OFFSET]], %[[WORDS]] : tensor<i64>
func.func @train(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<3xf32>) {
  %0 = reprise.dropout %x {rate = 0.5 : f64} : tensor<5xf32>
  %1 = reprise.random_normal : tensor<3xf32>
  return %0, %1 : tensor<5xf32>, tensor<3xf32>
}

// -----

// Attention without dropout draws nothing and stays as it is.
// CHECK-LABEL: func.func @train
// CHECK: reprise.attention %arg0, %arg0, %arg0 {scale
// CHECK: reprise.constant dense<0> : tensor<i64>
func.func @train(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> {
  %0, %1 = reprise.attention %x, %x, %x {scale = 0.5 : f64} : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>) -> (tensor<1x1x2x4xf32>, tensor<1x1x2xf32>)
  return %0 : tensor<1x1x2x4xf32>
}

// -----

// Its dropout takes a word per score: 3 × 3 of them, rounded up to 12.
// CHECK-LABEL: func.func @train
// CHECK: reprise.attention %arg0, %arg0, %arg0 seed %arg1 offset %arg2
// CHECK: reprise.constant dense<12> : tensor<i64>
func.func @train(%x: tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32> {
  %0, %1 = reprise.attention %x, %x, %x {scale = 0.5 : f64, rate = 0.5 : f64} : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> (tensor<1x1x3x4xf32>, tensor<1x1x3xf32>)
  return %0 : tensor<1x1x3x4xf32>
}

// -----

// expected-error@below {{the argument name 'seed' is reserved}}
func.func @train(%x: tensor<5xf32> {reprise.name = "seed"}) { return }
