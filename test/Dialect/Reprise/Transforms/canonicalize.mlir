// Labels stay with the values that they speak of.
// RUN: reprise-opt %s --reprise-canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// The op that goes hands its label to the one whose value takes its place.
// CHECK-LABEL: func @folded(
func.func @folded(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: reprise.exp {{.*}} {reprise.label = #reprise.label<must_save>, reprise.rule = "op"}
  %a = reprise.exp %x : tensor<2x3xf32>
  %b = reprise.transpose %a [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %c = reprise.transpose %b [1, 0] {reprise.label = #reprise.label<must_save>, reprise.rule = "op"} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// CHECK-LABEL: func @rewritten(
func.func @rewritten(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  // CHECK-NEXT: reprise.reshape {{.*}} {reprise.label = #reprise.label<prefer_recompute>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %a = reprise.reshape %x {reprise.label = #reprise.label<prefer_save>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %b = reprise.reshape %a {reprise.label = #reprise.label<prefer_recompute>} : (tensor<6x4xf32>) -> tensor<24xf32>
  return %b : tensor<24xf32>
}

// A MUST outranks a PREFER; else the label that is there stands. An argument needs none.
// CHECK-LABEL: func @ranks(
func.func @ranks(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: reprise.exp {{.*}} {reprise.label = #reprise.label<must_recompute>}
  %a = reprise.exp %x {reprise.label = #reprise.label<prefer_save>} : tensor<2xf32>
  %b = reprise.reshape %a {reprise.label = #reprise.label<must_recompute>} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: reprise.tanh {{.*}} {reprise.label = #reprise.label<prefer_save>}
  %c = reprise.tanh %x {reprise.label = #reprise.label<prefer_save>} : tensor<2xf32>
  %d = reprise.reshape %c {reprise.label = #reprise.label<prefer_recompute>} : (tensor<2xf32>) -> tensor<2xf32>
  %e = reprise.reshape %x {reprise.label = #reprise.label<must_save>} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return
  return %b, %d, %e : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @clash(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{contradictory labels for one value: 'must_save' and, on an equal op, 'must_recompute'}}
  %a = reprise.exp %x {reprise.label = #reprise.label<must_save>} : tensor<2xf32>
  %b = reprise.reshape %a {reprise.label = #reprise.label<must_recompute>} : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
