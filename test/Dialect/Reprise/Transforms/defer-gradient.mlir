// Of the cotangents that nothing reads soon, the largest moves behind a quarter of those that follow.
// RUN: reprise-opt %s --reprise-defer-gradient | FileCheck %s

// %g is the largest, but %c reads it at once; %w is as large, and read at the end; %v is smaller.
// CHECK-LABEL: func @step(
// CHECK: %[[G:.*]] = reprise.broadcast
// CHECK-NEXT: reprise.slice %[[G]]
// CHECK-NEXT: reprise.neg {{.*}} : tensor<1x4xf32>
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: %[[W:.*]] = reprise.neg %[[G]]
// CHECK-NEXT: reprise.exp
// CHECK: %[[S:.*]] = reprise.sub {{.*}}, %[[W]]
// CHECK: return
func.func @step(%x: tensor<4xf32>, %p: tensor<8x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<8x4xf32>) {
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
  return %10, %v, %s : tensor<1x4xf32>, tensor<1x4xf32>, tensor<8x4xf32>
}

// Nothing is moved where everything is read at once.
// CHECK-LABEL: func @chain(
// CHECK: reprise.exp
// CHECK-NEXT: reprise.sin
// CHECK-NEXT: reprise.cos
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x {reprise.cotangent} : tensor<4xf32>
  %1 = reprise.sin %0 {reprise.cotangent} : tensor<4xf32>
  %2 = reprise.cos %1 {reprise.cotangent} : tensor<4xf32>
  return %2 : tensor<4xf32>
}
