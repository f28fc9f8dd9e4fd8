// A contraction with lanes becomes contractions of slices, and adds in the tree of neighbours.
// RUN: reprise-opt %s --reprise-expand-lanes | FileCheck %s

// The label and the rounding are of the root. Two neighbours are added as soon as both are there.
// CHECK-LABEL: reprise.program @step devices [0] (
// CHECK-NEXT: %[[X0:.*]] = reprise.slice %arg0 from [0, 0] to [3, 2]
// CHECK-NEXT: %[[Y0:.*]] = reprise.slice %arg1 from [0, 0, 0] to [5, 2, 3]
// CHECK-NEXT: %[[S0:.*]] = reprise.dot_general %[[X0]], %[[Y0]] contracting [1] x [1] {reprise.primal} : (tensor<3x2xbf16>, tensor<5x2x3xbf16>) -> tensor<3x5x3xf32>
// CHECK-NEXT: %[[X1:.*]] = reprise.slice %arg0 from [0, 2] to [3, 4]
// CHECK-NEXT: %[[Y1:.*]] = reprise.slice %arg1 from [0, 2, 0] to [5, 4, 3]
// CHECK-NEXT: %[[S1:.*]] = reprise.dot_general %[[X1]], %[[Y1]]
// CHECK-NEXT: %[[L:.*]] = reprise.add %[[S0]], %[[S1]] {reprise.primal} : tensor<3x5x3xf32>
// CHECK: %[[R:.*]] = reprise.add
// CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[L]], %[[R]]
// CHECK-NEXT: %[[ROOT:.*]] = reprise.cast %[[SUM]] {reprise.label = #reprise.label<must_save>, reprise.primal, reprise.rule = "dots"} : tensor<3x5x3xf32> to tensor<3x5x3xbf16>
// CHECK-NEXT: return %[[ROOT]]
reprise.program @step devices [0] (%x: tensor<3x8xbf16>, %y: tensor<5x8x3xbf16>) -> tensor<3x5x3xbf16> {
  %0 = reprise.dot_lanes %x, %y lanes 4 along 0 contracting [1] x [1] {reprise.label = #reprise.label<must_save>, reprise.rule = "dots", reprise.primal} : (tensor<3x8xbf16>, tensor<5x8x3xbf16>) -> tensor<3x5x3xbf16>
  reprise.return %0 : tensor<3x5x3xbf16>
}

// A dimension that is not the first of the contracted ones may have the lanes.
// CHECK-LABEL: reprise.program @inner devices [0] (
// CHECK: reprise.slice %arg0 from [0, 0, 0] to [3, 4, 1]
// CHECK-NEXT: reprise.slice %arg1 from [0, 0] to [1, 4]
// CHECK: reprise.slice %arg0 from [0, 0, 1] to [3, 4, 2]
// CHECK-NEXT: reprise.slice %arg1 from [1, 0] to [2, 4]
reprise.program @inner devices [0] (%x: tensor<3x4x2xf32>, %y: tensor<2x4xf32>) -> tensor<3xf32> {
  %0 = reprise.dot_lanes %x, %y lanes 2 along 1 contracting [1, 2] x [1, 0] : (tensor<3x4x2xf32>, tensor<2x4xf32>) -> tensor<3xf32>
  reprise.return %0 : tensor<3xf32>
}
