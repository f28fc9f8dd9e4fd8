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

// A view moves what is narrow. What widens and comes back is as it was. Other readers, or a label of one op alone, keep
// both ops as they are.
// CHECK-LABEL: func @narrow(
func.func @narrow(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) -> (tensor<3x2xbf16>, tensor<2x3xbf16>, tensor<6xf32>, tensor<6xf16>, tensor<3x2xbf16>) {
  // CHECK-NEXT: %[[A:.*]] = reprise.cast %arg0 : tensor<2x3xf32> to tensor<2x3xbf16>
  // CHECK-NEXT: %[[B:.*]] = reprise.transpose %[[A]] [1, 0] : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  %a = reprise.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = reprise.cast %a : tensor<3x2xf32> to tensor<3x2xbf16>
  %c = reprise.cast %y : tensor<2x3xbf16> to tensor<2x3xf32>
  %d = reprise.cast %c : tensor<2x3xf32> to tensor<2x3xbf16>
  // CHECK-NEXT: %[[E:.*]] = reprise.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[F:.*]] = reprise.cast %[[E]]
  %e = reprise.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %f = reprise.cast %e : tensor<6xf32> to tensor<6xf16>
  // CHECK-NEXT: %[[G:.*]] = reprise.transpose %arg0 [1, 0] {reprise.label = #reprise.label<must_save>}
  // CHECK-NEXT: %[[H:.*]] = reprise.cast %[[G]]
  %g = reprise.transpose %x [1, 0] {reprise.label = #reprise.label<must_save>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %h = reprise.cast %g : tensor<3x2xf32> to tensor<3x2xbf16>
  // CHECK-NEXT: return %[[B]], %arg1, %[[E]], %[[F]], %[[H]]
  return %b, %d, %e, %f, %h : tensor<3x2xbf16>, tensor<2x3xbf16>, tensor<6xf32>, tensor<6xf16>, tensor<3x2xbf16>
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
