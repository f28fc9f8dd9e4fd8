// Where stages may begin, and which derivative belongs to which.
// RUN: reprise-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(reprise-mark-stages))" | FileCheck %s
// RUN: reprise-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(reprise-mark-stages),reprise-differentiate)" | FileCheck %s --check-prefix=GRAD

// Two values cross in front of the sum, and one around it.
// CHECK-LABEL: func @narrow
// CHECK: exp {{.*}}reprise.stage = 0
// CHECK: neg {{.*}}reprise.stage = 1
// CHECK: add {{.*}}reprise.stage = 1
// CHECK: exp {{.*}}reprise.stage = 2
func.func @narrow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x : tensor<4xf32>
  %1 = reprise.neg %0 : tensor<4xf32>
  %2 = reprise.add %0, %1 : tensor<4xf32>
  %3 = reprise.exp %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Marks of the model hold until the next one. An op outside of the gradient has none.
// CHECK-LABEL: func @annotated
// CHECK: neg {{.*}}reprise.stage = 0
// CHECK: exp {{.*}}reprise.stage = 1
// CHECK: sum {{.*}}reprise.stage = 1
// CHECK: sub
// CHECK-NOT: reprise.stage
// GRAD-LABEL: func @annotated
// GRAD: reprise.mul {{.*}}reprise.order = 1 : i64, reprise.stage = 1 : i64
// GRAD: reprise.neg {{.*}}reprise.order = 1 : i64, reprise.stage = 0 : i64
func.func @annotated(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %loss, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %0 = reprise.neg %p : tensor<4xf32>
    %1 = reprise.exp %0 {reprise.stage = 1 : i64} : tensor<4xf32>
    %2 = reprise.sum %1 dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %2 : tensor<f32>
  }
  %new = reprise.sub %x, %g : tensor<4xf32>
  return %loss, %new : tensor<f32>, tensor<4xf32>
}

// -----

// A loop is cut between its iterations and within them.
// CHECK-LABEL: func @loop
// CHECK: reprise.loop
// CHECK: exp {{.*}}reprise.stage = array<i64: 0, 2, 4>
// CHECK: neg {{.*}}reprise.stage = array<i64: 1, 3, 5>
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = reprise.exp %c : tensor<4xf32>
    %2 = reprise.neg %1 : tensor<4xf32>
    reprise.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
