// Of the cotangents that nothing reads soon, the largest moves behind a quarter of those that follow.
// RUN: reprise-opt %s --reprise-defer-gradient | FileCheck %s

// %g is the largest, but %c reads it at once; %w is as large, and read at the end; %v is smaller.
// CHECK-LABEL: reprise.program @step devices [0] (
// CHECK: %[[G:.*]] = reprise.broadcast
// CHECK-NEXT: reprise.slice %[[G]]
// CHECK-NEXT: reprise.neg {{.*}} : tensor<1x4xf32>
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: %[[W:.*]] = reprise.neg %[[G]]
// CHECK-NEXT: reprise.exp
// CHECK: %[[S:.*]] = reprise.sub {{.*}}, %[[W]]
// CHECK: return
reprise.program @step devices [0] (%x: tensor<4xf32>, %p: tensor<8x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<8x4xf32>) {
  %y = reprise.exp %x {reprise.primal} : tensor<4xf32>
  %g = reprise.broadcast %y dims [1] {reprise.cotangent} : (tensor<4xf32>) -> tensor<8x4xf32>
  %w = reprise.neg %g {reprise.cotangent} : tensor<8x4xf32>
  %c = reprise.slice %g from [0, 0] to [1, 4] by [1, 1] {reprise.cotangent} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %v = reprise.neg %c {reprise.cotangent} : tensor<1x4xf32>
  %0 = reprise.sin %c {reprise.cotangent} : tensor<1x4xf32>
  %1 = reprise.exp %0 {reprise.cotangent} : tensor<1x4xf32>
  %2 = reprise.cos %1 {reprise.cotangent} : tensor<1x4xf32>
  %3 = reprise.exp %2 {reprise.cotangent} : tensor<1x4xf32>
  %4 = reprise.cos %3 {reprise.cotangent} : tensor<1x4xf32>
  %5 = reprise.exp %4 {reprise.cotangent} : tensor<1x4xf32>
  %6 = reprise.cos %5 {reprise.cotangent} : tensor<1x4xf32>
  %7 = reprise.exp %6 {reprise.cotangent} : tensor<1x4xf32>
  %8 = reprise.cos %7 {reprise.cotangent} : tensor<1x4xf32>
  %9 = reprise.exp %8 {reprise.cotangent} : tensor<1x4xf32>
  %10 = reprise.cos %9 {reprise.cotangent} : tensor<1x4xf32>
  %s = reprise.sub %p, %w : tensor<8x4xf32>
  reprise.return %10, %v, %s : tensor<1x4xf32>, tensor<1x4xf32>, tensor<8x4xf32>
}

// Nothing is moved where everything is read at once.
// CHECK-LABEL: reprise.program @chain devices [0] (
// CHECK: reprise.exp
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: reprise.cos
reprise.program @chain devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x {reprise.cotangent} : tensor<4xf32>
  %1 = reprise.sin %0 {reprise.cotangent} : tensor<4xf32>
  %2 = reprise.cos %1 {reprise.cotangent} : tensor<4xf32>
  reprise.return %2 : tensor<4xf32>
}

// A gradient of one scope waits for others of that scope alone, not between the forward ops of the next one.
// CHECK-LABEL: reprise.program @scopes devices [0] (
// CHECK: reprise.exp %{{.*}} {reprise.primal}
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: reprise.broadcast
// CHECK-NEXT: reprise.cos
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: reprise.cos
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: reprise.exp %{{.*}} {reprise.primal}
// CHECK-NEXT: reprise.neg
reprise.program @scopes devices [0] (%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = reprise.exp %x {reprise.primal} : tensor<4xf32>
  %w = reprise.broadcast %0 dims [1] {reprise.cotangent} : (tensor<4xf32>) -> tensor<8x4xf32>
  %1 = reprise.sin %0 {reprise.cotangent} : tensor<4xf32>
  %2 = reprise.cos %1 {reprise.cotangent} : tensor<4xf32>
  %3 = reprise.sin %2 {reprise.cotangent} : tensor<4xf32>
  %4 = reprise.cos %3 {reprise.cotangent} : tensor<4xf32>
  %5 = reprise.sin %4 {reprise.cotangent} : tensor<4xf32>
  %6 = reprise.exp %y {reprise.primal} : tensor<4xf32>
  %7 = reprise.neg %6 {reprise.primal} : tensor<4xf32>
  %8 = reprise.neg %7 {reprise.primal} : tensor<4xf32>
  %9 = reprise.neg %8 {reprise.primal} : tensor<4xf32>
  %10 = reprise.cos %9 {reprise.cotangent} : tensor<4xf32>
  %11 = reprise.sin %10 {reprise.cotangent} : tensor<4xf32>
  %12 = reprise.cos %11 {reprise.cotangent} : tensor<4xf32>
  %13 = reprise.sin %12 {reprise.cotangent} : tensor<4xf32>
  %14 = reprise.cos %13 {reprise.cotangent} : tensor<4xf32>
  %15 = reprise.sin %14 {reprise.cotangent} : tensor<4xf32>
  %16 = reprise.cos %15 {reprise.cotangent} : tensor<4xf32>
  %17 = reprise.sin %16 {reprise.cotangent} : tensor<4xf32>
  %18 = reprise.cos %17 {reprise.cotangent} : tensor<4xf32>
  %19 = reprise.sin %18 {reprise.cotangent} : tensor<4xf32>
  %20 = reprise.cos %19 {reprise.cotangent} : tensor<4xf32>
  reprise.return %w, %5, %20 : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}
