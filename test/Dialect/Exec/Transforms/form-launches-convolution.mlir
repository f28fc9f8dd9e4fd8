// RUN: reprise-opt %s --exec-form-launches -split-input-file | FileCheck %s

!image = tensor<2x4x8x8xf32>

// Bias and activation join the convolution that they follow.
// CHECK-LABEL: @bias
// CHECK: exec.launch
// CHECK-NEXT: reprise.convolution
// CHECK: reprise.relu
// CHECK-NOT: exec.launch
reprise.program @bias devices [0] (%x: !image, %w: tensor<4x4x3x3xf32>, %b: tensor<4xf32>) -> !image {
  %0 = reprise.convolution %x, %w strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (!image, tensor<4x4x3x3xf32>) -> !image
  %1 = reprise.broadcast %b dims [1] : (tensor<4xf32>) -> !image
  %2 = reprise.add %0, %1 : !image
  %3 = reprise.relu %2 : !image
  reprise.return %3 : !image
}

// -----

// The parts of a strided image gradient are finished apart, and a pooling stands alone.
// CHECK-LABEL: @alone
// CHECK: exec.launch
// CHECK: reprise.convolution_transpose
// CHECK: exec.launch
// CHECK: reprise.relu
// CHECK: exec.launch
// CHECK: reprise.average_pool
reprise.program @alone devices [0] (%y: tensor<2x4x4x4xf32>, %w: tensor<4x4x2x2xf32>) -> tensor<2x4x4x4xf32> {
  %0 = reprise.convolution_transpose %y, %w strides [2, 2] low [0, 0] high [0, 0] dilation [1, 1] : (tensor<2x4x4x4xf32>, tensor<4x4x2x2xf32>) -> tensor<2x4x8x8xf32>
  %1 = reprise.relu %0 : tensor<2x4x8x8xf32>
  %2 = reprise.average_pool %1 window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  reprise.return %2 : tensor<2x4x4x4xf32>
}
