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

// The bias is cut with the columns to which it is added. Sums have the lanes of their part, and are rounded once.
// CHECK: %[[W0:.*]] = reprise.slice %arg1 from [0, 0] to [6, 4]
// CHECK: %[[H0:.*]] = reprise.dot_general %arg0, %[[W0]] contracting [1] x [0] {reprise.model_part = 0 : i64}
// CHECK: %[[W1:.*]] = reprise.slice %arg1 from [0, 4] to [6, 8]
// CHECK: %[[H1:.*]] = reprise.dot_general %arg0, %[[W1]] contracting [1] x [0] {reprise.model_part = 1 : i64}
// CHECK: %[[B0:.*]] = reprise.broadcast
// CHECK: %[[B1:.*]] = reprise.broadcast
// CHECK: %[[A0:.*]] = reprise.add %[[H0]], %[[B0]] {reprise.model_part = 0 : i64}
// CHECK: %[[A1:.*]] = reprise.add %[[H1]], %[[B1]] {reprise.model_part = 1 : i64}
// CHECK: %[[S0:.*]] = reprise.dot_lanes %[[A0]], %{{.*}} lanes 2 along 0 contracting [1] x [0] {reprise.model_part = 0 : i64} : (tensor<3x4xbf16>, tensor<4x6xbf16>) -> tensor<3x6xf32>
// CHECK: %[[S1:.*]] = reprise.dot_lanes %[[A1]], %{{.*}} lanes 2 along 0 contracting [1] x [0] {reprise.model_part = 1 : i64}
// CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[S0]], %[[S1]] : tensor<3x6xf32>
// CHECK-NEXT: %[[Y:.*]] = reprise.cast %[[SUM]] : tensor<3x6xf32> to tensor<3x6xbf16>
// A softmax over the cut dimension reads the parts joined.
// CHECK-NEXT: %[[A:.*]] = reprise.concatenate %[[A0]], %[[A1]] dim 1
// CHECK-NEXT: %[[P:.*]] = reprise.softmax %[[A]]
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
