// RUN: reprise-opt %s --exec-form-launches | FileCheck %s

// Streams belong to the launch, and draws of the body name them by position. So the bodies of the first two launches are
// alike. A launch lists a stream once.
// CHECK-LABEL: @streams
// CHECK: reprise.dropout {{.*}}stream = 0 : i64}
// CHECK: } {streams = array<i64: 5>}
// CHECK: reprise.dropout {{.*}}stream = 0 : i64}
// CHECK: } {streams = array<i64: 2>}
// CHECK: reprise.dropout {{.*}}stream = 0 : i64}
// CHECK: reprise.dropout {{.*}}stream = 1 : i64}
// CHECK: reprise.dropout {{.*}}stream = 0 : i64}
// CHECK: } {streams = array<i64: 9, 2>}
reprise.program @streams devices [0] (%x: tensor<8xf32>, %y: tensor<4xf32>, %z: tensor<6xf32>, %s: tensor<i64>) -> (tensor<8xf32>, tensor<4xf32>, tensor<6xf32>) {
  %0 = reprise.dropout %x seed %s offset %s {rate = 0.5, stream = 5 : i64} : tensor<8xf32>
  %1 = reprise.dropout %y seed %s offset %s {rate = 0.5, stream = 2 : i64} : tensor<4xf32>
  %2 = reprise.dropout %z seed %s offset %s {rate = 0.5, stream = 9 : i64} : tensor<6xf32>
  %3 = reprise.dropout %2 seed %s offset %s {rate = 0.5, stream = 2 : i64} : tensor<6xf32>
  %4 = reprise.dropout %3 seed %s offset %s {rate = 0.5, stream = 9 : i64} : tensor<6xf32>
  reprise.return %0, %1, %4 : tensor<8xf32>, tensor<4xf32>, tensor<6xf32>
}
