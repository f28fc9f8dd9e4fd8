// Gather and scatter: rows of a table, elements of each row, several indices at once, windows.
// RUN: reprise-opt %s --import-stablehlo | FileCheck %s

// CHECK-LABEL: func.func private @model(
// CHECK-SAME: %[[T:[^:]*]]: tensor<9x4xf32>, %[[I:[^:]*]]: tensor<2x3x1xi32>, %[[J:[^:]*]]: tensor<9x1x1xi32>, %[[P:[^:]*]]: tensor<5x2xi32>, %[[U:[^:]*]]: tensor<2x3x4xf32>)
func.func public @main(%table: tensor<9x4xf32>, %i: tensor<2x3x1xi32>, %j: tensor<9x1x1xi32>, %p: tensor<5x2xi32>, %u: tensor<2x3x4xf32>) -> tensor<9x4xf32> {
  // jnp.take(table, i, axis=0), table[i]: positions are clamped.
  // CHECK: %[[POSITIONS:.*]] = reprise.reshape %{{.*}} : (tensor<2x3x1xi32>) -> tensor<2x3xi32>
  // CHECK: %[[ABOVE:.*]] = reprise.maximum %[[POSITIONS]]
  // CHECK: %[[ROWS:.*]] = reprise.minimum %[[ABOVE]]
  // CHECK: reprise.gather %[[T]][%[[ROWS]]] : (tensor<9x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
  // jnp.take_along_axis(table, j, axis=1)
  // CHECK: reprise.take_along %[[T]][%{{.*}}] : (tensor<9x4xf32>, tensor<9x1xi32>) -> tensor<9x1xf32>
  %1 = "stablehlo.gather"(%table, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x4xf32>, tensor<9x1x1xi32>) -> tensor<9x1xf32>
  // table[p[:, 0], p[:, 1]] as rows of one element.
  // CHECK: %[[FLAT:.*]] = reprise.reshape %[[T]] : (tensor<9x4xf32>) -> tensor<36xf32>
  // CHECK: reprise.constant dense<4> : tensor<5xi32>
  // CHECK: reprise.gather %[[FLAT]][%{{.*}}] : (tensor<36xf32>, tensor<5xi32>) -> tensor<5xf32>
  %2 = "stablehlo.gather"(%table, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x4xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  // Windows of three rows.
  // CHECK: reprise.constant dense<6> : tensor<2x3x3xi32>
  // CHECK: reprise.gather %[[T]][%{{.*}}] : (tensor<9x4xf32>, tensor<2x3x3xi32>) -> tensor<2x3x3x4xf32>
  %3 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 3, 4>}> : (tensor<9x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x3x4xf32>
  // What lies outside goes to a row behind the table.
  // CHECK: %[[SUMS:.*]] = reprise.scatter_add %[[U]] at %{{.*}} : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<10x4xf32>
  // CHECK: %[[CUT:.*]] = reprise.slice %[[SUMS]] from [0, 0] to [9, 4]
  // CHECK: %[[ADDED:.*]] = reprise.add %[[T]], %[[CUT]]
  %4 = "stablehlo.scatter"(%table, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<2x3x1xi32>, tensor<2x3x4xf32>) -> tensor<9x4xf32>
  // CHECK: %[[LONGER:.*]] = reprise.pad %[[ADDED]] with 0.000000e+00 : f32 low [0, 0] high [1, 0]
  // CHECK: reprise.scatter %[[U]] into %[[LONGER]]
  %5 = "stablehlo.scatter"(%4, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<2x3x1xi32>, tensor<2x3x4xf32>) -> tensor<9x4xf32>
  return %5 : tensor<9x4xf32>
}
