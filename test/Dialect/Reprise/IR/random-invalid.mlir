// Random draws: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @seed_without_offset(%s: tensor<i64>) {
  // expected-error@+1 {{'reprise.random_uniform' op expected seed and offset together}}
  %0 = "reprise.random_uniform"(%s) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @seed_without_stream(%s: tensor<i64>) {
  // expected-error@+1 {{'reprise.random_uniform' op expected a stream beside the seed}}
  %0 = reprise.random_uniform seed %s offset %s : tensor<4xf32>
  return
}

// -----

func.func @seed_is_a_scalar(%s: tensor<1xi64>, %o: tensor<i64>) {
  // expected-error@+1 {{'reprise.random_uniform' op operand #0 must be tensor<i64>, but got 'tensor<1xi64>'}}
  %0 = "reprise.random_uniform"(%s, %o) {operandSegmentSizes = array<i32: 1, 1, 0>, stream = 0 : i64} : (tensor<1xi64>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @global_rank(%s: tensor<i64>) {
  // expected-error@+1 {{'reprise.random_uniform' op expected a global shape of rank 1}}
  %0 = reprise.random_uniform seed %s offset %s {stream = 0 : i64, global_shape = array<i64: 4, 4>} : tensor<4xf32>
  return
}

// -----

func.func @global_size(%s: tensor<i64>) {
  // expected-error@+1 {{'reprise.random_uniform' op expected a global shape that contains the drawn one}}
  %0 = reprise.random_uniform seed %s offset %s {stream = 0 : i64, global_shape = array<i64: 3>} : tensor<4xf32>
  return
}

// -----

func.func @origin_rank(%s: tensor<i64>, %at: tensor<2xi64>) {
  // expected-error@+1 {{'reprise.random_uniform' op expected an origin of one index per dimension}}
  %0 = reprise.random_uniform seed %s offset %s origin %at : tensor<2xi64> {stream = 0 : i64} : tensor<4xf32>
  return
}

// -----

func.func @uniform_integers() {
  // expected-error@+1 {{'reprise.random_uniform' op result #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<4xi32>'}}
  %0 = reprise.random_uniform : tensor<4xi32>
  return
}

// -----

func.func @empty_range() {
  // expected-error@+1 {{'reprise.random_uniform_int' op expected a range [low, high) of 1 to 2^32 integers}}
  %0 = reprise.random_uniform_int {low = 5 : i64, high = 5 : i64} : tensor<4xi64>
  return
}

// -----

func.func @range_of_more_than_a_word() {
  // expected-error@+1 {{'reprise.random_uniform_int' op expected a range [low, high) of 1 to 2^32 integers}}
  %0 = reprise.random_uniform_int {low = -1 : i64, high = 4294967296 : i64} : tensor<4xi64>
  return
}

// -----

func.func @range_beyond_i32() {
  // expected-error@+1 {{'reprise.random_uniform_int' op expected a range [low, high) of i32}}
  %0 = reprise.random_uniform_int {low = 0 : i64, high = 2147483649 : i64} : tensor<4xi32>
  return
}

// -----

func.func @probability_above_one() {
  // expected-error@+1 {{'reprise.random_bernoulli' op expected a probability in [0, 1], got 1.500000e+00}}
  %0 = reprise.random_bernoulli {probability = 1.5 : f64} : tensor<4xi1>
  return
}

// -----

func.func @probability_is_no_number() {
  // expected-error@+1 {{'reprise.random_bernoulli' op expected a probability in [0, 1], got nan}}
  %0 = reprise.random_bernoulli {probability = 0x7FF8000000000000 : f64} : tensor<4xi1>
  return
}

// -----

func.func @bernoulli_gives_booleans() {
  // expected-error@+1 {{'reprise.random_bernoulli' op result #0 must be statically shaped tensor of i1, but got 'tensor<4xf32>'}}
  %0 = reprise.random_bernoulli {probability = 0.5 : f64} : tensor<4xf32>
  return
}

// -----

func.func @rate(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.dropout' op expected a dropout rate in [0, 1], got -1.000000e-01}}
  %0 = reprise.dropout %x {rate = -0.1 : f64} : tensor<4xf32>
  return
}

// -----

func.func @dropout_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'reprise.dropout' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<4xi32>'}}
  %0 = reprise.dropout %x {rate = 0.1 : f64} : tensor<4xi32>
  return
}

// -----

func.func @rate_is_needed(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.dropout' op requires attribute 'rate'}}
  %0 = reprise.dropout %x : tensor<4xf32>
  return
}
