// Reads and writes at computed positions: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @gather_from_nothing(%table: tensor<0x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+2 {{'reprise.gather' op failed to infer returned types}}
  // expected-error@+1 {{expected a table with at least one row}}
  %0 = reprise.gather %table[%i] : (tensor<0x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_shape(%table: tensor<5x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+2 {{'reprise.gather' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.gather' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  %0 = reprise.gather %table[%i] : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @gather_by_floats(%table: tensor<5x3xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.gather' op operand #1 must be statically shaped tensor of i32 or i64, but got 'tensor<2xf32>'}}
  %0 = reprise.gather %table[%i] : (tensor<5x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_shape(%i: tensor<2xi32>, %u: tensor<2x4xf32>) {
  // expected-error@+1 {{'reprise.scatter_add' op expected updates [indices…, row…] for a table [rows, row…] but got 'tensor<2x4xf32>' and 'tensor<5x3xf32>'}}
  %0 = reprise.scatter_add %u at %i : (tensor<2xi32>, tensor<2x4xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_into_nothing(%i: tensor<2xi32>, %u: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.scatter_add' op expected updates [indices…, row…] for a table [rows, row…] but got 'tensor<2x3xf32>' and 'tensor<0x3xf32>'}}
  %0 = reprise.scatter_add %u at %i : (tensor<2xi32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

func.func @scatter_of_integers(%i: tensor<2xi32>, %u: tensor<2x3xi32>) {
  // expected-error@+1 {{'reprise.scatter_add' op operand #1 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<2x3xi32>'}}
  %0 = reprise.scatter_add %u at %i : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<5x3xi32>
  return
}

// -----

func.func @replacement_shape(%t: tensor<5x3xf32>, %i: tensor<2xi32>, %u: tensor<2x4xf32>) {
  // expected-error@+1 {{'reprise.scatter' op expected updates [indices…, row…] for a table [rows, row…] but got 'tensor<2x4xf32>' and 'tensor<5x3xf32>'}}
  %0 = reprise.scatter %u into %t at %i : (tensor<5x3xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @replacement_type(%t: tensor<5x3xf32>, %i: tensor<2xi32>, %u: tensor<2x3xf64>) {
  // expected-error@+1 {{'reprise.scatter' op expected updates [indices…, row…] for a table [rows, row…] but got 'tensor<2x3xf64>' and 'tensor<5x3xf32>'}}
  %0 = reprise.scatter %u into %t at %i : (tensor<5x3xf32>, tensor<2xi32>, tensor<2x3xf64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @take_along_other_rows(%x: tensor<3x10xf32>, %i: tensor<4x2xi32>) {
  // expected-error@+2 {{'reprise.take_along' op failed to infer returned types}}
  // expected-error@+1 {{expected an operand [b…, n] and indices [b…, k] but got 'tensor<3x10xf32>' and 'tensor<4x2xi32>'}}
  %0 = reprise.take_along %x[%i] : (tensor<3x10xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @take_along_nothing(%x: tensor<3x0xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+2 {{'reprise.take_along' op failed to infer returned types}}
  // expected-error@+1 {{expected an operand [b…, n] and indices [b…, k] but got 'tensor<3x0xf32>' and 'tensor<3x2xi32>'}}
  %0 = reprise.take_along %x[%i] : (tensor<3x0xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @scatter_add_along_shape(%i: tensor<3x2xi32>, %u: tensor<3x3xf32>) {
  // expected-error@+1 {{'reprise.scatter_add_along' op expected updates and indices [b…, k] for a result [b…, n] but got 'tensor<3x3xf32>', 'tensor<3x2xi32>' and 'tensor<3x10xf32>'}}
  %0 = reprise.scatter_add_along %u at %i : (tensor<3x2xi32>, tensor<3x3xf32>) -> tensor<3x10xf32>
  return
}

// -----

func.func @one_hot_shape(%i: tensor<3x2xi32>) {
  // expected-error@+1 {{'reprise.one_hot' op expected a result [indices…, depth] but got 'tensor<3x5xf32>'}}
  %0 = reprise.one_hot %i : (tensor<3x2xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @window_too_large(%x: tensor<3x10xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.dynamic_slice' op expected a window inside of 'tensor<3x10xf32>' but got 'tensor<4x2xf32>'}}
  %0 = reprise.dynamic_slice %x at %s : (tensor<3x10xf32>, tensor<2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @window_of_another_type(%x: tensor<3x10xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.dynamic_slice' op expected a window inside of 'tensor<3x10xf32>' but got 'tensor<2x2xf64>'}}
  %0 = reprise.dynamic_slice %x at %s : (tensor<3x10xf32>, tensor<2xi32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @starts(%x: tensor<3x10xf32>, %u: tensor<1x10xf32>, %s: tensor<1xi32>) {
  // expected-error@+1 {{'reprise.dynamic_update' op expected 2 starts but got 'tensor<1xi32>'}}
  %0 = reprise.dynamic_update %u into %x at %s : (tensor<3x10xf32>, tensor<1x10xf32>, tensor<1xi32>) -> tensor<3x10xf32>
  return
}

// -----

func.func @update_rank(%x: tensor<3x10xf32>, %u: tensor<10xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.dynamic_update' op expected a window inside of 'tensor<3x10xf32>' but got 'tensor<10xf32>'}}
  %0 = reprise.dynamic_update %u into %x at %s : (tensor<3x10xf32>, tensor<10xf32>, tensor<2xi32>) -> tensor<3x10xf32>
  return
}
