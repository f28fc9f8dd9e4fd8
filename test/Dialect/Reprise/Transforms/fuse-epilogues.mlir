// A 16-bit contraction and the addition of its bias become one op, whatever labels and stages say.
// RUN: reprise-opt %s --reprise-fuse-epilogues | FileCheck %s

!x = tensor<2x4x6xbf16>
!w = tensor<6x5xbf16>
!y = tensor<2x4x5xbf16>

// The higher label holds, and the stage of the contraction; the bias may be on either side.
// CHECK-LABEL: reprise.program @fused devices [0] (
// CHECK-NEXT: %[[A:.*]] = reprise.dot_bias %arg0, %arg1 bias %arg2 contracting [2] x [0] {reprise.label = #reprise.label<must_save>, reprise.primal, reprise.rule = "dots", reprise.stage = 0 : i64} : (tensor<2x4x6xbf16>, tensor<6x5xbf16>, tensor<5xbf16>) -> tensor<2x4x5xbf16>
// CHECK: %[[B:.*]] = reprise.dot_bias %arg0, %arg1 bias %arg2 contracting [2] x [0] {reprise.names = ["z"], reprise.result_labels = [#reprise.label<must_recompute>], reprise.result_rules = ["sums"]}
// CHECK: return %[[A]], %[[B]]
reprise.program @fused devices [0] (%x: !x, %w: !w, %b: tensor<5xbf16>) -> (!y, !y) {
  %0 = reprise.dot_general %x, %w contracting [2] x [0] {reprise.label = #reprise.label<must_save>, reprise.rule = "dots", reprise.stage = 0 : i64, reprise.primal} : (!x, !w) -> !y
  %1 = reprise.broadcast %b dims [2] : (tensor<5xbf16>) -> !y
  %2 = reprise.add %0, %1 {reprise.label = #reprise.label<must_recompute>, reprise.rule = "sums", reprise.stage = 1 : i64, reprise.primal} : !y
  %3 = reprise.dot_general %x, %w contracting [2] x [0] {reprise.label = #reprise.label<prefer_save>, reprise.rule = "dots"} : (!x, !w) -> !y
  %4 = reprise.add %1, %3 {reprise.result_labels = [#reprise.label<must_recompute>], reprise.result_rules = ["sums"], reprise.names = ["z"]} : !y
  reprise.return %2, %4 : !y, !y
}

// In loops that will be unrolled each iteration has its labels.
// CHECK-LABEL: reprise.program @iterations devices [0] (
// CHECK-NEXT: reprise.dot_bias {{.*}} {reprise.iterations = [{reprise.label = #reprise.label<must_recompute>, reprise.rule = "b"}, {reprise.label = #reprise.label<must_save>, reprise.rule = "c"}]}
reprise.program @iterations devices [0] (%x: !x, %w: !w, %b: tensor<5xbf16>) -> !y {
  %0 = reprise.dot_general %x, %w contracting [2] x [0] {reprise.iterations = [{reprise.label = #reprise.label<prefer_save>, reprise.rule = "a"}, {reprise.label = #reprise.label<must_save>, reprise.rule = "c"}]} : (!x, !w) -> !y
  %1 = reprise.broadcast %b dims [2] : (tensor<5xbf16>) -> !y
  %2 = reprise.add %0, %1 {reprise.iterations = [{reprise.label = #reprise.label<must_recompute>, reprise.rule = "b"}, {}]} : !y
  reprise.return %2 : !y
}

// Several free dimensions of rhs are the columns.
// CHECK-LABEL: reprise.program @columns devices [0] (
// CHECK-NEXT: reprise.dot_bias %arg0, %arg1 bias %arg2 contracting [1] x [0] : {{.*}} -> tensor<4x2x3xf16>
reprise.program @columns devices [0] (%x: tensor<4x6xf16>, %w: tensor<6x2x3xf16>, %b: tensor<2x3xf16>) -> tensor<4x2x3xf16> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x6xf16>, tensor<6x2x3xf16>) -> tensor<4x2x3xf16>
  %1 = reprise.broadcast %b dims [1, 2] : (tensor<2x3xf16>) -> tensor<4x2x3xf16>
  %2 = reprise.add %0, %1 : tensor<4x2x3xf16>
  reprise.return %2 : tensor<4x2x3xf16>
}

// What else reads the contraction, a bias of rows, 32 bits, another addend, and parts of a step that differ stay two ops.
// CHECK-LABEL: reprise.program @apart devices [0] (
// CHECK-NOT: reprise.dot_bias
// CHECK: return
reprise.program @apart devices [0] (%x: tensor<4x6xbf16>, %w: tensor<6x4xbf16>, %b: tensor<4xbf16>, %f: tensor<4x4xf32>, %c: tensor<4xf32>, %r: tensor<4x4xbf16>)
    -> (tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xbf16>) {
  %s = reprise.broadcast %b dims [1] : (tensor<4xbf16>) -> tensor<4x4xbf16>
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x4xbf16>) -> tensor<4x4xbf16>
  %1 = reprise.add %0, %s : tensor<4x4xbf16>
  %t = reprise.broadcast %b dims [0] : (tensor<4xbf16>) -> tensor<4x4xbf16>
  %2 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x4xbf16>) -> tensor<4x4xbf16>
  %3 = reprise.add %2, %t : tensor<4x4xbf16>
  %u = reprise.broadcast %c dims [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %4 = reprise.dot_general %f, %f contracting [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = reprise.add %4, %u : tensor<4x4xf32>
  %6 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x4xbf16>) -> tensor<4x4xbf16>
  %7 = reprise.add %6, %r : tensor<4x4xbf16>
  %8 = reprise.dot_general %x, %w contracting [1] x [0] {reprise.primal} : (tensor<4x6xbf16>, tensor<6x4xbf16>) -> tensor<4x4xbf16>
  %9 = reprise.add %8, %s {reprise.cotangent} : tensor<4x4xbf16>
  reprise.return %0, %1, %3, %5, %7, %9 : tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xbf16>
}
