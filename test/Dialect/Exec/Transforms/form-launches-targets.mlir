// What one launch can hold, on a CPU, on a GPU, and where a library computes contractions.
// RUN: reprise-opt %s -split-input-file --exec-form-launches=target=cpu:x86-64-v3 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: reprise-opt %s -split-input-file --exec-form-launches=target=cuda:sm_90 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: reprise-opt %s -split-input-file --exec-form-launches=target=cuda:sm_90:library | FileCheck %s --check-prefixes=CHECK,LIBRARY

// A library's call holds no other op.
// CHECK-LABEL: @contractions
// CHECK: reprise.dot_general
// CHECK-NEXT: reprise.relu
// CHECK: reprise.dot_general
// OWN-NEXT: reprise.relu
// LIBRARY: exec.launch
// LIBRARY-NEXT: reprise.relu
reprise.program @contractions devices [0] (%x: tensor<64x64xf32>, %h: tensor<64x64xbf16>) -> (tensor<64x64xf32>, tensor<64x64xbf16>) {
  %0 = reprise.dot_general %x, %x contracting [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = reprise.relu %0 : tensor<64x64xf32>
  %2 = reprise.dot_general %h, %h contracting [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %3 = reprise.relu %2 : tensor<64x64xbf16>
  reprise.return %1, %3 : tensor<64x64xf32>, tensor<64x64xbf16>
}

// -----

// Rows and their sums are one space, and two shapes are not.
// CHECK-LABEL: @spaces
// CHECK: exec.launch
// CHECK-NEXT: reprise.relu
// CHECK-NEXT: reprise.sum
// CHECK: exec.launch
// CHECK-NEXT: reprise.relu
reprise.program @spaces devices [0] (%x: tensor<64x64xf32>, %r: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = reprise.relu %x : tensor<64x64xf32>
  %1 = reprise.sum %0 dims [1] : (tensor<64x64xf32>) -> tensor<64xf32>
  %2 = reprise.relu %r : tensor<64xf32>
  reprise.return %1, %2 : tensor<64xf32>, tensor<64xf32>
}

// -----

// An op that reads beside its element does not join a contraction, and nothing joins before one.
// CHECK-LABEL: @beside
// CHECK: exec.launch
// CHECK-NEXT: reprise.exp
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK-NEXT: reprise.dot_general
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK: reprise.exp
// CHECK: exec.launch
// CHECK-NEXT: reprise.dot_general
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK-NEXT: reprise.softmax
reprise.program @beside devices [0] (%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = reprise.exp %x : tensor<8x8xf32>
  %1 = reprise.dot_general %0, %w contracting [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = reprise.transpose %1 [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = reprise.exp %2 : tensor<8x8xf32>
  %4 = reprise.dot_general %x, %w contracting [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = reprise.softmax %4 : tensor<8x8xf32>
  reprise.return %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}
