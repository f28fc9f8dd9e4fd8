// Loops read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @scan(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<3x4xf32>
func.func @scan(%x: tensor<4xf32>, %w: tensor<3x4xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[R:.*]]:2 = reprise.loop 3 (%[[C:.*]] = %[[X]]) over (%[[S:.*]] = %[[W]]) : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %h, %norms = reprise.loop 3 (%c = %x) over (%s = %w) : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
    // CHECK-NEXT: reprise.mul %[[C]], %[[S]]
    %0 = reprise.mul %c, %s : tensor<4xf32>
    %1 = reprise.sum %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
    // CHECK: reprise.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<f32>
    reprise.yield %0, %1 : tensor<4xf32>, tensor<f32>
  // CHECK-NEXT: } {note = "x"}
  } {note = "x"}
  // The body reads from above; without slices, and backwards.
  // CHECK-NEXT: reprise.loop 5 (%{{.*}} = %[[R]]#0) reverse : (tensor<4xf32>) -> tensor<4xf32> {
  %back = reprise.loop 5 (%c = %h) reverse : (tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: reprise.add %{{.*}}, %[[X]]
    %0 = reprise.add %c, %x : tensor<4xf32>
    reprise.yield %0 : tensor<4xf32>
  }
  // Without carries; a replay says so.
  // CHECK: reprise.loop 3 () over (%[[T:.*]] = %[[W]]) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: reprise.yield %[[T]]
  // CHECK-NEXT: } {replay = 2 : i64}
  %copy = reprise.loop 3 () over (%s = %w) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
    reprise.yield %s : tensor<4xf32>
  } {replay = 2 : i64}
  return %norms : tensor<3xf32>
}
