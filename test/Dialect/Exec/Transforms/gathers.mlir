// RUN: reprise-opt %s --exec-form-launches --exec-place-buffers --exec-verify-buffers -split-input-file | FileCheck %s

// A pulled part is received in its rows of the joined array, and the own part is copied there.
// CHECK-LABEL: @gather
// CHECK-SAME: exec.arena_bytes = 1280
// CHECK: %[[P:.*]], %[[E:.*]] = exec.receive from @b tag 0 {arguments = array<i64: -1>, offsets = array<i64: [[AT:[0-9]+]]>}
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: %[[O:.*]] = exec.launch (%[[A:.*]] = %arg1)
// CHECK-NEXT: exec.return %[[A]]
// CHECK-NEXT: } {arguments = array<i64: -1>, offsets = array<i64: {{[0-9]+}}>
// CHECK-NEXT: %[[W:.*]] = exec.join %[[P]], %[[O]] {arguments = array<i64: -1>, offsets = array<i64: [[AT]]>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
// CHECK: exec.launch (%{{.*}} = %arg0, %{{.*}} = %[[W]])
reprise.program @gather devices [0] (%x: tensor<4x16xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32> {reprise.name = "y"}) {
  %p = reprise.pull from @b tag 0 : tensor<8x16xf32>
  %j = reprise.concatenate %p, %w dim 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %y = reprise.dot_general %x, %j contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  reprise.return %y : tensor<4x16xf32>
}

// -----

// No place of a buffer: the second part would begin at byte 48.
// CHECK-LABEL: @unaligned
// CHECK-NOT: exec.join
reprise.program @unaligned devices [0] (%x: tensor<4x6xf32>, %w: tensor<3x4xf32>) -> (tensor<4x4xf32> {reprise.name = "y"}) {
  %p = reprise.pull from @b tag 0 : tensor<3x4xf32>
  %j = reprise.concatenate %p, %w dim 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %y = reprise.dot_general %x, %j contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  reprise.return %y : tensor<4x4xf32>
}

// -----

// Columns are not contiguous.
// CHECK-LABEL: @columns
// CHECK-NOT: exec.join
reprise.program @columns devices [0] (%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> (tensor<4x32xf32> {reprise.name = "y"}) {
  %p = reprise.pull from @b tag 0 : tensor<16x16xf32>
  %j = reprise.concatenate %p, %w dim 1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %y = reprise.dot_general %x, %j contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  reprise.return %y : tensor<4x32xf32>
}

// -----

// The reader computes the join from registers.
// CHECK-LABEL: @elementwise
// CHECK-NOT: exec.join
reprise.program @elementwise devices [0] (%x: tensor<16x16xf32>, %w: tensor<8x16xf32>) -> (tensor<16x16xf32> {reprise.name = "y"}) {
  %p = reprise.pull from @b tag 0 : tensor<8x16xf32>
  %j = reprise.concatenate %p, %w dim 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %y = reprise.add %x, %j : tensor<16x16xf32>
  reprise.return %y : tensor<16x16xf32>
}
