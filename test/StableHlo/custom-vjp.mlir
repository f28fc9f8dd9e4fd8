// Derivatives, names and labels that reprise.jax leaves in the text.
// RUN: reprise-opt %s --import-stablehlo=parameters=1 --split-input-file | FileCheck %s
// RUN: not reprise-opt %S/Inputs/custom-vjp-invalid.mlir --import-stablehlo 2>&1 | FileCheck %s --check-prefix=INVALID

// CHECK-LABEL: func.func private @model(%arg0: tensor<4xf32>)
// CHECK: %[[SIN:.*]] = reprise.sin %arg0
// CHECK: %[[RULE:.*]] = reprise.custom_vjp %[[SIN]] wrt %arg0 {
// CHECK: ^bb0(%[[D:.*]]: tensor<4xf32>):
// CHECK: %[[OUT:.*]] = reprise.mul %[[D]], %arg0
// CHECK: reprise.yield %[[OUT]]
// CHECK: } : tensor<4xf32> wrt tensor<4xf32> -> tensor<4xf32>
// CHECK: reprise.sum %[[RULE]]
func.func public @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.custom_call @reprise.custom_vjp(%0, %x, %x) {called_computations = [@backward]} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func private @backward(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %d, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func private @model
// CHECK: %[[TANH:.*]] = reprise.tanh %arg0 {reprise.label = #reprise.label<prefer_save>}
// CHECK: %[[NAMED:.*]] = reprise.name %[[TANH]] "kept" {reprise.label = #reprise.label<prefer_offload>}
func.func public @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %x : tensor<f32>
  %1 = stablehlo.custom_call @reprise.label(%0) {label = "prefer_save"} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @reprise.name(%1) {value_name = "kept"} : (tensor<f32>) -> tensor<f32>
  %3 = stablehlo.custom_call @reprise.label(%2) {label = "prefer_offload"} : (tensor<f32>) -> tensor<f32>
  %4 = stablehlo.custom_call @reprise.label(%x) {label = "prefer_save"} : (tensor<f32>) -> tensor<f32>
  %5 = stablehlo.multiply %3, %4 : tensor<f32>
  return %5 : tensor<f32>
}

// INVALID: 5 ops are not imported from StableHLO
// INVALID: note: 'stablehlo.custom_call' has an unknown form
// INVALID: note: 'stablehlo.custom_call' has an unknown form
// INVALID: note: 'stablehlo.custom_call' calls a symbol that is not a function of one block
// INVALID: note: 'stablehlo.custom_call' has an unknown form
// INVALID: note: 'stablehlo.custom_call' has an unknown form
