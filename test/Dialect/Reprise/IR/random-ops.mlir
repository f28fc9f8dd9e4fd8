// Random draws read back as they were written, before and after the random phase.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @draws(
func.func @draws(%x: tensor<4xf32>) {
  // CHECK-NEXT: reprise.random_uniform : tensor<4xf32>
  %0 = reprise.random_uniform : tensor<4xf32>
  // CHECK-NEXT: reprise.random_uniform {high = 2.000000e+00 : f64, low = -1.000000e+00 : f64} : tensor<4xbf16>
  %1 = reprise.random_uniform {low = -1.0 : f64, high = 2.0 : f64} : tensor<4xbf16>
  // CHECK-NEXT: reprise.random_uniform_int {high = 4294967296 : i64, low = 0 : i64} : tensor<4xi64>
  %2 = reprise.random_uniform_int {low = 0 : i64, high = 4294967296 : i64} : tensor<4xi64>
  // CHECK-NEXT: reprise.random_uniform_int {high = 2147483648 : i64, low = -2147483648 : i64} : tensor<4xi32>
  %3 = reprise.random_uniform_int {low = -2147483648 : i64, high = 2147483648 : i64} : tensor<4xi32>
  // CHECK-NEXT: reprise.random_normal {std = 2.000000e-02 : f64} : tensor<4xf16>
  %4 = reprise.random_normal {std = 0.02 : f64} : tensor<4xf16>
  // CHECK-NEXT: reprise.random_bernoulli {probability = 2.500000e-01 : f64} : tensor<4xi1>
  %5 = reprise.random_bernoulli {probability = 0.25 : f64} : tensor<4xi1>
  // A rate may be any float: f64 is what counts.
  // CHECK-NEXT: reprise.dropout %{{.*}} {rate = 1.000000e-01 : f32} : tensor<4xf32>
  %6 = reprise.dropout %x {rate = 0.1 : f32} : tensor<4xf32>
  return
}

// CHECK-LABEL: func @threaded(
func.func @threaded(%x: tensor<4x2xf32>, %seed: tensor<i64>, %offset: tensor<i64>, %origin: tensor<2xi64>) {
  // CHECK-NEXT: reprise.random_normal seed %{{.*}} offset %{{.*}} {stream = 1 : i64} : tensor<4x2xf32>
  %0 = reprise.random_normal seed %seed offset %offset {stream = 1 : i64} : tensor<4x2xf32>
  // CHECK-NEXT: reprise.random_normal seed %{{.*}} offset %{{.*}} origin %{{.*}} : tensor<2xi64> {global_shape = array<i64: 8, 8>, stream = 1 : i64} : tensor<4x2xf32>
  %1 = reprise.random_normal seed %seed offset %offset origin %origin : tensor<2xi64> {stream = 1 : i64, global_shape = array<i64: 8, 8>} : tensor<4x2xf32>
  // CHECK-NEXT: reprise.dropout %{{.*}} seed %{{.*}} offset %{{.*}} {rate = 1.000000e+00 : f64, replay = 3 : i64, stream = 2 : i64} : tensor<4x2xf32>
  %2 = reprise.dropout %x seed %seed offset %offset {rate = 1.0 : f64, stream = 2 : i64, replay = 3 : i64} : tensor<4x2xf32>
  return
}
