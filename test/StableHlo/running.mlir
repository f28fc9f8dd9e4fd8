// What is written out: running products, updates of one row in their order, orders, remainders, tails.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<5xf32>, %[[I:[^:]*]]: tensor<3x1xi32>, %[[U:[^:]*]]: tensor<3xf32>, %[[V:[^:]*]]: tensor<f32>)
func.func public @main(%x: tensor<5xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>, %v: tensor<f32>) -> tensor<5xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // Steps of 1, 2 and 4.
  // CHECK: %[[FIRST:.*]] = reprise.mul %{{.*}}, %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: reprise.concatenate %{{.*}}, %[[FIRST]] dim 0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  // CHECK: reprise.mul %{{.*}}, %{{.*}} : tensor<3xf32>
  // CHECK: reprise.mul %{{.*}}, %{{.*}} : tensor<1xf32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[4, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 5>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  // A region of several ops, on whole tensors; an initial value that is not neutral takes part.
  // CHECK: %[[SUM:.*]] = reprise.add %{{.*}}, %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: reprise.tanh %[[SUM]] : tensor<4xf32>
  // CHECK: %[[INIT:.*]] = reprise.broadcast %[[V]] dims []
  // CHECK: %[[LAST:.*]] = reprise.add %[[INIT]], %{{.*}} : tensor<5xf32>
  // CHECK-NEXT: reprise.tanh %[[LAST]]
  %1 = "stablehlo.reduce_window"(%x, %v) <{padding = dense<[[0, 4]]> : tensor<1x2xi64>, window_dimensions = array<i64: 5>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    %t = stablehlo.tanh %m : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  // Updates in the order of their rows; runs of equal rows; the last update of a row has all of it.
  // CHECK: %{{.*}}, %[[ORDER:.*]] = reprise.top_k %{{.*}} : (tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  // CHECK: %[[ROWS:.*]] = reprise.gather %{{.*}}[%[[ORDER]]]
  // CHECK: %[[UPDATES:.*]] = reprise.gather %[[U]][%[[ORDER]]]
  // CHECK: reprise.maximum %{{.*}}, %[[UPDATES]] : tensor<3xf32>
  // CHECK: %[[ENDS:.*]] = reprise.scatter %{{.*}} into %{{.*}} at %[[ROWS]]
  // CHECK: %[[BEST:.*]] = reprise.maximum %[[X]], %{{.*}} : tensor<5xf32>
  // CHECK-NEXT: reprise.select %{{.*}}, %[[BEST]], %[[X]]
  %2 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<5xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<5xf32>
  // A computed number stands where a mask of the operand has none.
  // CHECK: %[[INSIDE:.*]] = reprise.pad %{{.*}} with false low [1] high [0] interior [0] : (tensor<3xi1>) -> tensor<4xi1>
  // CHECK: %[[OUTSIDE:.*]] = reprise.broadcast %[[V]] dims []
  // CHECK: reprise.select %[[INSIDE]], %{{.*}}, %[[OUTSIDE]]
  %3 = stablehlo.pad %u, %v, low = [1], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: reprise.compare lt %{{.*}}, %{{.*}} : tensor<5xi32>
  // CHECK: reprise.compare le %{{.*}}, %{{.*}} : tensor<5xi32>
  %4 = stablehlo.compare LE, %x, %0, TOTALORDER : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  // No steps of an infinite divisor are taken.
  // CHECK: %[[BY:.*]] = reprise.select %{{.*}}, %{{.*}}, %[[X]]
  // CHECK-NEXT: %[[STEPS:.*]] = reprise.mul %{{.*}}, %[[BY]]
  // CHECK-NEXT: reprise.sub %{{.*}}, %[[STEPS]]
  %5 = stablehlo.remainder %0, %x : tensor<5xf32>
  // The value is that of the tail, the derivative that of erf.
  // CHECK: %[[ERF:.*]] = reprise.erf %[[X]]
  // CHECK: %[[PLAIN:.*]] = reprise.sub %{{.*}}, %[[ERF]]
  // CHECK: %[[TAIL:.*]] = reprise.select
  // CHECK-NEXT: %[[NOTHING:.*]] = reprise.sub %[[PLAIN]], %{{.*}}
  // CHECK-NEXT: %[[ERFC:.*]] = reprise.add %[[TAIL]], %[[NOTHING]]
  // CHECK: return %[[ERFC]]
  %6 = chlo.erfc %x : tensor<5xf32> -> tensor<5xf32>
  return %6 : tensor<5xf32>
}
