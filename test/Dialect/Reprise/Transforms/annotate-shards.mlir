// The shardings of all values, from attributes of arguments and from a file of rules.
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-annotate-shards{lanes=4 parts=2}))' | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-annotate-shards{lanes=4 parts=2 rules=%S/Inputs/shards.json}))' | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-annotate-shards{lanes=4 parts=2},reprise-annotate-shards{lanes=4 parts=2}))' | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-annotate-shards{lanes=4}))' | FileCheck %s --check-prefix=WHOLE
// The attributes cut as the rules do, and no part keeps them.
// RUN: cp %s %t.mlir && reprise-opt %t.mlir --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=4 parts=2}))' > %t.module
// RUN: sed 's/, reprise.shard = .*"model".*\]}/}/' %s > %t.mlir
// RUN: reprise-opt %t.mlir --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=4 parts=2 rules=%S/Inputs/shards.json}))' > %t.rules
// RUN: diff %t.rules %t.module
// RUN: not grep reprise.shard %t.module
// RUN: not reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model))' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not reprise-opt %s --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=16}))' 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: sed 's/\[unit, "model"\]/["model", unit]/' %s | not reprise-opt --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=2 rules=%S/Inputs/shards.json}))' 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/, reprise.shard = .*"model".*\]}/}/' %s | not reprise-opt --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=2}))' 2>&1 | FileCheck %s --check-prefix=NONE

// LANES: annotate-shards.mlir:[[# @LINE+9]]:{{[0-9]+}}: error: the sharding of 'up' needs 2, 4, 8, … lanes of contractions
// DIM: annotate-shards.mlir:[[# @LINE+8]]:{{[0-9]+}}: error: expected a dimension that 16 lanes divide, dimension 1 of 'up' has 8
// BOTH: shards.json:2:{{[0-9]+}}: error: expected dimension 0 of 'up', which the module cuts
// NONE: error: expected a sharding that cuts an argument, since there are 2 lanes of contractions

// CHECK: %arg1: tensor<6x8xbf16> {reprise.name = "up", reprise.role = "parameter", reprise.shard = [unit, "model"]}
// CHECK-SAME: %arg2: tensor<8xbf16> {reprise.name = "bias", reprise.role = "parameter"}
// CHECK-SAME: %arg3: tensor<8x6xbf16> {reprise.name = "down", reprise.role = "parameter", reprise.shard = ["model", unit]}
reprise.program @step devices [0] (%x: tensor<3x6xbf16> {reprise.name = "x", reprise.role = "input"},
                                   %up: tensor<6x8xbf16> {reprise.name = "up", reprise.role = "parameter", reprise.shard = [unit, "model"]},
                                   %bias: tensor<8xbf16> {reprise.name = "bias", reprise.role = "parameter"},
                                   %down: tensor<8x6xbf16> {reprise.name = "down", reprise.role = "parameter", reprise.shard = ["model", unit]})
    -> (tensor<3x6xbf16>, tensor<3x8xbf16>) {
  // CHECK: reprise.dot_general %arg0, %arg1 contracting [1] x [0] {reprise.shards = {{\[\[}}unit, "model"]]}
  // WHOLE: reprise.dot_general %arg0, %arg1 contracting [1] x [0] {reprise.shards = {{\[\[}}unit, "model"]]}
  %0 = reprise.dot_general %x, %up contracting [1] x [0] : (tensor<3x6xbf16>, tensor<6x8xbf16>) -> tensor<3x8xbf16>
  // CHECK: reprise.broadcast %arg2 dims [1] {reprise.shards = {{\[\[}}unit, "model"]]}
  %1 = reprise.broadcast %bias dims [1] : (tensor<8xbf16>) -> tensor<3x8xbf16>
  // CHECK: reprise.add %{{.*}} {reprise.shards = {{\[\[}}unit, "model"]]}
  %2 = reprise.add %0, %1 : tensor<3x8xbf16>
  // Each part adds its columns of the sum. On one device the sum is in one piece.
  // CHECK: reprise.dot_general %{{.*}} {reprise.shards = {{\[\[}}unit, "model"]], reprise.sum_over = "model"}
  // WHOLE: reprise.dot_general %{{.*}}, %arg3 contracting [1] x [0] {reprise.sum_over = "model"}
  %3 = reprise.dot_general %2, %down contracting [1] x [0] : (tensor<3x8xbf16>, tensor<8x6xbf16>) -> tensor<3x6xbf16>
  // The parts do not divide the rows.
  // CHECK: reprise.softmax %{{[0-9]+}} : tensor<3x8xbf16>
  %4 = reprise.softmax %2 : tensor<3x8xbf16>
  reprise.return %3, %4 : tensor<3x6xbf16>, tensor<3x8xbf16>
}
