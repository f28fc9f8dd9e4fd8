// Slices and sums of micro-batches become ops of the model graph, with the marks that they have, in loops too.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-lower-microbatches))" | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-lower-microbatches))" | FileCheck %s --check-prefix=NONE

// NONE-NOT: pipe.

// 5 samples of 2 rows are 3 and 2.
// CHECK-LABEL: reprise.program @rows
// CHECK: reprise.slice %arg0 from [0, 0] to [4, 6] by [1, 1] : (tensor<4x10xf32>) -> tensor<4x6xf32>
// CHECK: reprise.slice %arg0 from [0, 6] to [4, 10] by [1, 1] {reprise.block = array<i64: 1>} : (tensor<4x10xf32>) -> tensor<4x4xf32>
reprise.program @rows devices [0] (%x: tensor<4x10xf32>) -> (tensor<4x6xf32>, tensor<4x4xf32>) {
  %0 = pipe.slice %x microbatch 0 of 2 dim 1 rows 2 : tensor<4x10xf32> -> tensor<4x6xf32>
  %1 = pipe.slice %x microbatch 1 of 2 dim 1 rows 2 {reprise.block = array<i64: 1>} : tensor<4x10xf32> -> tensor<4x4xf32>
  reprise.return %0, %1 : tensor<4x6xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: reprise.program @sum
// CHECK: %[[S:.*]] = reprise.add %arg0, %arg1 {reprise.batch_sum, reprise.microbatch = 1 : i64} : tensor<4xf32>
// CHECK: reprise.add %[[S]], %arg1 {reprise.batch_sum} : tensor<4xf32>
reprise.program @sum devices [0] (%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.accumulate %x, %y microbatch 1 {reprise.batch_sum, reprise.microbatch = 1 : i64} : tensor<4xf32>
  %1 = pipe.merge %0, %y lanes 0 to 1 to 2 {reprise.batch_sum} : tensor<4xf32>
  reprise.return %1 : tensor<4xf32>
}
