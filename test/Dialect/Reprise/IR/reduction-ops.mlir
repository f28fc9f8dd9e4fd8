// Reductions and contractions read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @reductions(
func.func @reductions(%x: tensor<4x5x6xf32>, %n: tensor<4xi64>) {
  // CHECK-NEXT: reprise.sum %{{.*}} dims [0, 2] : (tensor<4x5x6xf32>) -> tensor<5xf32>
  %0 = reprise.sum %x dims [0, 2] : (tensor<4x5x6xf32>) -> tensor<5xf32>
  // CHECK-NEXT: reprise.mean %{{.*}} dims [0, 1, 2] : (tensor<4x5x6xf32>) -> tensor<f32>
  %1 = reprise.mean %x dims [0, 1, 2] : (tensor<4x5x6xf32>) -> tensor<f32>
  // CHECK-NEXT: reprise.max %{{.*}} dims [1] : (tensor<4x5x6xf32>) -> tensor<4x6xf32>
  %2 = reprise.max %x dims [1] : (tensor<4x5x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: reprise.min %{{.*}} dims [0] : (tensor<4xi64>) -> tensor<i64>
  %3 = reprise.min %n dims [0] : (tensor<4xi64>) -> tensor<i64>
  // CHECK-NEXT: reprise.argmax %{{.*}} dim 2 : (tensor<4x5x6xf32>) -> tensor<4x5xi32>
  %4 = reprise.argmax %x dim 2 : (tensor<4x5x6xf32>) -> tensor<4x5xi32>
  // CHECK-NEXT: reprise.prod %{{.*}} dims [1, 2] : (tensor<4x5x6xf32>) -> tensor<4xf32>
  %5 = reprise.prod %x dims [1, 2] : (tensor<4x5x6xf32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.logsumexp %{{.*}} dims [0, 2] : (tensor<4x5x6xf32>) -> tensor<5xf32>
  %6 = reprise.logsumexp %x dims [0, 2] : (tensor<4x5x6xf32>) -> tensor<5xf32>
  // CHECK-NEXT: reprise.cumsum %{{.*}} dim 1 : tensor<4x5x6xf32>
  %7 = reprise.cumsum %x dim 1 : tensor<4x5x6xf32>
  // CHECK-NEXT: reprise.cumsum %{{.*}} dim 0 reverse : tensor<4xi64>
  %8 = reprise.cumsum %n dim 0 reverse : tensor<4xi64>
  // CHECK-NEXT: %{{.*}}, %{{.*}} = reprise.top_k %{{.*}} : (tensor<4x5x6xf32>) -> (tensor<4x5x2xf32>, tensor<4x5x2xi32>)
  %9, %10 = reprise.top_k %x : (tensor<4x5x6xf32>) -> (tensor<4x5x2xf32>, tensor<4x5x2xi32>)
  return
}

// CHECK-LABEL: func @contractions(
func.func @contractions(%x: tensor<8x4x6xbf16>, %y: tensor<6x8x5xbf16>, %v: tensor<3xbf16>, %s: tensor<8x4x5xf32>) {
  // CHECK-NEXT: reprise.dot_general %{{.*}}, %{{.*}} batch [0] x [1] contracting [2] x [0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<8x4x5xbf16>
  %0 = reprise.dot_general %x, %y batch [0] x [1] contracting [2] x [0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<8x4x5xbf16>
  // CHECK-NEXT: reprise.dot_general %{{.*}}, %{{.*}} contracting [2, 0] x [0, 1] {accumulation = f32} : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<4x5xf32>
  %1 = reprise.dot_general %x, %y contracting [2, 0] x [0, 1] {accumulation = f32} : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<4x5xf32>
  // CHECK-NEXT: reprise.dot_general %{{.*}}, %{{.*}} contracting [] x [] : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3x3xbf16>
  %2 = reprise.dot_general %v, %v contracting [] x [] : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3x3xbf16>
  // CHECK-NEXT: reprise.dot_accumulate %{{.*}}, %{{.*}} onto %{{.*}} batch [0] x [1] contracting [2] x [0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>, tensor<8x4x5xf32>) -> tensor<8x4x5xf32>
  %4 = reprise.dot_accumulate %x, %y onto %s batch [0] x [1] contracting [2] x [0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>, tensor<8x4x5xf32>) -> tensor<8x4x5xf32>
  // CHECK-NEXT: reprise.dot_lanes %{{.*}}, %{{.*}} lanes 2 along 1 contracting [0, 2] x [1, 0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<4x5xbf16>
  %5 = reprise.dot_lanes %x, %y lanes 2 along 1 contracting [0, 2] x [1, 0] : (tensor<8x4x6xbf16>, tensor<6x8x5xbf16>) -> tensor<4x5xbf16>
  // CHECK-NEXT: reprise.dot_bias %{{.*}}, %{{.*}} bias %{{.*}} contracting [] x [] : (tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> tensor<3x3xbf16>
  %3 = reprise.dot_bias %v, %v bias %v contracting [] x [] : (tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> tensor<3x3xbf16>
  return
}
