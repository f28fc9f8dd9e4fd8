// Convolutions and poolings read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

!image = tensor<2x6x9x8xf32>
!filter = tensor<4x3x3x2xf32>
!output = tensor<2x4x5x6xf32>

// CHECK-LABEL: func @convolutions(
func.func @convolutions(%image: !image, %filter: !filter, %output: !output) {
  // CHECK-NEXT: reprise.convolution %{{.*}}, %{{.*}} strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64} : (tensor<2x6x9x8xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x5x6xf32>
  %0 = reprise.convolution %image, %filter strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64} : (!image, !filter) -> !output
  // CHECK-NEXT: reprise.convolution_transpose %{{.*}}, %{{.*}} strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64, replay = 1 : i64} : (tensor<2x4x5x6xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x9x8xf32>
  %1 = reprise.convolution_transpose %output, %filter strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64, replay = 1 : i64} : (!output, !filter) -> !image
  // CHECK-NEXT: reprise.convolution_filter %{{.*}}, %{{.*}} strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64} : (tensor<2x6x9x8xf32>, tensor<2x4x5x6xf32>) -> tensor<4x3x3x2xf32>
  %2 = reprise.convolution_filter %image, %output strides [2, 1] low [1, 0] high [1, 0] dilation [1, 2] {groups = 2 : i64} : (!image, !output) -> !filter
  return
}

// CHECK-LABEL: func @one_dimension(
func.func @one_dimension(%image: tensor<2x6x9xbf16>, %filter: tensor<4x6x3xbf16>) {
  // CHECK-NEXT: reprise.convolution %{{.*}}, %{{.*}} strides [1] low [2] high [0] dilation [1] : (tensor<2x6x9xbf16>, tensor<4x6x3xbf16>) -> tensor<2x4x9xbf16>
  %0 = reprise.convolution %image, %filter strides [1] low [2] high [0] dilation [1] : (tensor<2x6x9xbf16>, tensor<4x6x3xbf16>) -> tensor<2x4x9xbf16>
  return
}

// CHECK-LABEL: func @pools(
func.func @pools(%image: !image, %pooled: tensor<2x6x5x4xf32>) {
  // CHECK-NEXT: reprise.max_pool %{{.*}} window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (tensor<2x6x9x8xf32>) -> (tensor<2x6x5x4xf32>, tensor<2x6x5x4xi32>)
  %0:2 = reprise.max_pool %image window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (!image) -> (tensor<2x6x5x4xf32>, tensor<2x6x5x4xi32>)
  // CHECK-NEXT: reprise.max_pool %{{.*}} adaptive window [] strides [] low [] high [] : (tensor<2x6x9x8xf32>) -> (tensor<2x6x2x3xf32>, tensor<2x6x2x3xi64>)
  %1:2 = reprise.max_pool %image adaptive window [] strides [] low [] high [] : (!image) -> (tensor<2x6x2x3xf32>, tensor<2x6x2x3xi64>)
  // CHECK-NEXT: reprise.average_pool %{{.*}} window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (tensor<2x6x9x8xf32>) -> tensor<2x6x5x4xf32>
  %2 = reprise.average_pool %image window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (!image) -> tensor<2x6x5x4xf32>
  // CHECK-NEXT: reprise.average_pool %{{.*}} adaptive window [] strides [] low [] high [] : (tensor<2x6x9x8xf32>) -> tensor<2x6x1x1xf32>
  %3 = reprise.average_pool %image adaptive window [] strides [] low [] high [] : (!image) -> tensor<2x6x1x1xf32>
  // CHECK-NEXT: reprise.average_pool_backward %{{.*}} window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (tensor<2x6x5x4xf32>) -> tensor<2x6x9x8xf32>
  %4 = reprise.average_pool_backward %pooled window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : (tensor<2x6x5x4xf32>) -> !image
  return
}
