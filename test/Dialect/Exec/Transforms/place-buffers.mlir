// RUN: reprise-opt %s --exec-form-launches --exec-place-buffers -split-input-file | FileCheck %s

// The next value overwrites its argument: the launch reads the old one at the same index.
// CHECK-LABEL: @update
// CHECK-SAME: exec.arena_bytes = 0
// CHECK: {arguments = array<i64: 0>, offsets = array<i64: 0>}
// CHECK-NEXT: return
reprise.program @update devices [0] (%w: tensor<8xf32> {reprise.name = "w"}, %g: tensor<8xf32> {reprise.name = "g"}) -> (tensor<8xf32> {reprise.name = "w"}) {
  %n = reprise.sub %w, %g : tensor<8xf32>
  reprise.return %n : tensor<8xf32>
}

// -----

// A later launch reads the old value, so the next one waits in the arena, and is copied at the end.
// CHECK-LABEL: @late_reader
// CHECK: %[[N:.*]] = exec.launch
// CHECK: {arguments = array<i64: -1>
// CHECK: exec.launch
// CHECK: exec.copy %[[N]] into 0 : tensor<8x8xf32>
// CHECK-NEXT: return
reprise.program @late_reader devices [0] (%w: tensor<8x8xf32> {reprise.name = "w"}, %g: tensor<8x8xf32> {reprise.name = "g"}) -> (tensor<8x8xf32> {reprise.name = "w"}, tensor<8x8xf32> {reprise.name = "y"}) {
  %n = reprise.sub %w, %g {reprise.cotangent} : tensor<8x8xf32>
  %y = reprise.dot_general %n, %w contracting [1] x [0] {reprise.cotangent} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  reprise.return %n, %y : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A reader at other indices forbids overwriting, even in the same launch.
// CHECK-LABEL: @other_index
// CHECK: {arguments = array<i64: -1>
reprise.program @other_index devices [0] (%w: tensor<8x8xf32> {reprise.name = "w"}) -> (tensor<8x8xf32> {reprise.name = "w"}) {
  %t = reprise.transpose %w [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = reprise.sub %w, %t : tensor<8x8xf32>
  reprise.return %n : tensor<8x8xf32>
}

// -----

// The second launch takes the place of its dying input: 8 floats in all, beside the returned ones.
// CHECK-LABEL: @in_place
// CHECK-SAME: exec.arena_bytes = 288
reprise.program @in_place devices [0] (%x: tensor<8x8xf32> {reprise.name = "x"}) -> (tensor<8xf32> {reprise.name = "y"}) {
  %0 = reprise.exp %x {reprise.primal} : tensor<8x8xf32>
  %1 = reprise.log %0 {reprise.cotangent} : tensor<8x8xf32>
  %2 = reprise.sum %1 dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  reprise.return %2 : tensor<8xf32>
}

// -----

// What the commands of a launch share, here an image with zeros around it, lies in the arena as long as the launch: both
// images have the same place.
// CHECK-LABEL: @scratch
// CHECK-SAME: exec.arena_bytes = 14592
// CHECK: offsets = array<i64: 6400>, scratch = array<i64: 0, 6400>
// CHECK: offsets = array<i64: 10496>, scratch = array<i64: 0, 6400>
reprise.program @scratch devices [0] (%x: tensor<1x16x8x8xf32> {reprise.name = "x"}, %f: tensor<16x16x3x3xf32> {reprise.name = "f"}) -> (tensor<1x16x8x8xf32> {reprise.name = "y"}) {
  %0 = reprise.convolution %x, %f strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = reprise.convolution %0, %f strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  reprise.return %1 : tensor<1x16x8x8xf32>
}

// -----

// The rows that a loop stacks take the places of slices that die in it.
// CHECK-LABEL: @rows
// CHECK-SAME: exec.arena_bytes = 1280
// CHECK: exec.offsets = array<i64: 1024, 0>
reprise.program @rows devices [0] (%x: tensor<4x64xf32> {reprise.name = "x"}, %c: tensor<64xf32> {reprise.name = "c"}) -> (tensor<64xf32> {reprise.name = "s"}) {
  %0 = reprise.exp %x : tensor<4x64xf32>
  %l:2 = reprise.loop 4 (%a = %c) over (%s = %0) : (tensor<64xf32>, tensor<4x64xf32>) -> (tensor<64xf32>, tensor<4x64xf32>) {
    %1 = reprise.mul %s, %a : tensor<64xf32>
    %2 = reprise.add %1, %a : tensor<64xf32>
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  }
  %3 = reprise.sum %l#1 dims [0] : (tensor<4x64xf32>) -> tensor<64xf32>
  reprise.return %3 : tensor<64xf32>
}

// -----

// Not where the rows are read after the loop.
// CHECK-LABEL: @rows_read_later
// CHECK: exec.offsets = array<i64: 1024, 1280>
reprise.program @rows_read_later devices [0] (%x: tensor<4x64xf32> {reprise.name = "x"}, %c: tensor<64xf32> {reprise.name = "c"}) -> (tensor<64xf32> {reprise.name = "s"}) {
  %0 = reprise.exp %x : tensor<4x64xf32>
  %l:2 = reprise.loop 4 (%a = %c) over (%s = %0) : (tensor<64xf32>, tensor<4x64xf32>) -> (tensor<64xf32>, tensor<4x64xf32>) {
    %1 = reprise.mul %s, %a : tensor<64xf32>
    %2 = reprise.add %1, %a : tensor<64xf32>
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  }
  %3 = reprise.mul %l#1, %0 : tensor<4x64xf32>
  %4 = reprise.sum %3 dims [0] : (tensor<4x64xf32>) -> tensor<64xf32>
  reprise.return %4 : tensor<64xf32>
}
