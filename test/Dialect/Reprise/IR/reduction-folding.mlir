// A transpose that feeds a contraction is folded into its dimension numbers, unless the result would be another one.
// RUN: reprise-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @both_sides(
// CHECK-SAME: %[[X:.*]]: tensor<6x4xf32>, %[[Y:.*]]: tensor<5x6xf32>
func.func @both_sides(%x: tensor<6x4xf32>, %y: tensor<5x6xf32>) -> tensor<4x5xf32> {
  %0 = reprise.transpose %x [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = reprise.transpose %y [1, 0] : (tensor<5x6xf32>) -> tensor<6x5xf32>
  // CHECK-NEXT: reprise.dot_general %[[X]], %[[Y]] contracting [0] x [1]
  %2 = reprise.dot_general %0, %1 contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// CHECK-LABEL: func @heads(
// CHECK-SAME: %[[X:.*]]: tensor<2x8x3x4xf32>
func.func @heads(%x: tensor<2x8x3x4xf32>, %y: tensor<2x3x8x4xf32>) -> tensor<2x3x8x8xf32> {
  %0 = reprise.transpose %x [0, 2, 1, 3] : (tensor<2x8x3x4xf32>) -> tensor<2x3x8x4xf32>
  // CHECK-NEXT: reprise.dot_general %[[X]], %{{.*}} batch [0, 2] x [0, 1] contracting [3] x [3]
  %1 = reprise.dot_general %0, %y batch [0, 1] x [0, 1] contracting [3] x [3] : (tensor<2x3x8x4xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x8x8xf32>
  return %1 : tensor<2x3x8x8xf32>
}

// The free dimensions would come in another order.
// CHECK-LABEL: func @swapped_rows(
func.func @swapped_rows(%x: tensor<2x3x6xf32>, %y: tensor<6x5xf32>) -> tensor<3x2x5xf32> {
  // CHECK-NEXT: reprise.transpose
  %0 = reprise.transpose %x [1, 0, 2] : (tensor<2x3x6xf32>) -> tensor<3x2x6xf32>
  %1 = reprise.dot_general %0, %y contracting [2] x [0] : (tensor<3x2x6xf32>, tensor<6x5xf32>) -> tensor<3x2x5xf32>
  return %1 : tensor<3x2x5xf32>
}

// CHECK-LABEL: func @replay(
func.func @replay(%x: tensor<6x4xf32>, %y: tensor<6x5xf32>) -> tensor<4x5xf32> {
  // CHECK-NEXT: reprise.transpose
  %0 = reprise.transpose %x [1, 0] {replay = 1 : i64} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = reprise.dot_general %0, %y contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// Reductions of one element are not folded away: a sum of -0 is +0.
// CHECK-LABEL: func @sum_of_one(
func.func @sum_of_one(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: reprise.sum
  %0 = reprise.sum %x dims [1] : (tensor<4x1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
