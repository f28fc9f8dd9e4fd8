// RUN: reprise-opt %s --reprise-make-programs -split-input-file | FileCheck %s

// CHECK-LABEL: func private @outside(
// CHECK-NOT: reprise.device
func.func private @outside(tensor<4xf32>)
// CHECK-LABEL: func @entry
// CHECK-SAME: attributes {reprise.device = 0 : i64}
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A module that is shared out stays as it is.

// CHECK-LABEL: func @third
// CHECK-SAME: attributes {reprise.device = 3 : i64}
func.func @third(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.device = 3 : i64} {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func @plain
// CHECK-NOT: reprise.device
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
