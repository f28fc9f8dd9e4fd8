// Rules cut the columns of one contraction and the terms of the next one.
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=4 rules=%S/Inputs/shards.json}))' | FileCheck %s --check-prefix=WHOLE
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=4 parts=2 rules=%S/Inputs/shards.json}))' | FileCheck %s
// RUN: not reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=3 rules=%S/Inputs/shards.json}))' 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=2 parts=4 rules=%S/Inputs/shards.json}))' 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=16 rules=%S/Inputs/shards.json}))' 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=4 parts=2 rules=%S/Inputs/shards.json}))' --remarks-filter=model -o %t 2>&1 | FileCheck %s --check-prefix=JOINED
// JOINED: remark: [Missed] joined | Category:model | Function=step | bytes=48, dimension=1, reader=reprise.softmax
// THREE: error: expected 1, 2, 4, 8, … lanes of contractions, got 3
// PARTS: error: expected parts of the model that divide the 2 lanes of contractions, got 4
// DIM: shards.json:2:{{[0-9]+}}: error: expected a dimension that 16 lanes divide, dimension 1 of 'up' has 8

// On one part a contraction whose terms are cut has lanes, and nothing else changes.
// WHOLE: %[[H:.*]] = reprise.dot_general %arg0, %arg1
// WHOLE-NEXT: %[[B:.*]] = reprise.broadcast %arg2
// WHOLE-NEXT: %[[A:.*]] = reprise.add %[[H]], %[[B]]
// WHOLE-NEXT: reprise.dot_lanes %[[A]], %arg3 lanes 4 along 0 contracting [1] x [0]

// Parameters with a rule live in parts, which name their columns and rows.
// CHECK: reprise.program @step
// CHECK-SAME: %[[U0:[a-z0-9]+]]: tensor<6x4xbf16> {reprise.name = "up[:,0:4]", reprise.role = "parameter", reprise.rows = array<i64: 0, 4, 8, 1>, reprise.whole = "up"}
// CHECK-SAME: %[[U1:[a-z0-9]+]]: tensor<6x4xbf16> {reprise.name = "up[:,4:8]", reprise.role = "parameter", reprise.rows = array<i64: 4, 8, 8, 1>, reprise.whole = "up"}
// CHECK-SAME: %arg3: tensor<8xbf16> {reprise.name = "bias"
// CHECK-SAME: %arg4: tensor<4x6xbf16> {reprise.name = "down[0:4]", reprise.role = "parameter", reprise.rows = array<i64: 0, 4, 8>, reprise.whole = "down"}

// The bias is cut with the columns to which it is added. Sums have the lanes of their part.
// CHECK: %[[H0:.*]] = reprise.dot_general %arg0, %[[U0]] contracting [1] x [0] {reprise.model_part = 0 : i64}
// CHECK: %[[H1:.*]] = reprise.dot_general %arg0, %[[U1]] contracting [1] x [0] {reprise.model_part = 1 : i64}
// CHECK: %[[B0:.*]] = reprise.broadcast
// CHECK: %[[B1:.*]] = reprise.broadcast
// CHECK: %[[A0:.*]] = reprise.add %[[H0]], %[[B0]] {reprise.model_part = 0 : i64}
// CHECK: %[[A1:.*]] = reprise.add %[[H1]], %[[B1]] {reprise.model_part = 1 : i64}
// CHECK: %[[S0:.*]] = reprise.dot_lanes %[[A0]], %arg4 lanes 2 along 0 contracting [1] x [0] {reprise.model_part = 0 : i64} : (tensor<3x4xbf16>, tensor<4x6xbf16>) -> tensor<3x6xf32>
// CHECK: %[[S1:.*]] = reprise.dot_lanes %[[A1]], %arg5 lanes 2 along 0 contracting [1] x [0] {reprise.model_part = 1 : i64}
// Each part adds and rounds its share of the sum: the first dimension that the parts divide.
// CHECK-NEXT: %[[L0:.*]] = reprise.slice %[[S0]] from [0, 0] to [3, 3] by [1, 1] {reprise.model_part = 0 : i64, reprise.transfer = {dim = 1 : i64, kind = "sum", value = "reprise.dot_general at {{.*}}"}}
// CHECK-NEXT: %[[L1:.*]] = reprise.slice %[[S1]] from [0, 0] to [3, 3] by [1, 1] {reprise.model_part = 1 : i64, {{.*}}}
// CHECK-NEXT: %[[SUM0:.*]] = reprise.add %[[L0]], %[[L1]] {reprise.model_part = 0 : i64} : tensor<3x3xf32>
// CHECK-NEXT: %[[Y0:.*]] = reprise.cast %[[SUM0]] {reprise.model_part = 0 : i64} : tensor<3x3xf32> to tensor<3x3xbf16>
// CHECK-NEXT: reprise.slice %[[S0]] from [0, 3] to [3, 6]
// CHECK-NEXT: reprise.slice %[[S1]] from [0, 3] to [3, 6]
// CHECK-NEXT: reprise.add %{{.*}} {reprise.model_part = 1 : i64}
// CHECK-NEXT: %[[Y1:.*]] = reprise.cast %{{.*}} {reprise.model_part = 1 : i64}
// Parts do not divide the 3 rows of the softmax, so it reads the parts joined.
// CHECK-NEXT: %[[A:.*]] = reprise.concatenate %[[A0]], %[[A1]] dim 1
// CHECK-NEXT: %[[P:.*]] = reprise.softmax %[[A]]
// CHECK-NEXT: %[[Y:.*]] = reprise.concatenate %[[Y0]], %[[Y1]] dim 1
// CHECK-NEXT: return %[[Y]], %[[P]]
reprise.program @step devices [0] (%x: tensor<3x6xbf16> {reprise.name = "x", reprise.role = "input"},
                                   %up: tensor<6x8xbf16> {reprise.name = "up", reprise.role = "parameter"},
                                   %bias: tensor<8xbf16> {reprise.name = "bias", reprise.role = "parameter"},
                                   %down: tensor<8x6xbf16> {reprise.name = "down", reprise.role = "parameter"})
    -> (tensor<3x6xbf16>, tensor<3x8xbf16>) {
  %0 = reprise.dot_general %x, %up contracting [1] x [0] : (tensor<3x6xbf16>, tensor<6x8xbf16>) -> tensor<3x8xbf16>
  %1 = reprise.broadcast %bias dims [1] : (tensor<8xbf16>) -> tensor<3x8xbf16>
  %2 = reprise.add %0, %1 : tensor<3x8xbf16>
  %3 = reprise.dot_general %2, %down contracting [1] x [0] : (tensor<3x8xbf16>, tensor<8x6xbf16>) -> tensor<3x6xbf16>
  %4 = reprise.softmax %2 : tensor<3x8xbf16>
  reprise.return %3, %4 : tensor<3x6xbf16>, tensor<3x8xbf16>
}
