// Dot products, convolutions and reductions over windows, in any layout.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<2x3x5x7xf32>, %[[K:[^:]*]]: tensor<2x5x3x7xf32>, %[[IMAGE:[^:]*]]: tensor<2x8x8x3xf32>, %[[FILTER:[^:]*]]: tensor<3x3x3x4xf32>)
func.func public @main(%q: tensor<2x3x5x7xf32>, %k: tensor<2x5x3x7xf32>, %image: tensor<2x8x8x3xf32>, %filter: tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32> {
  // CHECK-NEXT: reprise.dot_general %[[Q]], %[[K]] batch [0, 1] x [0, 2] contracting [3] x [3]
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x5x7xf32>, tensor<2x5x3x7xf32>) -> tensor<2x3x5x5xf32>
  // CHECK-NEXT: reprise.dot_general %[[Q]], %[[K]] contracting [0] x [0]
  %1 = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x5x7xf32>, tensor<2x5x3x7xf32>) -> tensor<3x5x7x5x3x7xf32>
  // CHECK: %[[NCHW:.*]] = reprise.transpose %[[IMAGE]] [0, 3, 1, 2]
  // CHECK-NEXT: %[[OIHW:.*]] = reprise.transpose %[[FILTER]] [3, 2, 0, 1]
  // CHECK-NEXT: %[[OUT:.*]] = reprise.convolution %[[NCHW]], %[[OIHW]] strides [2, 2] low [0, 0] high [1, 1] dilation [1, 1]
  // CHECK-NEXT: %[[RESULT:.*]] = reprise.transpose %[[OUT]] [0, 2, 3, 1]
  %2 = stablehlo.convolution(%image, %filter) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32>
  // A transposed convolution has holes in its image.
  // CHECK: %[[HOLES:.*]] = reprise.pad %{{.*}} with 0.000000e+00 : f32 low [0, 0, 0, 0] high [0, 0, 0, 0] interior [0, 0, 1, 1]
  // CHECK: reprise.convolution %[[HOLES]], %{{.*}} strides [1, 1] low [1, 1] high [2, 2] dilation [1, 1]
  %3 = "stablehlo.convolution"(%image, %filter) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<[[1, 2], [1, 2]]> : tensor<2x2xi64>, window_strides = array<i64: 1, 1>}> : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x16x16x4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[FLAT:.*]] = reprise.reshape %{{.*}} : (tensor<2x4x4x4xf32>) -> tensor<8x1x4x4xf32>
  // CHECK-NEXT: reprise.max_pool %[[FLAT]] window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
  %4 = "stablehlo.reduce_window"(%2, %low) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x2x2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: reprise.constant dense<1.000000e+00> : tensor<1x1x2x2xf32>
  // CHECK: reprise.convolution %{{.*}} strides [1, 2]
  %5 = "stablehlo.reduce_window"(%2, %zero) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x3x2x4xf32>
  // jnp.cumsum
  // CHECK: reprise.cumsum %[[RESULT]] dim 1
  %6 = "stablehlo.reduce_window"(%2, %zero) <{padding = dense<[[0, 0], [3, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 4, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x4x4x4xf32>
  // What a filter meets along the depth are channels.
  // CHECK: %[[TAPS:.*]] = reprise.concatenate {{.*}} dim 2 : {{.*}} -> tensor<8x3x3x2x8xf32>
  // CHECK-NEXT: %[[IMAGES:.*]] = reprise.reshape %[[TAPS]] : {{.*}} -> tensor<8x9x2x8xf32>
  // CHECK: reprise.convolution %[[IMAGES]], %{{.*}} strides [1, 1] low [1, 0] high [1, 0] dilation [1, 1]
  %volume = stablehlo.reshape %image : (tensor<2x8x8x3xf32>) -> tensor<2x4x2x8x3xf32>
  %weights = stablehlo.reshape %filter : (tensor<3x3x3x4xf32>) -> tensor<3x3x1x3x4xf32>
  %7 = stablehlo.convolution(%volume, %weights) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[1, 1], [1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x2x8x3xf32>, tensor<3x3x1x3x4xf32>) -> tensor<2x4x2x8x4xf32>
  // CHECK: reprise.max_pool %{{.*}} window [3, 2] strides [1, 2]
  // CHECK: reprise.max_pool %{{.*}} window [2] strides [2]
  %8 = "stablehlo.reduce_window"(%7, %low) <{padding = dense<[[0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<5x2xi64>, window_dimensions = array<i64: 1, 2, 3, 2, 1>, window_strides = array<i64: 1, 2, 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x4x2x8x4xf32>, tensor<f32>) -> tensor<2x2x2x4x4xf32>
  return %2 : tensor<2x4x4x4xf32>
}
