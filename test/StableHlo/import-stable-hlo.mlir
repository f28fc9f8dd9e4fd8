// Entries around the model: names, roles, results; what JAX writes with debug_info=True.
// RUN: reprise-opt %s --import-stablehlo=parameters=2 | FileCheck %s
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s --check-prefix=FORWARD
// RUN: reprise-opt %s --import-stablehlo=parameters=2 | reprise-opt --reprise-to="autodiff entry=grad"
// RUN: not reprise-opt %s --import-stablehlo=parameters=4 2>&1 | FileCheck %s --check-prefix=PARAMETERS
// RUN: not reprise-opt %s --import-stablehlo=parameters=3 2>&1 | FileCheck %s --check-prefix=INTEGERS

#loc1 = loc("params['layers'][0]['w']")
#loc2 = loc("params.b")
#loc3 = loc("y")
// CHECK: module @jit_loss {
module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK-NEXT: func.func private @model(%[[W:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<i32>) -> (tensor<f32>, tensor<2xf32>) {
  func.func public @main(%arg0: tensor<2xf32> {mhlo.sharding = "{replicated}"} loc(#loc1), %arg1: tensor<2xf32> loc(#loc2), %arg2: tensor<ui32> loc(#loc3)) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]"}) {
    // CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[W]], %[[B]] : tensor<2xf32>
    // CHECK-NEXT: %[[TWICE:.*]] = reprise.add %[[SUM]], %[[SUM]] : tensor<2xf32>
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    %1 = call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    // CHECK: %[[LOSS:.*]] = reprise.sum %[[TWICE]] dims [0]
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: return %[[LOSS]], %[[TWICE]]
    return %2, %1 : tensor<f32>, tensor<2xf32>
  }
  func.func private @double(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: func.func @forward(
// CHECK-SAME: {reprise.name = "params/layers/0/w", reprise.role = "parameter"}
// CHECK: func.func @grad(
// CHECK-SAME: {reprise.name = "params/layers/0/w", reprise.role = "parameter"}
// CHECK-SAME: {reprise.name = "params/b", reprise.role = "parameter"}
// CHECK-SAME: tensor<i32> {reprise.name = "y", reprise.role = "input"}
// CHECK-SAME: -> (tensor<f32> {reprise.name = "loss"}, tensor<2xf32> {reprise.name = "result/1"},
// CHECK-SAME: tensor<2xf32> {reprise.name = "gradient/params/layers/0/w"}, tensor<2xf32> {reprise.name = "gradient/params/b"})
// CHECK-NEXT: reprise.value_and_grad @model(%{{.*}}, %{{.*}}, %{{.*}}) wrt [0, 1]

// FORWARD: func.func @forward(%{{.*}}: tensor<2xf32> {reprise.name = "params/layers/0/w", reprise.role = "input"}
// FORWARD-SAME: -> (tensor<f32> {reprise.name = "result/0"}
// FORWARD-NOT: @grad

// PARAMETERS: error: expected up to 3 parameters, got 4
// INTEGERS: error: expected parameters of floats, but argument 2 is of 'tensor<i32>'
