// Inverse trigonometric and gamma functions are ops of ours; values are compared with JAX's by test/Frameworks/test_jax.py.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<4xf32>, %[[H:[^:]*]]: tensor<4xf16>)
// NONE-NOT: chlo
// NONE-NOT: stablehlo
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %h: tensor<4xf16>) -> tensor<4xf32> {
  // CHECK: reprise.bitcast %[[Y]] : tensor<4xf32> to tensor<4xi32>
  // CHECK: reprise.constant dense<1.57079637> : tensor<4xf32>
  %0 = stablehlo.atan2 %x, %y : tensor<4xf32>
  %1 = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: reprise.constant dense<676.520386> : tensor<4xf32>
  %6 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  // 16 bits are computed in f32.
  // CHECK: %[[WIDE:.*]] = reprise.cast %[[H]] : tensor<4xf16> to tensor<4xf32>
  // CHECK: reprise.floor
  // CHECK: reprise.cast %{{.*}} : tensor<4xf32> to tensor<4xf16>
  %7 = chlo.digamma %h : tensor<4xf16> -> tensor<4xf16>
  %8 = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: reprise.shift_right
  %i = stablehlo.constant dense<5> : tensor<4xi32>
  %9 = stablehlo.popcnt %i : tensor<4xi32>
  %10 = stablehlo.count_leading_zeros %i : tensor<4xi32>
  return %8 : tensor<4xf32>
}
