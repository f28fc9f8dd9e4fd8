// The dialect shard names the mesh and the shardings of arguments, and `import` makes attributes of them.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s --check-prefix=PARSED
// RUN: reprise-opt %s --reprise-import | FileCheck %s
// RUN: reprise-opt %s --reprise-import='mesh=2,1,2' | FileCheck %s
// RUN: not reprise-opt %s --reprise-import='mesh=2,1,4' 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not reprise-opt %s --reprise-to='autodiff model-lanes=2 model-parts=2' 2>&1 | FileCheck %s --check-prefix=REPLICAS

// PARTS: shardings.mlir:[[# @LINE+8]]:1: error: the axis 'model' of the grid 'mesh' has 2 parts of the model, but the options request 4
// REPLICAS: shardings.mlir:[[# @LINE+7]]:1: error: the axis 'data' of the grid 'mesh' has 2 replicas, but the options request 1
// PARSED: shard.grid @mesh(shape = 2x2)
// PARSED: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[\[1\]\]}} : !shard.sharding
// PARSED: shard.shard %arg2 to %[[S]] : tensor<8x6xf32>

// CHECK-NOT: shard.grid
// CHECK: func.func @train(%{{.*}}: tensor<4x6xf32> {reprise.batch_dim = 0 : i64, reprise.name = "x", reprise.role = "input"}, %{{.*}}: tensor<6x8xf32> {reprise.name = "up", reprise.role = "parameter", reprise.shard = [unit, "model"]}, %{{.*}}: tensor<8x6xf32> {reprise.name = "down", reprise.role = "parameter", reprise.shard = ["model", unit]}, %{{.*}}: tensor<6xf32> {reprise.name = "bias", reprise.role = "parameter", reprise.shard = [unit]})
shard.grid @mesh(shape = 2x2) {reprise.axes = ["data", "model"]}

// Shardings may stand in the function that is differentiated.
func.func @loss(%x: tensor<4x6xf32>, %up: tensor<6x8xf32>, %down: tensor<8x6xf32>, %bias: tensor<6xf32>) -> tensor<f32> {
  %rows = shard.sharding @mesh split_axes = [[1]] : !shard.sharding
  %d = shard.shard %down to %rows : tensor<8x6xf32>
  // CHECK: %[[H:.*]] = reprise.dot_general
  %0 = reprise.dot_general %x, %up contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: reprise.dot_general %[[H]], %{{[a-z0-9]+}} contracting
  %1 = reprise.dot_general %0, %d contracting [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %all = reprise.broadcast %bias dims [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %2 = reprise.add %1, %all : tensor<4x6xf32>
  %3 = reprise.sum %2 dims [0, 1] : (tensor<4x6xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
func.func @train(%x: tensor<4x6xf32> {reprise.name = "x", reprise.role = "input"},
                 %up: tensor<6x8xf32> {reprise.name = "up", reprise.role = "parameter"},
                 %down: tensor<8x6xf32> {reprise.name = "down", reprise.role = "parameter"},
                 %bias: tensor<6xf32> {reprise.name = "bias", reprise.role = "parameter"}) -> (tensor<f32> {reprise.name = "loss"}) {
  %columns = shard.sharding @mesh split_axes = [[], [1]] : !shard.sharding
  %batch = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  %whole = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  %u = shard.shard %up to %columns : tensor<6x8xf32>
  %same = shard.shard %u to %columns annotate_for_users : tensor<6x8xf32>
  %b = shard.shard %x to %batch annotate_for_users : tensor<4x6xf32>
  %w = shard.shard %bias to %whole : tensor<6xf32>
  %loss, %du, %dd = reprise.value_and_grad @loss(%b, %same, %down, %w) wrt [1, 2] : (tensor<4x6xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> (tensor<f32>, tensor<6x8xf32>, tensor<8x6xf32>)
  // CHECK-NOT: shard.
  return %loss : tensor<f32>
}
