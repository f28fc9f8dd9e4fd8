// Attention reads back as it was written, before and after the random phase.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

!q = tensor<2x3x4x8xbf16>
!k = tensor<2x3x6x8xbf16>
!row = tensor<2x3x4xf32>

// CHECK-LABEL: func @attention(
func.func @attention(%q: !q, %k: !k, %v: !k) {
  // CHECK-NEXT: reprise.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64} : (tensor<2x3x4x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x3x6x8xbf16>) -> (tensor<2x3x4x8xbf16>, tensor<2x3x4xf32>)
  %0:2 = reprise.attention %q, %k, %v {scale = 0.125 : f64} : (!q, !k, !k) -> (!q, !row)
  // CHECK-NEXT: reprise.attention %{{.*}} {causal, rate = 1.000000e-01 : f64, scale = 1.250000e-01 : f64} :
  %1:2 = reprise.attention %q, %k, %v {causal, rate = 0.1 : f64, scale = 0.125 : f64} : (!q, !k, !k) -> (!q, !row)
  return
}

// CHECK-LABEL: func @threaded(
func.func @threaded(%q: !q, %k: !k, %v: !k, %seed: tensor<i64>, %offset: tensor<i64>, %origin: tensor<4xi64>) {
  // CHECK-NEXT: reprise.attention %{{.*}}, %{{.*}}, %{{.*}} seed %{{.*}} offset %{{.*}} {rate = 1.000000e-01 : f64, scale = 1.250000e-01 : f64, stream = 3 : i64} :
  %0:2 = reprise.attention %q, %k, %v seed %seed offset %offset {rate = 0.1 : f64, scale = 0.125 : f64, stream = 3 : i64} : (!q, !k, !k) -> (!q, !row)
  // CHECK-NEXT: reprise.attention %{{.*}} seed %{{.*}} offset %{{.*}} origin %{{.*}} : tensor<4xi64> {global_shape = array<i64: 8, 3, 4, 6>, rate = 1.000000e-01 : f64, scale = 1.250000e-01 : f64, stream = 3 : i64} :
  %1:2 = reprise.attention %q, %k, %v seed %seed offset %offset origin %origin : tensor<4xi64> {rate = 0.1 : f64, scale = 0.125 : f64, stream = 3 : i64, global_shape = array<i64: 8, 3, 4, 6>} : (!q, !k, !k) -> (!q, !row)
  return
}

// CHECK-LABEL: func @backward(
func.func @backward(%q: !q, %k: !k, %v: !k, %out: !q, %lse: !row, %dout: !q, %dlse: !row, %seed: tensor<i64>, %offset: tensor<i64>) {
  // CHECK-NEXT: reprise.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f64} : (tensor<2x3x4x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x3x4x8xbf16>, tensor<2x3x4xf32>, tensor<2x3x4x8xbf16>) -> (tensor<2x3x4x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x3x6x8xbf16>)
  %0:3 = reprise.attention_backward %q, %k, %v, %out, %lse, %dout {causal, scale = 0.125 : f64} : (!q, !k, !k, !q, !row, !q) -> (!q, !k, !k)
  // CHECK-NEXT: reprise.attention_backward %{{.*}} dlse %{{.*}} : tensor<2x3x4xf32> seed %{{.*}} offset %{{.*}} {rate = 1.000000e-01 : f64, replay = 1 : i64, scale = 1.250000e-01 : f64, stream = 0 : i64} :
  %1:3 = reprise.attention_backward %q, %k, %v, %out, %lse, %dout dlse %dlse : !row seed %seed offset %offset {rate = 0.1 : f64, scale = 0.125 : f64, stream = 0 : i64, replay = 1 : i64} : (!q, !k, !k, !q, !row, !q) -> (!q, !k, !k)
  return
}

// Two query heads for each key head; bias and mask are repeated.
// CHECK-LABEL: func @scores(
func.func @scores(%q: tensor<2x6x4x8xbf16>, %k: tensor<2x3x5x8xbf16>, %row: tensor<2x6x4xf32>,
                  %bias: tensor<1x6x1x5xf32>, %mask: tensor<2x1x1x5xi1>, %seed: tensor<i64>) {
  // CHECK-NEXT: reprise.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} : tensor<1x6x1x5xf32> mask %{{.*}} : tensor<2x1x1x5xi1> {scale = 1.250000e-01 : f64} : (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>) ->
  %0:2 = reprise.attention %q, %k, %k bias %bias : tensor<1x6x1x5xf32> mask %mask : tensor<2x1x1x5xi1> {scale = 0.125 : f64}
    : (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>) -> (tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>)
  // CHECK-NEXT: reprise.attention %{{.*}} mask %{{.*}} : tensor<2x1x1x5xi1> seed %{{.*}} offset %{{.*}} {rate
  %1:2 = reprise.attention %q, %k, %k mask %mask : tensor<2x1x1x5xi1> seed %seed offset %seed {scale = 0.125 : f64, rate = 0.5 : f64, stream = 0 : i64}
    : (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>) -> (tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>)
  // CHECK-NEXT: reprise.attention_backward %{{.*}} dlse %{{.*}} : tensor<2x6x4xf32> bias %{{.*}} : tensor<1x6x1x5xf32> mask %{{.*}} : tensor<2x1x1x5xi1> {causal, scale = 1.250000e-01 : f64} : (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>, tensor<2x6x4x8xbf16>) -> (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x6x4x5xf32>)
  %2:4 = reprise.attention_backward %q, %k, %k, %q, %row, %q dlse %row : tensor<2x6x4xf32> bias %bias : tensor<1x6x1x5xf32> mask %mask : tensor<2x1x1x5xi1> {causal, scale = 0.125 : f64}
    : (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>, tensor<2x6x4x8xbf16>)
    -> (tensor<2x6x4x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x3x5x8xbf16>, tensor<2x6x4x5xf32>)
  return
}

// Values, results and their gradients have a width of their own.
// CHECK-LABEL: func @value_width(
func.func @value_width(%q: tensor<2x4x3x8xbf16>, %k: tensor<2x2x5x8xbf16>, %v: tensor<2x2x5x6xbf16>, %dout: tensor<2x4x3x6xbf16>) {
  // CHECK-NEXT: reprise.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64} : (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x6xbf16>) -> (tensor<2x4x3x6xbf16>, tensor<2x4x3xf32>)
  %0:2 = reprise.attention %q, %k, %v {scale = 0.125 : f64}
    : (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x6xbf16>) -> (tensor<2x4x3x6xbf16>, tensor<2x4x3xf32>)
  // CHECK-NEXT: reprise.attention_backward %{{.*}} -> (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x6xbf16>)
  %1:3 = reprise.attention_backward %q, %k, %v, %0#0, %0#1, %dout {scale = 0.125 : f64}
    : (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x6xbf16>, tensor<2x4x3x6xbf16>, tensor<2x4x3xf32>, tensor<2x4x3x6xbf16>)
    -> (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x2x5x6xbf16>)
  return
}

// CHECK-LABEL: func @rotary(
func.func @rotary(%x: tensor<2x3x4x8xbf16>, %c: tensor<4x4xf32>, %row: tensor<4x8xf32>) {
  // CHECK-NEXT: reprise.rotary %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3x4x8xbf16>, tensor<4x4xf32>
  %0 = reprise.rotary %x, %c, %c : tensor<2x3x4x8xbf16>, tensor<4x4xf32>
  // CHECK-NEXT: reprise.rotary %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x4xf32>
  %1 = reprise.rotary %row, %c, %c : tensor<4x8xf32>, tensor<4x4xf32>
  return
}
