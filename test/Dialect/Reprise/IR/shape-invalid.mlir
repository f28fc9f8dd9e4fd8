// Constants and data movement: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @constant_of_another_shape() {
  // expected-error@+1 {{'reprise.constant' op failed to verify that all of {value, result} have same type}}
  %0 = "reprise.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @sparse_constant() {
  // expected-error@+1 {{'reprise.constant' op expected a dense value}}
  %0 = reprise.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

func.func @complex_constant() {
  // expected-error@+1 {{'reprise.constant' op result #0 must be statically shaped tensor of f32, f64, bf16, f16, i32, i64 or i1, but got 'tensor<2xcomplex<f32>>'}}
  %0 = reprise.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  return
}

// -----

func.func @missing_resource() {
  // expected-error@+1 {{'reprise.constant' op expected a resource of 8 bytes}}
  %0 = reprise.constant dense_resource<nothing> : tensor<2xf32>
  return
}

// -----

func.func @short_resource() {
  // expected-error@+1 {{'reprise.constant' op expected a resource of 8 bytes}}
  %0 = reprise.constant dense_resource<short> : tensor<2xi32>
  return
}

{-# dialect_resources: { builtin: { short: "0x0400000001000000" } } #-}

// -----

func.func @iota_along_nothing() {
  // expected-error@+1 {{'reprise.iota' op expected a dimension of the result, got 2}}
  %0 = reprise.iota dim 2 : tensor<2x3xi32>
  return
}

// -----

func.func @iota_along_less() {
  // expected-error@+1 {{'reprise.iota' op expected a dimension of the result, got -1}}
  %0 = reprise.iota dim -1 : tensor<2x3xi32>
  return
}

// -----

func.func @iota_of_booleans() {
  // expected-error@+1 {{'reprise.iota' op result #0 must be statically shaped tensor of f32, f64, bf16, f16, i32 or i64, but got 'tensor<2xi1>'}}
  %0 = reprise.iota dim 0 : tensor<2xi1>
  return
}

// -----

func.func @broadcast_needs_all_dims(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.broadcast' op expected one result dimension per operand dimension and one element type}}
  %0 = reprise.broadcast %x dims [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_keeps_sizes(%x: tensor<1xf32>) {
  // expected-error@+1 {{'reprise.broadcast' op expected ascending dimensions of equal size in the result, got 0}}
  %0 = reprise.broadcast %x dims [0] : (tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast_ascends(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{'reprise.broadcast' op expected ascending dimensions of equal size in the result, got 0}}
  %0 = reprise.broadcast %x dims [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_out_of_range(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.broadcast' op expected ascending dimensions of equal size in the result, got 3}}
  %0 = reprise.broadcast %x dims [3] : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_keeps_the_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.broadcast' op expected one result dimension per operand dimension and one element type}}
  %0 = reprise.broadcast %x dims [0] : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @reshape_keeps_all_elements(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.reshape' op expected the same elements on both sides, got 'tensor<2x3xf32>' and 'tensor<5xf32>'}}
  %0 = reprise.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_keeps_the_type(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.reshape' op expected the same elements on both sides, got 'tensor<2x3xf32>' and 'tensor<6xi32>'}}
  %0 = reprise.reshape %x : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

func.func @no_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.transpose' op failed to infer returned types}}
  // expected-error@+1 {{expected a permutation of the operand's dimensions}}
  %0 = reprise.transpose %x [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @short_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.transpose' op failed to infer returned types}}
  // expected-error@+1 {{expected a permutation of the operand's dimensions}}
  %0 = reprise.transpose %x [0] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @transposed_shape(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.transpose' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.transpose' op inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %0 = reprise.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @permutation_is_needed(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.transpose' op requires attribute 'permutation'}}
  %0 = "reprise.transpose"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.slice' op failed to infer returned types}}
  // expected-error@+1 {{expected starts, limits and strides of the operand's rank}}
  %0 = reprise.slice %x from [0] to [2, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_beyond_the_end(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.slice' op failed to infer returned types}}
  // expected-error@+1 {{expected 0 <= start <= limit <= 3 and a positive stride in dimension 1}}
  %0 = reprise.slice %x from [0, 0] to [2, 4] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @slice_backwards(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.slice' op failed to infer returned types}}
  // expected-error@+1 {{expected 0 <= start <= limit <= 3 and a positive stride in dimension 1}}
  %0 = reprise.slice %x from [0, 2] to [2, 1] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @slice_without_stride(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.slice' op failed to infer returned types}}
  // expected-error@+1 {{expected 0 <= start <= limit <= 3 and a positive stride in dimension 1}}
  %0 = reprise.slice %x from [0, 0] to [2, 3] by [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_shape(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.slice' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.slice' op inferred type(s) 'tensor<2x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %0 = reprise.slice %x from [0, 0] to [2, 3] by [1, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_rank(%x: tensor<2xf32>) {
  // expected-error@+2 {{'reprise.pad' op failed to infer returned types}}
  // expected-error@+1 {{expected low, high and interior of the operand's rank}}
  %0 = reprise.pad %x with 0.0 : f32 low [0, 0] high [0] interior [0] : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_is_no_slice(%x: tensor<2xf32>) {
  // expected-error@+2 {{'reprise.pad' op failed to infer returned types}}
  // expected-error@+1 {{expected no negative padding in dimension 0}}
  %0 = reprise.pad %x with 0.0 : f32 low [-1] high [0] interior [0] : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.pad' op expected a padding value of type 'f32'}}
  %0 = reprise.pad %x with 0 : i32 low [1] high [0] interior [0] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_value_is_a_number(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.pad' op expected a padding value of type 'f32'}}
  %0 = reprise.pad %x with dense<0.0> : tensor<2xf32> low [1] high [0] interior [0] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_shape(%x: tensor<2xf32>) {
  // expected-error@+2 {{'reprise.pad' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.pad' op inferred type(s) 'tensor<5xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = reprise.pad %x with 0.0 : f32 low [1] high [1] interior [1] : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error@+2 {{'reprise.concatenate' op failed to infer returned types}}
  // expected-error@+1 {{expected at least one operand}}
  %0 = reprise.concatenate dim 0 : () -> tensor<0xf32>
  return
}

// -----

func.func @concatenate_along_nothing(%x: tensor<2xf32>) {
  // expected-error@+2 {{'reprise.concatenate' op failed to infer returned types}}
  // expected-error@+1 {{expected a dimension of the operands, got 1}}
  %0 = reprise.concatenate %x, %x dim 1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_other_shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+2 {{'reprise.concatenate' op failed to infer returned types}}
  // expected-error@+1 {{expected operands that differ in dimension 0 only, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %0 = reprise.concatenate %x, %y dim 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concatenate_other_ranks(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{'reprise.concatenate' op failed to infer returned types}}
  // expected-error@+1 {{expected operands that differ in dimension 0 only, got 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %0 = reprise.concatenate %x, %y dim 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @concatenate_other_types(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{'reprise.concatenate' op failed to infer returned types}}
  // expected-error@+1 {{expected operands that differ in dimension 0 only, got 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = reprise.concatenate %x, %y dim 0 : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return
}
