// The cotangent of a loop is a loop over the same rows the other way round.
// RUN: reprise-opt %s --reprise-differentiate --canonicalize | FileCheck %s

// One sum per use of %u, from -0, in reverse iteration order; then the sums in reverse program order.
// CHECK-LABEL: func @captured(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<3x4xf32>, %[[U:.*]]: tensor<4xf32>
func.func @captured(%x: tensor<4xf32>, %w: tensor<3x4xf32>, %u: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = reprise.constant {{.*}}dense<-0.000000e+00>
  // CHECK-DAG: %[[ONE:.*]] = reprise.constant {{.*}}dense<1.000000e+00>
  %0:4 = reprise.value_and_grad (%a = %x, %b = %w, %v = %u) wrt [0, 1, 2]
      : (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) {
    // What the cotangent body reads is stacked, the carry included; slices are read where they are.
    // CHECK: %[[F:.*]]:4 = reprise.loop 3 (%[[C:.*]] = %[[X]]) over (%[[S:.*]] = %[[W]])
    // CHECK-NEXT: %[[M:.*]] = reprise.mul %[[C]], %[[S]] {reprise.primal}
    // CHECK-NEXT: %[[N:.*]] = reprise.mul %[[M]], %[[U]] {reprise.primal}
    // CHECK-NEXT: %[[O:.*]] = reprise.mul %[[N]], %[[U]] {reprise.primal}
    // CHECK-NEXT: reprise.yield %[[O]], %[[N]], %[[M]], %[[C]]
    // CHECK-NEXT: } {reprise.primal}
    %h = reprise.loop 3 (%c = %a) over (%s = %b) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32> {
      %m = reprise.mul %c, %s : tensor<4xf32>
      %n = reprise.mul %m, %v : tensor<4xf32>
      %o = reprise.mul %n, %v : tensor<4xf32>
      reprise.yield %o : tensor<4xf32>
    }
    // CHECK: %[[R:.*]]:4 = reprise.loop 3 (%[[D:.*]] = %[[ONE]], %[[LAST:.*]] = %[[ZERO]], %[[FIRST:.*]] = %[[ZERO]])
    // CHECK-SAME: over (%[[RN:.*]] = %[[F]]#1, %[[RM:.*]] = %[[F]]#2, %[[RS:.*]] = %[[W]], %[[RC:.*]] = %[[F]]#3) reverse
    // CHECK: %[[DU2:.*]] = reprise.mul %[[D]], %[[RN]]
    // CHECK-NEXT: %[[SUM2:.*]] = reprise.add %[[LAST]], %[[DU2]]
    // CHECK: %[[DU1:.*]] = reprise.mul %{{.*}}, %[[RM]]
    // CHECK-NEXT: %[[SUM1:.*]] = reprise.add %[[FIRST]], %[[DU1]]
    // CHECK-NEXT: %[[DC:.*]] = reprise.mul %[[DM:.*]], %[[RS]]
    // CHECK-NEXT: %[[DS:.*]] = reprise.mul %[[DM]], %[[RC]]
    // CHECK-NEXT: reprise.yield %[[DC]], %[[SUM2]], %[[SUM1]], %[[DS]]
    // CHECK-NEXT: } {reprise.cotangent, reprise.order = 1 : i64}
    // CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[R]]#1, %[[R]]#2
    %l = reprise.sum %h dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  // CHECK: return %[[R]]#0, %[[R]]#3, %[[SUM]]
  return %0#1, %0#2, %0#3 : tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>
}

// A use in nested loops has one sum that goes through both.
// CHECK-LABEL: func @nested(
func.func @nested(%x: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[ZERO:.*]] = reprise.constant {{.*}}dense<-0.000000e+00>
  %0:2 = reprise.value_and_grad (%v = %u) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %h = reprise.loop 2 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
      %i = reprise.loop 3 (%d = %c) : (tensor<4xf32>) -> tensor<4xf32> {
        %m = reprise.add %d, %v : tensor<4xf32>
        reprise.yield %m : tensor<4xf32>
      }
      reprise.yield %i : tensor<4xf32>
    }
    %l = reprise.sum %h dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  // CHECK: %[[R:.*]]:2 = reprise.loop 2 (%[[D:.*]] = %{{.*}}, %[[SUM:.*]] = %[[ZERO]]) reverse
  // CHECK-NEXT: %[[I:.*]]:2 = reprise.loop 3 (%[[DI:.*]] = %[[D]], %[[SI:.*]] = %[[SUM]]) reverse
  // CHECK-NEXT: %[[NEXT:.*]] = reprise.add %[[SI]], %[[DI]]
  // CHECK-NEXT: reprise.yield %[[DI]], %[[NEXT]]
  // CHECK: reprise.yield %[[I]]#0, %[[I]]#1
  // CHECK: return %[[R]]#1
  return %0#1 : tensor<4xf32>
}
