// Constants and data movement read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @constants(
func.func @constants() {
  // CHECK-NEXT: reprise.constant dense<[1.500000e+00, -0.000000e+00]> : tensor<2xf32>
  %0 = reprise.constant dense<[1.5, -0.0]> : tensor<2xf32>
  // CHECK-NEXT: reprise.constant dense<7> : tensor<i64>
  %1 = reprise.constant dense<7> : tensor<i64>
  // CHECK-NEXT: reprise.constant dense<true> : tensor<3x3xi1>
  %2 = reprise.constant dense<true> : tensor<3x3xi1>
  // CHECK-NEXT: reprise.constant dense_resource<weights> : tensor<2xi32>
  %3 = reprise.constant dense_resource<weights> : tensor<2xi32>
  // CHECK-NEXT: reprise.constant dense_resource<mask> : tensor<3xi1>
  %4 = reprise.constant dense_resource<mask> : tensor<3xi1>
  // CHECK-NEXT: reprise.iota dim 1 : tensor<2x3xi32>
  %5 = reprise.iota dim 1 : tensor<2x3xi32>
  return
}

// CHECK-LABEL: func @views(
func.func @views(%x: tensor<2x6xf32>) {
  // CHECK-NEXT: reprise.broadcast %{{.*}} dims [0, 2] : (tensor<2x6xf32>) -> tensor<2x4x6xf32>
  %0 = reprise.broadcast %x dims [0, 2] : (tensor<2x6xf32>) -> tensor<2x4x6xf32>
  // CHECK-NEXT: reprise.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = reprise.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: reprise.transpose %{{.*}} [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %2 = reprise.transpose %x [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
  // CHECK-NEXT: reprise.slice %{{.*}} from [0, 1] to [2, 6] by [1, 2] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %3 = reprise.slice %x from [0, 1] to [2, 6] by [1, 2] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  // An empty window.
  // CHECK-NEXT: reprise.slice %{{.*}} from [2, 0] to [2, 6] by [1, 1] : (tensor<2x6xf32>) -> tensor<0x6xf32>
  %4 = reprise.slice %x from [2, 0] to [2, 6] by [1, 1] : (tensor<2x6xf32>) -> tensor<0x6xf32>
  return
}

// CHECK-LABEL: func @scalars(
func.func @scalars(%x: tensor<f32>) {
  // CHECK-NEXT: reprise.broadcast %{{.*}} dims [] : (tensor<f32>) -> tensor<3xf32>
  %0 = reprise.broadcast %x dims [] : (tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: reprise.transpose %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %1 = reprise.transpose %x [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func @placement(
func.func @placement(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %n: tensor<3xi32>) {
  // CHECK-NEXT: reprise.pad %{{.*}} with 1.500000e+00 : f32 low [1, 0] high [0, 2] interior [0, 1] : (tensor<2x3xf32>) -> tensor<3x7xf32>
  %0 = reprise.pad %x with 1.5 : f32 low [1, 0] high [0, 2] interior [0, 1] : (tensor<2x3xf32>) -> tensor<3x7xf32>
  // CHECK-NEXT: reprise.pad %{{.*}} with -1 : i32 low [1] high [0] interior [0] : (tensor<3xi32>) -> tensor<4xi32>
  %1 = reprise.pad %n with -1 : i32 low [1] high [0] interior [0] : (tensor<3xi32>) -> tensor<4xi32>
  // CHECK-NEXT: reprise.concatenate %{{.*}}, %{{.*}} dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = reprise.concatenate %x, %y dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000100000002000000",
      mask: "0x01000000010001"
    }
  }
#-}
