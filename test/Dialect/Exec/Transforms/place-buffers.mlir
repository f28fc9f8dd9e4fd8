// RUN: reprise-opt %s --exec-form-launches --exec-place-buffers -split-input-file | FileCheck %s

// The next value overwrites its argument: the launch reads the old one at the same index.
// CHECK-LABEL: @update
// CHECK-SAME: exec.arena_bytes = 0
// CHECK: {arguments = array<i64: 0>, offsets = array<i64: 0>}
func.func @update(%w: tensor<8xf32> {reprise.name = "w"}, %g: tensor<8xf32> {reprise.name = "g"}) -> (tensor<8xf32> {reprise.name = "w"}) {
  %n = reprise.sub %w, %g : tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// A later launch reads the old value, so the next one waits in the arena.
// CHECK-LABEL: @late_reader
// CHECK: {arguments = array<i64: -1>
func.func @late_reader(%w: tensor<8x8xf32> {reprise.name = "w"}, %g: tensor<8x8xf32> {reprise.name = "g"}) -> (tensor<8x8xf32> {reprise.name = "w"}, tensor<8x8xf32> {reprise.name = "y"}) {
  %n = reprise.sub %w, %g {reprise.cotangent} : tensor<8x8xf32>
  %y = reprise.dot_general %n, %w contracting [1] x [0] {reprise.cotangent} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %n, %y : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A reader at other indices forbids overwriting, even in the same launch.
// CHECK-LABEL: @other_index
// CHECK: {arguments = array<i64: -1>
func.func @other_index(%w: tensor<8x8xf32> {reprise.name = "w"}) -> (tensor<8x8xf32> {reprise.name = "w"}) {
  %t = reprise.transpose %w [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = reprise.sub %w, %t : tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

// -----

// The second launch takes the place of its dying input: 8 floats in all, beside the returned ones.
// CHECK-LABEL: @in_place
// CHECK-SAME: exec.arena_bytes = 288
func.func @in_place(%x: tensor<8x8xf32> {reprise.name = "x"}) -> (tensor<8xf32> {reprise.name = "y"}) {
  %0 = reprise.exp %x {reprise.primal} : tensor<8x8xf32>
  %1 = reprise.log %0 {reprise.cotangent} : tensor<8x8xf32>
  %2 = reprise.sum %1 dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
