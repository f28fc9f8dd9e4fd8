// Folds and canonicalizations of constants and data movement.
// RUN: reprise-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @nothing_moves(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @nothing_moves(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = reprise.broadcast %x dims [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = reprise.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = reprise.transpose %x [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = reprise.slice %x from [0, 0] to [2, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = reprise.pad %x with 0.0 : f32 low [0, 0] high [0, 0] interior [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = reprise.concatenate %x dim 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// A square transpose has the operand's type and still moves.
// CHECK-LABEL: func @square(
func.func @square(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: reprise.transpose
  %0 = reprise.transpose %x [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: func @chains(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @chains(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK-DAG: %[[R:.*]] = reprise.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %0 = reprise.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = reprise.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  // CHECK-DAG: %[[T:.*]] = reprise.transpose %[[X]] [2, 0, 1]
  %2 = reprise.transpose %x [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = reprise.transpose %2 [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  // There and back again.
  %4 = reprise.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %5 = reprise.transpose %2 [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  // CHECK: return %[[R]], %[[T]], %[[X]], %[[X]]
  return %1, %3, %4, %5 : tensor<24xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func @constants(
func.func @constants() -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<2x2xi32>) {
  // CHECK-DAG: %[[A:.*]] = reprise.constant dense<1.000000e+00> : tensor<4x2xf32>
  // CHECK-DAG: %[[B:.*]] = reprise.constant dense<1.000000e+00> : tensor<2x2xf32>
  // CHECK-DAG: %[[C:.*]] = reprise.constant dense<1.000000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[D:.*]] = reprise.constant dense<1.000000e+00> : tensor<1x2xf32>
  // CHECK-DAG: %[[E:.*]] = reprise.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  %one = reprise.constant dense<1.0> : tensor<4xf32>
  %n = reprise.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = reprise.broadcast %one dims [0] : (tensor<4xf32>) -> tensor<4x2xf32>
  %1 = reprise.reshape %one : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = reprise.transpose %0 [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %3 = reprise.slice %0 from [1, 0] to [2, 2] by [1, 1] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %4 = reprise.reshape %n : (tensor<4xi32>) -> tensor<2x2xi32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  return %0, %1, %2, %3, %4 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<2x2xi32>
}

// CHECK-LABEL: func @replays(
func.func @replays(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  // CHECK-NEXT: reprise.broadcast
  %0 = reprise.broadcast %x dims [0, 1] {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: reprise.reshape
  %1 = reprise.reshape %x {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: reprise.transpose
  %2 = reprise.transpose %x [1, 0] {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // An original is not merged with the replay that it reads.
  // CHECK-NEXT: reprise.transpose
  %3 = reprise.transpose %2 [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: reprise.slice
  %4 = reprise.slice %x from [0, 0] to [3, 3] by [1, 1] {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: reprise.pad
  %5 = reprise.pad %x with 0.0 : f32 low [0, 0] high [0, 0] interior [0, 0] {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: reprise.concatenate
  %6 = reprise.concatenate %x dim 0 {replay = 1 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

// A slice of a draw is a draw of the window: nothing else is computed, and every element keeps its word.
// CHECK-LABEL: func @window(
// CHECK-SAME: %[[S:.*]]: tensor<i64>, %[[O:.*]]: tensor<i64>
func.func @window(%seed: tensor<i64>, %offset: tensor<i64>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[AT:.*]] = reprise.constant dense<[1, 3]> : tensor<2xi64>
  // CHECK-NEXT: reprise.random_normal seed %[[S]] offset %[[O]] origin %[[AT]] : tensor<2xi64> {global_shape = array<i64: 5, 8>, stream = 2 : i64} : tensor<2x4xf32>
  %0 = reprise.random_normal seed %seed offset %offset {stream = 2 : i64} : tensor<5x8xf32>
  // CHECK-NOT: reprise.slice
  %1 = reprise.slice %0 from [1, 3] to [3, 7] by [1, 1] : (tensor<5x8xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Not so before the random phase, for strides, for draws that someone else reads, and for dropout, which also reads x.
// CHECK-LABEL: func @no_window(
func.func @no_window(%seed: tensor<i64>, %x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<8xf32>, tensor<2xf32>) {
  // CHECK-COUNT-4: reprise.slice
  %0 = reprise.random_normal : tensor<8xf32>
  %1 = reprise.slice %0 from [0] to [2] by [1] : (tensor<8xf32>) -> tensor<2xf32>
  %2 = reprise.random_normal seed %seed offset %seed {stream = 0 : i64} : tensor<8xf32>
  %3 = reprise.slice %2 from [0] to [4] by [2] : (tensor<8xf32>) -> tensor<2xf32>
  %4 = reprise.random_normal seed %seed offset %seed {stream = 1 : i64} : tensor<8xf32>
  %5 = reprise.slice %4 from [0] to [2] by [1] : (tensor<8xf32>) -> tensor<2xf32>
  %6 = reprise.dropout %x seed %seed offset %seed {stream = 3 : i64, rate = 0.5 : f64} : tensor<8xf32>
  %7 = reprise.slice %6 from [0] to [2] by [1] : (tensor<8xf32>) -> tensor<2xf32>
  return %1, %3, %5, %4, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<8xf32>, tensor<2xf32>
}
