// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=280000" | FileCheck %s --check-prefixes=CHECK,LATER
// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=300000" | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=262000" | FileCheck %s --check-prefixes=CHECK,KEPT

// %p can run first and fits, but then nothing else does: what reads it waits for %q, which is large.
// CHECK-LABEL: @dead_end
// LATER-SAME: exec.launches_moved
// LATER: -> tensor<256x256xf32>
// LATER: reprise.sum
// LATER: -> tensor<32x256xf32>
// KEPT-NOT: exec.launches_moved
// KEPT: -> tensor<32x256xf32>
// KEPT: -> tensor<256x256xf32>
reprise.program @dead_end devices [0] (%x: tensor<32x32xf32> {reprise.name = "x"}, %w: tensor<32x256xf32> {reprise.name = "w"}) -> (tensor<32xf32> {reprise.name = "y"}) {
  %p = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %q = reprise.dot_general %w, %w contracting [0] x [0] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
  %s = reprise.sum %q dims [1] : (tensor<256x256xf32>) -> tensor<256xf32>
  %y = reprise.dot_general %p, %s contracting [1] x [0] : (tensor<32x256xf32>, tensor<256xf32>) -> tensor<32xf32>
  reprise.return %y : tensor<32xf32>
}
