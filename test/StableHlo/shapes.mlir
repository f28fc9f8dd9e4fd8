// Data movement.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x6xf32>, %[[I:[^:]*]]: tensor<i32>)
func.func public @main(%x: tensor<4x6xf32>, %i: tensor<i32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: reprise.iota dim 1 : tensor<4x6xi32>
  %0 = stablehlo.iota dim = 1 : tensor<4x6xi32>
  // CHECK-NEXT: reprise.reshape %[[X]] : (tensor<4x6xf32>) -> tensor<24xf32>
  %1 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  // CHECK-NEXT: reprise.transpose %[[X]] [1, 0]
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: reprise.slice %[[X]] from [0, 1] to [4, 6] by [1, 2]
  %3 = stablehlo.slice %x [0:4, 1:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
  // Dimensions of size 1 repeat.
  // CHECK-NEXT: %[[COLUMN:.*]] = reprise.slice %[[X]]
  // CHECK-NEXT: %[[FLAT:.*]] = reprise.reshape %[[COLUMN]] : (tensor<4x1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.broadcast %[[FLAT]] dims [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.slice %x [0:4, 0:1] : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
  // CHECK: reprise.concatenate %[[X]], %[[X]] dim 1
  %6 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // Negative padding cuts off.
  // CHECK: %[[PADDED:.*]] = reprise.pad %[[X]] with 0.000000e+00 : f32 low [1, 0] high [0, 2] interior [1, 0] : (tensor<4x6xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: reprise.slice %[[PADDED]] from [0, 1] to [8, 8] by [1, 1]
  %7 = stablehlo.pad %x, %zero, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x7xf32>
  // CHECK: reprise.dynamic_slice %[[X]] at %{{.*}} : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<1x6xf32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %8 = stablehlo.dynamic_slice %x, %i, %c, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  // Starts that follow from constants, clamped.
  // CHECK: reprise.slice %[[X]] from [3, 0] to [4, 6]
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %below = stablehlo.compare LT, %seven, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %start = stablehlo.select %below, %c, %seven : tensor<i1>, tensor<i32>
  %9 = stablehlo.dynamic_slice %x, %start, %c, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  // CHECK: %[[LAST:.*]] = reprise.constant dense<5> : tensor<6xi32>
  // CHECK: reprise.gather
  %10 = stablehlo.reverse %x, dims = [1] : tensor<4x6xf32>
  // CHECK: %[[RESULT:.*]] = reprise.dynamic_update %{{.*}} into %[[X]] at %{{.*}} : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<2xi32>)
  %11 = stablehlo.dynamic_update_slice %x, %9, %i, %c : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  // CHECK: return %[[RESULT]]
  return %11 : tensor<4x6xf32>
}
