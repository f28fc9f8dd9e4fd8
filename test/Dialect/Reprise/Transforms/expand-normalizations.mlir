// A primal normalization that returns its statistics becomes the chain that defines it, in f32, rounded once.
// RUN: reprise-opt %s --reprise-expand-normalizations -split-input-file | FileCheck %s

// CHECK-LABEL: func @layer_norm(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x4xbf16>, %[[W:[a-z0-9]*]]: tensor<4xbf16>
func.func @layer_norm(%x: tensor<2x4xbf16>, %w: tensor<4xbf16>) -> (tensor<2x4xbf16>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[WIDE:.*]] = reprise.cast %[[X]] {reprise.block = array<i64: 3>, reprise.label = #reprise.label<prefer_save>, reprise.primal, reprise.rule = "policy p"}
  // CHECK: %[[MEAN:.*]] = reprise.mean %[[WIDE]] dims [1] {reprise.block = array<i64: 3>, reprise.label = #reprise.label<prefer_save>, reprise.names = [""], reprise.primal,
  // CHECK-SAME: reprise.result_labels = [unit], reprise.result_rules = [""], reprise.rule = "policy p"}
  // CHECK: %[[CENTRED:.*]] = reprise.sub %[[WIDE]],
  // CHECK: %[[RSTD:.*]] = reprise.rsqrt
  // CHECK-SAME: reprise.names = ["r"]
  // CHECK: %[[NORMAL:.*]] = reprise.mul %[[CENTRED]],
  // CHECK: %[[SCALED:.*]] = reprise.mul %[[NORMAL]],
  // CHECK: %[[SUM:.*]] = reprise.add %[[SCALED]],
  // CHECK: %[[Y:.*]] = reprise.cast %[[SUM]]
  // CHECK-SAME: reprise.result_labels = [#reprise.label<must_save>], reprise.result_rules = ["name y"]
  // CHECK: return %[[Y]], %[[MEAN]], %[[RSTD]]
  %y, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64, reprise.primal, reprise.block = array<i64: 3>,
    reprise.label = #reprise.label<prefer_save>, reprise.rule = "policy p", reprise.names = ["y", "", "r"],
    reprise.result_labels = [#reprise.label<must_save>, unit, unit], reprise.result_rules = ["name y", "", ""]}
    : (tensor<2x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> (tensor<2x4xbf16>, tensor<2xf32>, tensor<2xf32>)
  return %y, %mean, %rstd : tensor<2x4xbf16>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Others stay: those outside the primal, and those without statistics.
// CHECK-LABEL: func @others(
func.func @others(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: reprise.rms_norm
  %y, %rstd = reprise.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  // CHECK-NEXT: reprise.softmax
  %z = reprise.softmax %y {reprise.primal} : tensor<2x4xf32>
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}
