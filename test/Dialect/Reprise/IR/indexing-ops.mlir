// Reads and writes at computed positions read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @rows(
func.func @rows(%table: tensor<10x4xbf16>, %indices: tensor<2x3xi32>, %updates: tensor<2x3x4xbf16>) {
  // CHECK-NEXT: reprise.gather %{{.*}}[%{{.*}}] : (tensor<10x4xbf16>, tensor<2x3xi32>) -> tensor<2x3x4xbf16>
  %0 = reprise.gather %table[%indices] : (tensor<10x4xbf16>, tensor<2x3xi32>) -> tensor<2x3x4xbf16>
  // CHECK-NEXT: reprise.scatter_add %{{.*}} at %{{.*}} : (tensor<2x3xi32>, tensor<2x3x4xbf16>) -> tensor<10x4xbf16>
  %1 = reprise.scatter_add %updates at %indices : (tensor<2x3xi32>, tensor<2x3x4xbf16>) -> tensor<10x4xbf16>
  // CHECK-NEXT: reprise.scatter %{{.*}} into %{{.*}} at %{{.*}} : (tensor<10x4xbf16>, tensor<2x3xi32>, tensor<2x3x4xbf16>) -> tensor<10x4xbf16>
  %2 = reprise.scatter %updates into %table at %indices : (tensor<10x4xbf16>, tensor<2x3xi32>, tensor<2x3x4xbf16>) -> tensor<10x4xbf16>
  return
}

// CHECK-LABEL: func @along(
func.func @along(%x: tensor<3x10xf32>, %indices: tensor<3x2xi64>, %updates: tensor<3x2xf32>, %classes: tensor<3xi32>) {
  // CHECK-NEXT: reprise.take_along %{{.*}}[%{{.*}}] : (tensor<3x10xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  %0 = reprise.take_along %x[%indices] : (tensor<3x10xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  // CHECK-NEXT: reprise.scatter_add_along %{{.*}} at %{{.*}} : (tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x10xf32>
  %1 = reprise.scatter_add_along %updates at %indices : (tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x10xf32>
  // CHECK-NEXT: reprise.one_hot %{{.*}} : (tensor<3xi32>) -> tensor<3x5xf16>
  %2 = reprise.one_hot %classes : (tensor<3xi32>) -> tensor<3x5xf16>
  return
}

// CHECK-LABEL: func @windows(
func.func @windows(%x: tensor<8x10xi1>, %update: tensor<2x10xi1>, %starts: tensor<2xi32>, %scalar: tensor<i64>, %none: tensor<0xi64>) {
  // CHECK-NEXT: reprise.dynamic_slice %{{.*}} at %{{.*}} : (tensor<8x10xi1>, tensor<2xi32>) -> tensor<3x4xi1>
  %0 = reprise.dynamic_slice %x at %starts : (tensor<8x10xi1>, tensor<2xi32>) -> tensor<3x4xi1>
  // CHECK-NEXT: reprise.dynamic_update %{{.*}} into %{{.*}} at %{{.*}} : (tensor<8x10xi1>, tensor<2x10xi1>, tensor<2xi32>) -> tensor<8x10xi1>
  %1 = reprise.dynamic_update %update into %x at %starts : (tensor<8x10xi1>, tensor<2x10xi1>, tensor<2xi32>) -> tensor<8x10xi1>
  // CHECK-NEXT: reprise.dynamic_slice %{{.*}} at %{{.*}} : (tensor<i64>, tensor<0xi64>) -> tensor<i64>
  %2 = reprise.dynamic_slice %scalar at %none : (tensor<i64>, tensor<0xi64>) -> tensor<i64>
  return
}
