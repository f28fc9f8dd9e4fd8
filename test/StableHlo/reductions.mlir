// Reductions, the forms of argmax, sorts.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x6xf32>, %[[P:[^:]*]]: tensor<4x6xi1>, %[[I:[^:]*]]: tensor<4x6xi32>, %[[S:[^:]*]]: tensor<f32>)
func.func public @main(%x: tensor<4x6xf32>, %p: tensor<4x6xi1>, %i: tensor<4x6xi32>, %s: tensor<f32>) -> (tensor<4xi32>, tensor<4x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: reprise.sum %[[X]] dims [0, 1]
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  // An initial value that is not neutral takes part.
  // CHECK: %[[SUM:.*]] = reprise.sum %[[X]] dims [1]
  // CHECK: %[[INIT:.*]] = reprise.broadcast %[[S]] dims []
  // CHECK: reprise.add %[[INIT]], %[[SUM]]
  %1 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.max %[[X]] dims [1]
  %2 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.max %[[I]] dims [0]
  %3 = "stablehlo.reduce"(%i, %least) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<4x6xi32>, tensor<i32>) -> tensor<6xi32>
  // CHECK-NEXT: %[[NUMBERS:.*]] = reprise.cast %[[P]] : tensor<4x6xi1> to tensor<4x6xi32>
  // CHECK-NEXT: %[[ALL:.*]] = reprise.min %[[NUMBERS]] dims [1]
  // CHECK-NEXT: reprise.cast %[[ALL]] : tensor<4xi32> to tensor<4xi1>
  %4 = stablehlo.reduce(%p init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: %[[SUM:.*]] = reprise.sum %{{.*}} dims [1] : (tensor<4x6xi32>) -> tensor<4xi32>
  // CHECK: %[[ODD:.*]] = reprise.and %[[SUM]], %{{.*}} : tensor<4xi32>
  // CHECK-NEXT: reprise.cast %[[ODD]] : tensor<4xi32> to tensor<4xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %8 = stablehlo.reduce(%p init: %false) applies stablehlo.xor across dimensions = [1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: %[[INDEX:.*]] = reprise.argmax %[[X]] dim 1
  %5 = stablehlo.iota dim = 1 : tensor<4x6xi32>
  %6:2 = stablehlo.reduce(%x init: %low), (%5 init: %none) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>)  {
    %10 = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %11 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %12 = stablehlo.or %10, %11 : tensor<i1>
    %13 = stablehlo.select %12, %a, %c : tensor<i1>, tensor<f32>
    %14 = stablehlo.select %12, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %13, %14 : tensor<f32>, tensor<i32>
  }
  // CHECK: reprise.top_k %[[X]] : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // Integers in the order of a sort, a NaN last; their complements descend.
  // CHECK: %[[NAN:.*]] = reprise.compare ne %[[X]], %[[X]]
  // CHECK-NEXT: %[[KEYS:.*]] = reprise.select %[[NAN]], %{{.*}}, %{{.*}} : tensor<4x6xi1>, tensor<4x6xi32>
  // CHECK: %[[REVERSED:.*]] = reprise.xor %[[KEYS]], %{{.*}} : tensor<4x6xi32>
  // CHECK-NEXT: %{{.*}}, %[[ORDER:.*]] = reprise.top_k %[[REVERSED]]
  // CHECK-NEXT: %[[SORTED:.*]] = reprise.take_along %[[X]][%[[ORDER]]]
  %7 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: return %[[INDEX]], %[[SORTED]]
  return %6#1, %7 : tensor<4xi32>, tensor<4x6xf32>
}
