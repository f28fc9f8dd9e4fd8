// All that is not imported is one error, once per op and with its place.
// RUN: not reprise-opt %s --import-stablehlo --split-input-file 2>&1 | FileCheck %s

// CHECK: [[FILE:.*errors.mlir]]:[[# @LINE + 8]]:8: error: 5 ops are not imported from StableHLO
// CHECK: [[# @LINE + 7]]:8: note: 'stablehlo.fft' has a result of type 'tensor<3xcomplex<f32>>'
// CHECK: [[# @LINE + 7]]:8: note: 'stablehlo.convert' has a result of type 'tensor<4xi4>'
// CHECK: [[# @LINE + 7]]:8: note: 'stablehlo.custom_call' of 'lapack_sgetrf'
// CHECK: [[# @LINE + 7]]:8: note: 'stablehlo.dot_general' of booleans, or of integers and floats
// CHECK: [[# @LINE + 7]]:8: note: 'stablehlo.while' runs an unknown number of times
// CHECK-NOT: note: 'stablehlo
func.func public @main(%x: tensor<4xf32>, %i: tensor<4xi32>, %k: tensor<i32>) -> tensor<4xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %1 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xi4>
  %2 = stablehlo.custom_call @lapack_sgetrf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.dot_general %i, %x, contracting_dims = [0] x [0] : (tensor<4xi32>, tensor<4xf32>) -> tensor<f32>
  %4 = stablehlo.while(%n = %k) : tensor<i32>
  cond {
    %5 = stablehlo.compare LT, %n, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %5 = stablehlo.add %n, %n : tensor<i32>
    stablehlo.return %5 : tensor<i32>
  }
  return %2 : tensor<4xf32>
}

// -----

// What comes of a value that is not imported is told with that value, and one op is one line.
// CHECK: error: not imported from StableHLO: 'stablehlo.fft' has a result of type 'tensor<3xcomplex<f32>>'
// CHECK-NOT: note:
func.func public @main(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %1 = stablehlo.multiply %0, %0 : tensor<3xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %3 = stablehlo.imag %1 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %4 = stablehlo.add %2, %3 : tensor<3xf32>
  return %4 : tensor<3xf32>
}

// -----

// CHECK: error: argument 0 has type 'tensor<?xf32>', which is not imported
func.func public @main(%x: tensor<?xf32>) {
  return
}

// -----

// CHECK: error: expected a public function of one block
func.func private @main() {
  return
}

// -----

func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: error: custom op 'stablehlo.add' expected types of 2 operands, got 1
  %0 = stablehlo.add %x, %y : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Ops that nothing verifies.
// CHECK: error: 9 ops are not imported from StableHLO
// CHECK: note: 'stablehlo.add' has an unknown form
// CHECK: note: 'stablehlo.transpose' has dimensions out of range
// CHECK: note: 'stablehlo.broadcast_in_dim' has dimensions out of range
// CHECK: note: 'stablehlo.slice' has dimensions out of range
// CHECK: note: 'stablehlo.reduce' has an unknown form
// CHECK: note: 'stablehlo.gather' has dimensions that do not fit together
// CHECK: note: 'stablehlo.convolution' with unknown dimensions
// CHECK: note: 'stablehlo.case' has an unknown form
// CHECK: note: 'stablehlo.dot_general' has dimensions out of range
func.func public @main(%x: tensor<4x4xf32>, %i: tensor<2xi32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.add"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.transpose %x, dims = [7, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.slice %x [0:9] : (tensor<4x4xf32>) -> tensor<9xf32>
  %4 = "stablehlo.reduce"(%x, %x) <{dimensions = array<i64: 0>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [5], start_index_map = [9], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %6 = "stablehlo.convolution"(%x, %x) <{dimension_numbers = [1, 2, 3]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4xf32>
  %7 = "stablehlo.case"(%x) ({
    stablehlo.return
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = stablehlo.dot_general %x, %x, contracting_dims = [5] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}
