// Loops whose trips are known: few ops are written out, others stay loops, scans with rows and stacks.
// RUN: reprise-opt %s --import-stablehlo --canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[XS:[^:]*]]: tensor<1000x3xf32>, %[[C:[^:]*]]: tensor<3xf32>)
func.func public @main(%xs: tensor<1000x3xf32>, %c: tensor<3xf32>) -> (tensor<3xf32>, tensor<1000x3xf32>, tensor<3xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[LOOP:.*]]:2 = reprise.loop 1000 (%[[CARRY:.*]] = %[[C]])  over (%[[ROW:.*]] = %[[XS]])
  // CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[CARRY]], %[[ROW]]
  // CHECK-NEXT: %[[NEXT:.*]] = reprise.sin %[[SUM]]
  // CHECK-NEXT: %[[STACKED:.*]] = reprise.broadcast %[[CARRY]]
  // CHECK-NEXT: %[[ROW_OF_STACK:.*]] = reprise.reshape %[[STACKED]] : (tensor<1x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: reprise.yield %[[NEXT]], %[[ROW_OF_STACK]]
  %1:4 = stablehlo.while(%a = %xs, %k = %zero, %s = %c, %ys = %0) : tensor<1000x3xf32>, tensor<i32>, tensor<3xf32>, tensor<1000x3xf32>
  cond {
    %end = stablehlo.constant dense<1000> : tensor<i32>
    %2 = stablehlo.compare LT, %k, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %row = func.call @row(%a, %k) : (tensor<1000x3xf32>, tensor<i32>) -> tensor<3xf32>
    %2 = stablehlo.add %s, %row : tensor<3xf32>
    %3 = stablehlo.sine %2 : tensor<3xf32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %5 = stablehlo.dynamic_update_slice %ys, %4, %k, %first : (tensor<1000x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x3xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %a, %6, %3, %5 : tensor<1000x3xf32>, tensor<i32>, tensor<3xf32>, tensor<1000x3xf32>
  }
  // Three iterations of two ops.
  // CHECK: %[[ONE:.*]] = reprise.exp %[[C]]
  // CHECK: %[[TWO:.*]] = reprise.exp %[[ONE]]
  // CHECK: %[[THREE:.*]] = reprise.exp %[[TWO]]
  %three = stablehlo.constant dense<3> : tensor<i32>
  %7:2 = stablehlo.while(%k = %zero, %s = %c) : tensor<i32>, tensor<3xf32>
  cond {
    %2 = stablehlo.compare LT, %k, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.exponential %s : tensor<3xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<3xf32>
  }
  // CHECK: return %[[LOOP]]#0, %[[LOOP]]#1, %[[THREE]]
  return %1#2, %1#3, %7#1 : tensor<3xf32>, tensor<1000x3xf32>, tensor<3xf32>
}

func.func private @row(%a: tensor<1000x3xf32>, %k: tensor<i32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %k, %c, sizes = [1, 3] : (tensor<1000x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
