// Where a carry must be recomputed, every k-th one is kept, and segments run again from it.
// RUN: reprise-opt %s --reprise-to="label entry=f" --reprise-split-loops | FileCheck %s
// RUN: reprise-opt %s --reprise-to="checkpoint entry=f" | FileCheck %s --check-prefix=PLAN
// RUN: reprise-opt %s --reprise-to="memory entry=f" | FileCheck %s --check-prefix=PLACED

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[X:[^:]*]]: tensor<16xf32> {{.*}}, %[[W:[^:]*]]: tensor<12x16xf32>
func.func @f(%x: tensor<16xf32> {reprise.role = "input"}, %w: tensor<12x16xf32>) -> tensor<12x16xf32> {
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<12x16xf32>) -> (tensor<f32>, tensor<12x16xf32>) {
    // CHECK: %[[S:.*]] = reprise.reshape %{{.*}} {reprise.block = array<i64: 0>, reprise.split} : (tensor<12x16xf32>) -> tensor<3x4x16xf32>
    // CHECK: %[[R:.*]]:2 = reprise.loop 3 (%[[C:[a-z0-9]+]] = %[[X]]) over (%[[ROWS:[a-z0-9]+]] = %[[S]]) :
    // CHECK-NEXT: %[[I:.*]]:2 = reprise.loop 4 (%[[D:[a-z0-9]+]] = %[[C]]) over (%[[ROW:[a-z0-9]+]] = %[[ROWS]]) :
    // CHECK-NEXT: %[[M:.*]] = reprise.mul %[[D]], %[[ROW]] {reprise.block = array<i64: 0, [[UNIT:[0-9]+]]>
    // CHECK-NEXT: %[[T:.*]] = reprise.tanh %[[M]]
    // CHECK-NEXT: reprise.yield %[[T]], %[[M]]
    // CHECK-NEXT: } {reprise.block = array<i64: 0, [[UNIT]]>, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"}
    // CHECK-NEXT: reprise.yield %[[I]]#0, %[[I]]#1
    // CHECK-NEXT: } {reprise.block = array<i64: 0>}
    // CHECK-NEXT: reprise.reshape %[[R]]#1 {reprise.block = array<i64: 0>, reprise.split} : (tensor<3x4x16xf32>) -> tensor<12x16xf32>
    %h, %ms = reprise.loop 12 (%c = %x) over (%s = %v) : (tensor<16xf32>, tensor<12x16xf32>) -> (tensor<16xf32>, tensor<12x16xf32>) {
      %m = reprise.mul %c, %s : tensor<16xf32>
      %t = reprise.tanh %m {reprise.label = #reprise.label<must_recompute>} : tensor<16xf32>
      reprise.yield %t, %m : tensor<16xf32>, tensor<16xf32>
    }
    // A prime number of iterations is one segment; without a label, a loop stays as it is.
    // CHECK: reprise.loop 1
    // CHECK-NEXT: reprise.loop 7
    %p = reprise.loop 7 (%c = %h) : (tensor<16xf32>) -> tensor<16xf32> {
      %t = reprise.tanh %c {reprise.label = #reprise.label<must_recompute>} : tensor<16xf32>
      reprise.yield %t : tensor<16xf32>
    }
    // CHECK: reprise.loop 12
    // CHECK-NEXT: reprise.tanh
    %q = reprise.loop 12 (%c = %p) : (tensor<16xf32>) -> tensor<16xf32> {
      %t = reprise.tanh %c : tensor<16xf32>
      reprise.yield %t : tensor<16xf32>
    }
    %l = reprise.sum %q dims [0] : (tensor<16xf32>) -> tensor<f32>
    %n = reprise.sum %ms dims [0, 1] : (tensor<12x16xf32>) -> tensor<f32>
    %both = reprise.add %l, %n : tensor<f32>
    reprise.yield %both : tensor<f32>
  }
  return %0#1 : tensor<12x16xf32>
}

// PLAN-LABEL: reprise.program @f devices [0] (
// The first loop keeps three carries, and nothing of its segments.
// PLAN: %[[OUTER:.*]]:2 = reprise.loop 3 (%[[KEPT:[a-z0-9]+]] = %{{.*}})
// PLAN: reprise.yield %{{.*}}, %[[KEPT]] :
// Its reverse loop runs a segment again, and then backwards.
// PLAN: reprise.loop 3 ({{.*}} over ({{.*}}%[[START:[a-z0-9]+]] = %[[OUTER]]#1{{.*}}) reverse
// PLAN: %[[AGAIN:.*]]:{{[0-9]+}} = reprise.loop 4 (%{{.*}} = %[[START]])
// PLAN: {replay = {{[0-9]+}}
// PLAN: reprise.loop 4 ({{.*}} over ({{.*}}%[[AGAIN]]#{{.*}} reverse

// A stack under another shape is no copy.
// PLACED-LABEL: reprise.program @f devices [0] (
// PLACED-SAME: %[[X:[^:]*]]: tensor<16xf32> {{.*}}, %[[W:[^:]*]]: tensor<12x16xf32>
// PLACED: %[[SHAPED:.*]] = reprise.reshape %[[W]]
// PLACED: reprise.loop 3 ({{.*}} over (%{{.*}} = %[[SHAPED]])
