// Two parts of a table of rows that a step gathers and updates.
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=2 parts=2 rules=%S/Inputs/tables.json}))' | FileCheck %s

// The states of a table with a rule live in parts, too. Next values are parts with equal names.
// CHECK: reprise.program @step
// CHECK-SAME: %arg1: tensor<4x4xf32> {reprise.name = "table[0:4]"
// CHECK-SAME: %arg2: tensor<4x4xf32> {reprise.name = "table[4:8]"
// CHECK-SAME: %arg3: tensor<4x4xf32> {reprise.name = "moment[0:4]"
// CHECK-SAME: %arg4: tensor<4x4xf32> {reprise.name = "moment[4:8]"
// CHECK-SAME: -> (tensor<2x4xf32> {reprise.name = "rows"}, tensor<4x4xf32> {reprise.name = "table[0:4]"

// The table has more bytes than the rows, so parts exchange its columns: each takes the rows of its columns.
// CHECK: %[[S0:.*]] = reprise.slice %arg1 from [0, 0] to [4, 2] by [1, 1] {reprise.model_part = 0 : i64
// CHECK: %[[S1:.*]] = reprise.slice %arg2 from [0, 0] to [4, 2] by [1, 1] {reprise.model_part = 1 : i64
// CHECK: %[[C0:.*]] = reprise.concatenate %[[S0]], %[[S1]] dim 0 {reprise.model_part = 0 : i64
// CHECK: reprise.gather %[[C0]][%arg0] {reprise.model_part = 0 : i64
// Ops of an update have no part: the device of the array computes them.
// CHECK: %[[M0:.*]] = reprise.mul %arg3, %{{.*}} : tensor<4x4xf32>
// CHECK: %[[M1:.*]] = reprise.mul %arg4, %{{.*}} : tensor<4x4xf32>
// CHECK: %[[T0:.*]] = reprise.sub %arg1, %[[M0]] : tensor<4x4xf32>
// CHECK: %[[T1:.*]] = reprise.sub %arg2, %[[M1]] : tensor<4x4xf32>
// CHECK: return %{{.*}}, %[[T0]], %[[T1]], %[[M0]], %[[M1]]
reprise.program @step devices [0] (%ids: tensor<2xi32> {reprise.name = "ids", reprise.role = "input"},
                                   %table: tensor<8x4xf32> {reprise.name = "table", reprise.role = "parameter"},
                                   %moment: tensor<8x4xf32> {reprise.name = "moment", reprise.role = "state"})
    -> (tensor<2x4xf32> {reprise.name = "rows"}, tensor<8x4xf32> {reprise.name = "table"}, tensor<8x4xf32> {reprise.name = "moment"}) {
  %0 = reprise.gather %table[%ids] {reprise.primal} : (tensor<8x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %1 = reprise.constant dense<0.5> : tensor<8x4xf32>
  %2 = reprise.mul %moment, %1 : tensor<8x4xf32>
  %3 = reprise.sub %table, %2 : tensor<8x4xf32>
  reprise.return %0, %3, %2 : tensor<2x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
