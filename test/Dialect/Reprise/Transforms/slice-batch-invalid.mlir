// What the batch couples is refused, at the op.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(func.func(reprise-slice-batch{microbatches=4}))"

func.func @coupled(%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  // expected-error@below {{'reprise.softmax' couples the samples of a batch, so that micro-batches cannot run one by one}}
  %1 = reprise.softmax %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @total(%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  %1 = reprise.sum %0 dims [0] : (tensor<8xf32>) -> tensor<f32>
  // expected-note@below {{the total is known after the last micro-batch only}}
  %2 = reprise.broadcast %1 dims [] : (tensor<f32>) -> tensor<8xf32>
  // expected-error@below {{'reprise.div' reads a total over the batch beside values of its micro-batch}}
  %3 = reprise.div %0, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// expected-error@below {{4 micro-batches cannot share a batch of 3 samples}}
func.func @few(%x: tensor<3xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error@below {{micro-batches need an input with `reprise.batch_dim`, and there is none}}
func.func @none(%x: tensor<8xf32> {reprise.role = "input"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error@below {{inputs have different batches, 8 and 6 samples}}
// expected-note@below {{the other input}}
func.func @different(%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %y: tensor<6xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @own(%x: tensor<8x2x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<2xf32> {
  // expected-error@below {{every micro-batch has a value of its own of what result 0 returns}}
  %y, %m, %v = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<8x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<8x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %m : tensor<2xf32>
}

// -----

func.func @along(%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  // expected-error@below {{'reprise.loop' couples the samples of a batch}}
  %r = reprise.loop 8 () over (%row = %0) : (tensor<8xf32>) -> (tensor<8xf32>) {
    %n = reprise.neg %row : tensor<f32>
    reprise.yield %n : tensor<f32>
  }
  return %r : tensor<8xf32>
}
