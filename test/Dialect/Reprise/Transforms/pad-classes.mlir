// The classes of a cross entropy become a multiple of eight, with zeros as weights and minus infinity as bias. The results
// keep every bit, gradients and labels beyond the classes included.
// RUN: reprise-opt %s --reprise-pad-classes | FileCheck %s
// RUN: reprise-opt %s --reprise-to="import entry=train target=cuda:sm_90" | FileCheck %s --check-prefix=PADDED
// RUN: reprise-opt %s --reprise-to="import entry=train target=cuda:sm_90:exact" | FileCheck %s --check-prefix=PLAIN
// RUN: reprise-opt %s --reprise-to="import entry=train target=cpu" | FileCheck %s --check-prefix=PLAIN
// RUN: reprise-opt %s --reprise-pad-classes -o %t.mlir
// RUN: reprise-compile %s --interpret --seed=5 --output-dir=%t.plain
// RUN: reprise-compile %t.mlir --interpret --seed=5 --output-dir=%t.padded
// RUN: diff -r %t.plain %t.padded

!x = tensor<2x9x16xbf16>
!logits = tensor<2x9x115xbf16>
!labels = tensor<2x9xi32>

// PADDED: reprise.dot_general {{.*}} -> tensor<2x9x120xbf16>
// PLAIN: reprise.dot_general {{.*}} -> tensor<2x9x115xbf16>

// CHECK-LABEL: func private @loss(
// CHECK: %[[W:.*]] = reprise.pad %arg1 with 0.000000e+00 : bf16 low [0, 0] high [5, 0]
// CHECK: %[[B:.*]] = reprise.pad %arg2 with 0xFF80 : bf16 low [0] high [5]
// CHECK: %[[DOT:.*]] = reprise.dot_general %arg0, %[[W]] contracting [2] x [1] {reprise.label = #reprise.label<must_save>} : {{.*}} -> tensor<2x9x120xbf16>
// CHECK: %[[R:.*]] = reprise.broadcast %[[B]] dims [2]
// CHECK: %[[SUM:.*]] = reprise.add %[[DOT]], %[[R]]
// CHECK: %[[CAST:.*]] = reprise.cast %[[SUM]] : tensor<2x9x120xbf16> to tensor<2x9x120xf32>
// CHECK: %[[LAST:.*]] = reprise.constant dense<114>
// CHECK: %[[LABELS:.*]] = reprise.minimum %arg3, %[[LAST]]
// CHECK: reprise.cross_entropy %[[CAST]], %[[LABELS]]
func.func private @loss(%x: !x, %w: tensor<115x16xbf16>, %b: tensor<115xbf16>, %labels: !labels) -> tensor<f32> {
  %0 = reprise.dot_general %x, %w contracting [2] x [1] {reprise.label = #reprise.label<must_save>} : (!x, tensor<115x16xbf16>) -> !logits
  %1 = reprise.broadcast %b dims [2] : (tensor<115xbf16>) -> !logits
  %2 = reprise.add %1, %0 : !logits
  %3 = reprise.cast %2 : !logits to tensor<2x9x115xf32>
  %4 = reprise.cross_entropy %3, %labels : (tensor<2x9x115xf32>, !labels) -> tensor<2x9xf32>
  %5 = reprise.sum %4 dims [0, 1] : (tensor<2x9xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}

func.func @train(%x: !x {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
    %labels: !labels {reprise.init = #reprise.uniform_int<-20, 140>, reprise.name = "labels", reprise.role = "input"},
    %w: tensor<115x16xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "w", reprise.role = "parameter"},
    %b: tensor<115xbf16> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "b", reprise.role = "parameter"})
    -> (tensor<f32> {reprise.name = "loss"}, !x {reprise.name = "dx"}, tensor<115x16xbf16> {reprise.name = "dw"}, tensor<115xbf16> {reprise.name = "db"}) {
  %0:4 = reprise.value_and_grad @loss(%x, %w, %b, %labels) wrt [0, 1, 2] : (!x, tensor<115x16xbf16>, tensor<115xbf16>, !labels) -> (tensor<f32>, !x, tensor<115x16xbf16>, tensor<115xbf16>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<f32>, !x, tensor<115x16xbf16>, tensor<115xbf16>
}

// Neither cast nor bias: zeros are the bias.
// CHECK-LABEL: func @bare(
// CHECK: reprise.pad %arg1 with 0.000000e+00 : f16 low [0, 0] high [0, 7]
// CHECK: %[[ZEROS:.*]] = reprise.constant dense<0.000000e+00> : tensor<113xf16>
// CHECK: reprise.pad %[[ZEROS]] with 0xFC00 : f16 low [0] high [7]
// CHECK: reprise.cross_entropy {{.*}} : (tensor<4x120xf16>, tensor<4xi64>) -> tensor<4xf16>
func.func @bare(%x: tensor<4x16xf16>, %w: tensor<16x113xf16>, %labels: tensor<4xi64>) -> tensor<4xf16> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x16xf16>, tensor<16x113xf16>) -> tensor<4x113xf16>
  %1 = reprise.cross_entropy %0, %labels : (tensor<4x113xf16>, tensor<4xi64>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// What is left as it is: a multiple of eight, much padding for few classes, f32, logits that something else reads, and an
// addition that is no bias.
// CHECK-LABEL: func @left(
// CHECK-NOT: reprise.pad
// CHECK: return
func.func @left(%x: tensor<4x16xf16>, %y: tensor<4x16xf32>, %a: tensor<16x120xf16>, %b: tensor<16x60xf16>, %c: tensor<16x113xf32>,
    %d: tensor<16x113xf16>, %e: tensor<4x113xf16>, %labels: tensor<4xi64>)
    -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4x113xf16>, tensor<4xf16>, tensor<4xf16>) {
  %0 = reprise.dot_general %x, %a contracting [1] x [0] : (tensor<4x16xf16>, tensor<16x120xf16>) -> tensor<4x120xf16>
  %1 = reprise.cross_entropy %0, %labels : (tensor<4x120xf16>, tensor<4xi64>) -> tensor<4xf16>
  %2 = reprise.dot_general %x, %b contracting [1] x [0] : (tensor<4x16xf16>, tensor<16x60xf16>) -> tensor<4x60xf16>
  %3 = reprise.cross_entropy %2, %labels : (tensor<4x60xf16>, tensor<4xi64>) -> tensor<4xf16>
  %4 = reprise.dot_general %y, %c contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x113xf32>) -> tensor<4x113xf32>
  %5 = reprise.cross_entropy %4, %labels : (tensor<4x113xf32>, tensor<4xi64>) -> tensor<4xf32>
  %6 = reprise.dot_general %x, %d contracting [1] x [0] : (tensor<4x16xf16>, tensor<16x113xf16>) -> tensor<4x113xf16>
  %7 = reprise.cross_entropy %6, %labels : (tensor<4x113xf16>, tensor<4xi64>) -> tensor<4xf16>
  %8 = reprise.dot_general %x, %d contracting [1] x [0] : (tensor<4x16xf16>, tensor<16x113xf16>) -> tensor<4x113xf16>
  %9 = reprise.add %8, %e : tensor<4x113xf16>
  %10 = reprise.cross_entropy %9, %labels : (tensor<4x113xf16>, tensor<4xi64>) -> tensor<4xf16>
  return %1, %3, %5, %6, %7, %10 : tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4x113xf16>, tensor<4xf16>, tensor<4xf16>
}
