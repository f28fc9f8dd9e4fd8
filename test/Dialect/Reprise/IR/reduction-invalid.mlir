// Reductions and contractions: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @no_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.sum' op failed to infer returned types}}
  // expected-error@+1 {{expected ascending dimensions of 'tensor<2x3xf32>' to reduce}}
  %0 = reprise.sum %x dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @descending_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.sum' op failed to infer returned types}}
  // expected-error@+1 {{expected ascending dimensions of 'tensor<2x3xf32>' to reduce}}
  %0 = reprise.sum %x dims [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @dims_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.max' op failed to infer returned types}}
  // expected-error@+1 {{expected ascending dimensions of 'tensor<2x3xf32>' to reduce}}
  %0 = reprise.max %x dims [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @negative_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.max' op failed to infer returned types}}
  // expected-error@+1 {{expected ascending dimensions of 'tensor<2x3xf32>' to reduce}}
  %0 = reprise.max %x dims [-1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduced_shape(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.min' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.min' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = reprise.min %x dims [1] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @mean_of_integers(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{'reprise.mean' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<2x3xi32>'}}
  %0 = reprise.mean %x dims [1] : (tensor<2x3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmax_of_nothing(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{'reprise.argmax' op expected a non-empty dimension of the operand, got 1}}
  %0 = reprise.argmax %x dim 1 : (tensor<2x0xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmax_along_nothing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.argmax' op expected a non-empty dimension of the operand, got 2}}
  %0 = reprise.argmax %x dim 2 : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @argmax_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.argmax' op expected a result without dimension 1}}
  %0 = reprise.argmax %x dim 1 : (tensor<2x3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @argmax_is_an_index(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.argmax' op result #0 must be statically shaped tensor of i32 or i64, but got 'tensor<2xf32>'}}
  %0 = reprise.argmax %x dim 1 : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dim_twice(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected distinct dimensions of the operands}}
  %0 = reprise.dot_general %x, %y batch [1] x [0] contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dim_out_of_range(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected distinct dimensions of the operands}}
  %0 = reprise.dot_general %x, %y contracting [2] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unpaired_dims(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected paired dimensions of equal size}}
  %0 = reprise.dot_general %x, %y contracting [1] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unequal_sizes(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected paired dimensions of equal size}}
  %0 = reprise.dot_general %x, %y contracting [1] x [1] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @unequal_batches(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected paired dimensions of equal size}}
  %0 = reprise.dot_general %x, %y batch [0] x [0] contracting [1] x [1] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_of_mixed_types(%x: tensor<2x3xf32>, %y: tensor<3x4xbf16>) {
  // expected-error@+1 {{'reprise.dot_general' op expected operands of one element type}}
  %0 = reprise.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_integers(%x: tensor<2x3xi32>, %y: tensor<3x4xi32>) {
  // expected-error@+1 {{'reprise.dot_general' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<2x3xi32>'}}
  %0 = reprise.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @dot_result_type(%x: tensor<2x3xbf16>, %y: tensor<3x4xbf16>) {
  // expected-error@+1 {{'reprise.dot_general' op expected a result of 'bf16' or 'f32'}}
  %0 = reprise.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf64>
  return
}

// -----

func.func @accumulation_type(%x: tensor<2x3xf64>, %y: tensor<3x4xf64>) {
  // expected-error@+1 {{'reprise.dot_general' op expected accumulation in 'f64'}}
  %0 = reprise.dot_general %x, %y contracting [1] x [0] {accumulation = f32} : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return
}

// -----

func.func @dot_shape(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'reprise.dot_general' op expected a result of type 'tensor<2x4xf32>'}}
  %0 = reprise.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_of_narrow_sums(%x: tensor<2x3xbf16>, %y: tensor<3x4xbf16>, %s: tensor<2x4xbf16>) {
  // expected-error@+1 {{'reprise.dot_accumulate' op expected a result of 'f32'}}
  %0 = reprise.dot_accumulate %x, %y onto %s contracting [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return
}

// -----

func.func @dot_of_other_sums(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.dot_accumulate' op expected sums of type 'tensor<2x4xf32>'}}
  %0 = reprise.dot_accumulate %x, %y onto %s contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_long_chains(%x: tensor<2x4097xf32>, %y: tensor<4097x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error@+1 {{'reprise.dot_accumulate' op expected at most 4096 terms, got 4097}}
  %0 = reprise.dot_accumulate %x, %y onto %s contracting [1] x [0] : (tensor<2x4097xf32>, tensor<4097x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_one_lane(%x: tensor<2x4xf32>, %y: tensor<4x4xf32>) {
  // expected-error@+1 {{attribute 'lanes' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  %0 = reprise.dot_lanes %x, %y lanes 1 along 0 contracting [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_three_lanes(%x: tensor<2x6xf32>, %y: tensor<6x4xf32>) {
  // expected-error@+1 {{'reprise.dot_lanes' op expected 2, 4, 8, … lanes, got 3}}
  %0 = reprise.dot_lanes %x, %y lanes 3 along 0 contracting [1] x [0] : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_uneven_lanes(%x: tensor<2x6xf32>, %y: tensor<6x4xf32>) {
  // expected-error@+1 {{'reprise.dot_lanes' op expected lanes of equal size, got 4 of dimension 1, which has 6 terms}}
  %0 = reprise.dot_lanes %x, %y lanes 4 along 0 contracting [1] x [0] : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_of_lanes_elsewhere(%x: tensor<2x6xf32>, %y: tensor<6x4xf32>) {
  // expected-error@+1 {{'reprise.dot_lanes' op expected lanes along one of 1 contracted dimensions, got number 1}}
  %0 = reprise.dot_lanes %x, %y lanes 2 along 1 contracting [1] x [0] : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_needs_dims(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{custom op 'reprise.dot_general' expected 'contracting'}}
  %0 = reprise.dot_general %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @logsumexp_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'reprise.logsumexp' op failed to infer returned types}}
  // expected-error@+1 {{expected ascending dimensions of 'tensor<2x3xf32>' to reduce}}
  %0 = reprise.logsumexp %x dims [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @cumsum_dim(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.cumsum' op expected a dimension of the operand, got 2}}
  %0 = reprise.cumsum %x dim 2 : tensor<2x3xf32>
  return
}

// -----

func.func @top_k_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.top_k' op expected values and indices [rows…, k] of an operand [rows…, n] but got 'tensor<2x2xf32>' and 'tensor<2x1xi32>'}}
  %0, %1 = reprise.top_k %x : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x1xi32>)
  return
}

// -----

func.func @top_k_of_too_few(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.top_k' op expected between 1 and 3 elements, got 4}}
  %0, %1 = reprise.top_k %x : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}

// -----

func.func @bias_shape(%x: tensor<4x6xbf16>, %y: tensor<6x5xbf16>, %b: tensor<4xbf16>) {
  // expected-error@+1 {{'reprise.dot_bias' op expected a bias of type 'tensor<5xbf16>'}}
  %0 = reprise.dot_bias %x, %y bias %b contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x5xbf16>, tensor<4xbf16>) -> tensor<4x5xbf16>
  return
}

// -----

func.func @bias_type(%x: tensor<4x6xbf16>, %y: tensor<6x5xbf16>, %b: tensor<5xf32>) {
  // expected-error@+1 {{'reprise.dot_bias' op expected a bias of type 'tensor<5xbf16>'}}
  %0 = reprise.dot_bias %x, %y bias %b contracting [1] x [0] : (tensor<4x6xbf16>, tensor<6x5xbf16>, tensor<5xf32>) -> tensor<4x5xbf16>
  return
}

// -----

func.func @dot_of_bias(%x: tensor<4x6xbf16>, %y: tensor<5x5xbf16>, %b: tensor<5xbf16>) {
  // expected-error@+1 {{'reprise.dot_bias' op expected paired dimensions of equal size}}
  %0 = reprise.dot_bias %x, %y bias %b contracting [1] x [0] : (tensor<4x6xbf16>, tensor<5x5xbf16>, tensor<5xbf16>) -> tensor<4x5xbf16>
  return
}
