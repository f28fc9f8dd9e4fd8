// Row ops read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @rows(
func.func @rows(%x: tensor<4x10xbf16>, %labels: tensor<4xi32>, %w: tensor<10xbf16>) {
  // CHECK-NEXT: reprise.softmax %{{.*}} : tensor<4x10xbf16>
  %0 = reprise.softmax %x : tensor<4x10xbf16>
  // CHECK-NEXT: reprise.log_softmax %{{.*}} : tensor<4x10xbf16>
  %1 = reprise.log_softmax %x : tensor<4x10xbf16>
  // CHECK-NEXT: reprise.cross_entropy %{{.*}}, %{{.*}} : (tensor<4x10xbf16>, tensor<4xi32>) -> tensor<4xbf16>
  %2 = reprise.cross_entropy %x, %labels : (tensor<4x10xbf16>, tensor<4xi32>) -> tensor<4xbf16>
  // CHECK-NEXT: reprise.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x10xbf16>, tensor<10xbf16>, tensor<10xbf16>) -> (tensor<4x10xbf16>, tensor<4xf32>, tensor<4xf32>)
  %3, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x10xbf16>, tensor<10xbf16>, tensor<10xbf16>) -> (tensor<4x10xbf16>, tensor<4xf32>, tensor<4xf32>)
  return
}

// A row without rows above it.
// CHECK-LABEL: func @one_row(
func.func @one_row(%x: tensor<10xf64>, %label: tensor<i64>) {
  // CHECK-NEXT: reprise.softmax %{{.*}} : tensor<10xf64>
  %0 = reprise.softmax %x : tensor<10xf64>
  // CHECK-NEXT: reprise.cross_entropy %{{.*}}, %{{.*}} : (tensor<10xf64>, tensor<i64>) -> tensor<f64>
  %1 = reprise.cross_entropy %x, %label : (tensor<10xf64>, tensor<i64>) -> tensor<f64>
  return
}

// CHECK-LABEL: func @norms(
func.func @norms(%x: tensor<4x6x5xbf16>, %w: tensor<5xbf16>, %c: tensor<6xbf16>, %s: tensor<6xf32>) {
  // CHECK-NEXT: reprise.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x6x5xbf16>, tensor<5xbf16>) -> (tensor<4x6x5xbf16>, tensor<4x6xf32>)
  %0:2 = reprise.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<4x6x5xbf16>, tensor<5xbf16>) -> (tensor<4x6x5xbf16>, tensor<4x6xf32>)
  // CHECK-NEXT: reprise.group_norm %{{.*}}, %{{.*}}, %{{.*}} groups 3 {epsilon = 1.000000e-05 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6x5xbf16>, tensor<4x3xf32>, tensor<4x3xf32>)
  %1:3 = reprise.group_norm %x, %c, %c groups 3 {epsilon = 1.0e-5 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6x5xbf16>, tensor<4x3xf32>, tensor<4x3xf32>)
  // CHECK-NEXT: reprise.batch_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6x5xbf16>, tensor<6xf32>, tensor<6xf32>)
  %2:3 = reprise.batch_norm %x, %c, %c {epsilon = 1.0e-5 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6x5xbf16>, tensor<6xf32>, tensor<6xf32>)
  // CHECK-NEXT: reprise.batch_statistics %{{.*}}, %{{.*}} count 20 : tensor<6xf32>
  %4:2 = reprise.batch_statistics %2#1, %2#2 count 20 : tensor<6xf32>
  // CHECK-NEXT: reprise.batch_statistics %{{.*}}, %{{.*}} count 20 deferred : tensor<6xf32>
  %5:2 = reprise.batch_statistics %2#1, %2#2 count 20 deferred : tensor<6xf32>
  // CHECK-NEXT: reprise.batch_norm_inference %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x5xbf16>
  %3 = reprise.batch_norm_inference %x, %c, %c, %s, %s {epsilon = 1.0e-5 : f64} : (tensor<4x6x5xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x5xbf16>
  return
}
