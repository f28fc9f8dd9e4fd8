// RUN: reprise-opt %s --reprise-make-programs -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @outside(
func.func private @outside(tensor<4xf32>)
// CHECK-LABEL: reprise.program @entry devices [0] (
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}, %[[Y:[^:]*]]: tensor<f32>) -> (tensor<f32>, tensor<4xf32> {reprise.name = "z"}) attributes {reprise.one_scope} {
// CHECK-NEXT: %[[Z:.*]] = reprise.exp %[[X]]
// CHECK-NEXT: reprise.return %[[Y]], %[[Z]] : tensor<f32>, tensor<4xf32>
func.func @entry(%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}, %y: tensor<f32>) -> (tensor<f32>, tensor<4xf32> {reprise.name = "z"}) attributes {reprise.one_scope} {
  %z = reprise.exp %x : tensor<4xf32>
  return %y, %z : tensor<f32>, tensor<4xf32>
}
// CHECK-LABEL: reprise.program @other devices [0] () {
// CHECK-NEXT: reprise.return
func.func @other() {
  return
}

// -----

// A module that is shared out stays as it is.

// CHECK-LABEL: reprise.program @third devices [3] (
reprise.program @third devices [3] (%x: tensor<4xf32>) -> tensor<4xf32> {
  reprise.return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: return
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected a function of one block}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}
