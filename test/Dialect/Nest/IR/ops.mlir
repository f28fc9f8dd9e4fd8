// Every op of the dialect, written and read again.
// RUN: reprise-opt %s > %t && FileCheck %s < %t
// RUN: reprise-opt %t | FileCheck %s

// CHECK-LABEL: nest.program @elements elements 96 shared 64 {
nest.program @elements elements 96 shared 64 {
  // CHECK: nest.kernel outer(%[[O:.*]] = 2) rows(%[[I:.*]] = 4, %{{.*}} = 3) columns(%[[J:.*]] = 4) strides [12, 24, 4, 1]
  // CHECK-SAME: buffers(%[[X:.*]] = input 0, %[[N:.*]] = input 1, %[[S:.*]] = shared 0 + 64, %[[Y:.*]] = output 0) {
  nest.kernel outer(%o = 2) rows(%i = 4, %k = 3) columns(%j = 4) strides [12, 24, 4, 1]
      buffers(%x = input 0, %n = input 1, %s = shared 0 + 64, %y = output 0) {
    // CHECK: nest.read %[[X]][%[[O]] * 12 + %[[I]] * 24 + %[[J]] + -3] : tensor<bf16>
    %0 = nest.read %x[%o * 12 + %i * 24 + %j + -3] : tensor<bf16>
    // CHECK: nest.read %[[N]][7] : tensor<i64>
    %1 = nest.read %n[3 + 4] : tensor<i64>
    // CHECK: nest.position %{{.*}} below 5 : tensor<i64>
    %2 = nest.position %1 below 5 : tensor<i64>
    // CHECK: nest.quotient[%[[J]] + -1] by 2 below 2
    %3 = nest.quotient[%j + -1] by 2 below 2
    // CHECK: nest.number[%{{.*}} + %{{.*}} * 5] : tensor<bf16>
    %4 = nest.number[%2 + %3 * 5] : tensor<bf16>
    // CHECK: nest.choose %{{.*}} if[%[[J]]] in 1 to 4 step 2 else %{{.*}} : tensor<bf16>
    %5 = nest.choose %0 if[%j] in 1 to 4 step 2 else %4 : tensor<bf16>
    // CHECK: nest.choose %{{.*}} if[%[[J]]] in 1 to 4 else %{{.*}} : tensor<bf16>
    %6 = nest.choose %5 if[%j] in 1 to 4 else %4 : tensor<bf16>
    // CHECK: nest.meet sum %[[S]][%[[O]]] parts 5 by 2 over 320 : tensor<bf16>
    %7 = nest.meet sum %s[%o] parts 5 by 2 over 320 : tensor<bf16>
    // CHECK: nest.tile : tensor<bf16>
    %8 = nest.tile : tensor<bf16>
    // CHECK: nest.store elements %{{.*}}, %[[Y]] : tensor<bf16>
    nest.store elements %6, %y : tensor<bf16>
    // CHECK: nest.store single %{{.*}} : tensor<bf16>
    nest.store single %8 : tensor<bf16>
  }
}

// CHECK-LABEL: nest.program @reductions
nest.program @reductions elements 96 shared 0 {
  // CHECK: nest.kernel columns(%[[C:.*]] = 8) buffers(
  nest.kernel columns(%c = 8) buffers(%x = input 0, %y = output 0, %p = shared 0) {
    // CHECK: %[[SUM:.*]] = nest.sequence max(%[[K:.*]] = 3, %[[L:.*]] = 2) {
    // CHECK: nest.read %{{.*}}[%[[K]] * 16 + %[[L]] * 8 + %[[C]]] : tensor<f32>
    // CHECK: nest.yield
    // CHECK: } : tensor<f32>
    %0 = nest.sequence max(%k = 3, %l = 2) {
      %1 = nest.read %x[%k * 16 + %l * 8 + %c] : tensor<f32>
      nest.yield %1 : tensor<f32>
    } : tensor<f32>
    // CHECK: nest.reduce sum %[[SUM]] over 8 : tensor<f32>
    %2 = nest.reduce sum %0 over 8 : tensor<f32>
    // CHECK: nest.store rows
    nest.store rows %2, %y : tensor<f32>
    // CHECK: nest.store row_parts by product %[[SUM]], %{{.*}} : tensor<f32>
    nest.store row_parts by product %0, %p : tensor<f32>
    // CHECK: nest.store column_parts by min
    nest.store column_parts by min %0, %p : tensor<f32>
  }
}

// CHECK-LABEL: nest.program @others
nest.program @others elements 64 shared 0 {
  // CHECK: nest.alone buffers(input 0, output 1) stored [true] {
  nest.alone buffers(input 0, output 1) stored [true] {
  ^bb0(%x: tensor<8x8xf32>):
    // CHECK: reprise.cumsum
    %0 = reprise.cumsum %x dim 1 : tensor<8x8xf32>
  }
  nest.kernel columns(%c = 8) buffers(%s = stream 1, %k = input 0, %y = output 0) {
    %0 = nest.read %s[0] : tensor<i64>
    %1 = nest.read %k[0] : tensor<i64>
    %one = reprise.constant dense<1.0> : tensor<f32>
    // CHECK: nest.draw[%{{.*}} + 2] stream %[[W:.*]] seed %[[V:.*]] offset %[[V]] origin %[[V]], %[[V]] in [4, 8] {
    // CHECK: reprise.dropout
    // CHECK: } : tensor<f32>
    %2 = nest.draw[%c + 2] stream %0 seed %1 offset %1 origin %1, %1 in [4, 8] {
      %3 = reprise.dropout %one {rate = 0.5 : f64} : tensor<f32>
    } : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}
