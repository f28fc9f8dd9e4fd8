// Programs become flat, the schedule goes, and what stands beside the pieces goes to its first reader.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(pipe-inline-pieces)" | FileCheck %s
// CHECK-NOT: pipe.

// A forward pass stands behind a backward pass: the program is planned as one scope.
// CHECK-LABEL: reprise.program @train_0
// CHECK-SAME: attributes {reprise.entry = "train", reprise.one_scope}
// CHECK-NEXT: %[[E:.*]] = reprise.exp %arg0
// CHECK-NEXT: %[[TWO:.*]] = reprise.constant dense<2.000000e+00>
// CHECK-NEXT: %[[N:.*]] = reprise.neg %[[TWO]]
// CHECK-NEXT: %[[A:.*]] = reprise.mul %[[E]], %[[N]]
// CHECK-NEXT: reprise.neg %[[A]]
// CHECK-NEXT: %[[C:.*]] = reprise.mul %[[A]], %[[N]]
// CHECK-NEXT: %[[ONE:.*]] = reprise.constant dense<1.000000e+00>
// CHECK-NEXT: return %[[C]], %[[ONE]]
pipe.schedule @order stages 2 microbatches 2 [0F0, 0F1, 0B0, 0B1] [1F0, 1B0, 1F1, 1B1]
reprise.program @train_0 devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {reprise.entry = "train", pipe.schedule = @long} {
  %one = reprise.constant dense<1.0> : tensor<4xf32>
  %two = reprise.constant dense<2.0> : tensor<4xf32>
  %n = reprise.neg %two : tensor<4xf32>
  %a = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32> {
    %0 = reprise.exp %x : tensor<4xf32>
    %1 = reprise.mul %0, %n : tensor<4xf32>
    pipe.yield %1 : tensor<4xf32>
  }
  pipe.piece backward stage 0 microbatch 0 {
    %0 = reprise.neg %a : tensor<4xf32>
  }
  %c = pipe.piece forward stage 0 microbatch 1 -> tensor<4xf32> {
    %0 = reprise.mul %a, %n : tensor<4xf32>
    pipe.yield %0 : tensor<4xf32>
  }
  reprise.return %c, %one : tensor<4xf32>, tensor<4xf32>
}
pipe.schedule @long stages 1 microbatches 2 [0F0, 0B0, 0F1, 0B1]

// CHECK-LABEL: reprise.program @train_1
// CHECK-SAME: attributes {reprise.entry = "train"}
reprise.program @train_1 devices [1] () attributes {reprise.entry = "train", pipe.schedule = @order} {
  pipe.piece forward stage 1 microbatch 0 {
  }
  reprise.return
}
