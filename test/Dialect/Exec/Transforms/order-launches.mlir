// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=310000" --split-input-file | FileCheck %s --check-prefixes=CHECK,LATER
// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=330000" --split-input-file | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: reprise-opt %s --exec-form-launches --exec-order-launches="within=200000" --split-input-file | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: reprise-opt %s --exec-form-launches --exec-order-launches --split-input-file | FileCheck %s --check-prefixes=CHECK,KEPT

// What is large waits until %a has died, if that is asked for and enough.
// CHECK-LABEL: @wait
// LATER: reprise.sum
// LATER: reprise.dot_general {{.*}} -> tensor<256x256xf32>
// KEPT: reprise.dot_general {{.*}} -> tensor<256x256xf32>
// KEPT: reprise.sum
reprise.program @wait devices [0] (%x: tensor<32x32xf32> {reprise.name = "x"}, %w: tensor<32x256xf32> {reprise.name = "w"}) -> (tensor<256x256xf32> {reprise.name = "g"}, tensor<32xf32> {reprise.name = "y"}) {
  %a = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %b = reprise.dot_general %x, %w contracting [0] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %g = reprise.dot_general %b, %b contracting [0] x [0] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
  %y = reprise.sum %a dims [1] : (tensor<32x256xf32>) -> tensor<32xf32>
  reprise.return %g, %y : tensor<256x256xf32>, tensor<32xf32>
}

// -----

// The next value of %w, which lies in its place, waits for the reader of the old one that waits.
// CHECK-LABEL: @update
// LATER: reprise.sum
// LATER: reprise.dot_general {{.*}} -> tensor<256x256xf32>
// LATER: reprise.sub
// KEPT: reprise.dot_general {{.*}} -> tensor<256x256xf32>
// KEPT: reprise.sub
// KEPT: reprise.sum
reprise.program @update devices [0] (%x: tensor<32x32xf32> {reprise.name = "x"}, %w: tensor<32x256xf32> {reprise.name = "w"}) -> (tensor<256x256xf32> {reprise.name = "g"}, tensor<32xf32> {reprise.name = "y"}, tensor<32x256xf32> {reprise.name = "w"}) {
  %a = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %b = reprise.dot_general %x, %w contracting [0] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %g = reprise.dot_general %b, %w contracting [0] x [0] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
  %n = reprise.sub %w, %w : tensor<32x256xf32>
  %y = reprise.sum %a dims [1] : (tensor<32x256xf32>) -> tensor<32xf32>
  reprise.return %g, %y, %n : tensor<256x256xf32>, tensor<32xf32>, tensor<32x256xf32>
}
