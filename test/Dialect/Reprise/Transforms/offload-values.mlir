// Values with an offload label, and those that are numbered, are read through an op whose replay fetches them.
// RUN: reprise-opt %s --reprise-offload-values | FileCheck %s --check-prefixes=CHECK,LABELS
// RUN: reprise-opt %s --reprise-offload-values=values=2,3 | FileCheck %s --check-prefixes=CHECK,NUMBERS

// CHECK-LABEL: reprise.program @step devices [0] (
// LABELS: %[[A:.*]] = reprise.exp %{{.*}} {{{.*}}reprise.label = #reprise.label<must_offload>
// LABELS-NEXT: %[[W:.*]] = reprise.offload %[[A]] {reprise.label = #reprise.label<must_offload>, reprise.order = 0 : i64, reprise.primal, reprise.rule = "op"}
// LABELS-NEXT: reprise.sin %[[W]]
// LABELS-NOT: reprise.offload
// A numbered value keeps its label; a cotangent is none of the forward pass.
// NUMBERS: %[[A:.*]] = reprise.exp
// NUMBERS-NEXT: reprise.offload %[[A]]
// NUMBERS-NEXT: reprise.sin
// NUMBERS-NEXT: %[[C:.*]] = reprise.cos
// NUMBERS-NEXT: %[[W:.*]] = reprise.offload %[[C]] {reprise.label = #reprise.label<prefer_save>, reprise.primal, reprise.rule = "op"}
// NUMBERS-NEXT: reprise.neg %[[W]]
// NUMBERS-NOT: reprise.offload
// CHECK: return
reprise.program @step devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = reprise.exp %x {reprise.primal, reprise.order = 0 : i64, reprise.label = #reprise.label<must_offload>, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.sin %a {reprise.primal} : tensor<4xf32>
  %c = reprise.cos %b {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %d = reprise.neg %c {reprise.cotangent} : tensor<4xf32>
  %e = reprise.mul %d, %a {reprise.cotangent} : tensor<4xf32>
  reprise.return %d, %e : tensor<4xf32>, tensor<4xf32>
}

// The number of a copy of a cast is the cast's own.
// CHECK-LABEL: reprise.program @copy
// CHECK: %[[A:.*]] = reprise.cast %{{.*}}reprise.copy = 0 : i64
// LABELS-NEXT: reprise.offload %[[A]] {reprise.label = #reprise.label<must_offload>, reprise.primal, reprise.rule = "op"}
reprise.program @copy devices [0] (%x: tensor<4xf32>) -> tensor<4xbf16> {
  %a = reprise.cast %x {reprise.primal, reprise.copy = 0 : i64, reprise.label = #reprise.label<must_offload>, reprise.rule = "op"} : tensor<4xf32> to tensor<4xbf16>
  %b = reprise.neg %a {reprise.cotangent} : tensor<4xbf16>
  reprise.return %b : tensor<4xbf16>
}
