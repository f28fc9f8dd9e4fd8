// What the batch couples is refused, at the op.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=4}))"

reprise.program @coupled devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  // expected-error@below {{'reprise.softmax' couples the samples of a batch, so that micro-batches cannot run one by one}}
  %1 = reprise.softmax %0 : tensor<8xf32>
  reprise.return %1 : tensor<8xf32>
}

// -----

reprise.program @total devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  %1 = reprise.sum %0 dims [0] : (tensor<8xf32>) -> tensor<f32>
  // expected-note@below {{the total is known after the last micro-batch only}}
  %2 = reprise.broadcast %1 dims [] : (tensor<f32>) -> tensor<8xf32>
  // expected-error@below {{'reprise.div' reads both a total over the batch and values of its micro-batch}}
  %3 = reprise.div %0, %2 : tensor<8xf32>
  reprise.return %3 : tensor<8xf32>
}

// -----

// expected-error@below {{4 micro-batches are too many for a batch of 3 samples}}
reprise.program @few devices [0] (%x: tensor<3xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}) -> tensor<3xf32> {
  reprise.return %x : tensor<3xf32>
}

// -----

// expected-error@below {{micro-batches need an input with `reprise.batch_dim`, and there is none}}
reprise.program @none devices [0] (%x: tensor<8xf32> {reprise.role = "input"}) -> tensor<8xf32> {
  reprise.return %x : tensor<8xf32>
}

// -----

// expected-error@below {{inputs have different batches, 8 and 6 samples}}
// expected-note@below {{the other input}}
reprise.program @different devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %y: tensor<6xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}) -> tensor<8xf32> {
  reprise.return %x : tensor<8xf32>
}

// -----

reprise.program @own devices [0] (%x: tensor<8x2x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<2xf32> {
  // expected-error@below {{each micro-batch has its own value of result 0, which the step cannot return}}
  %y, %m, %v = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<8x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<8x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  reprise.return %m : tensor<2xf32>
}

// -----

// A loop along the batch whose carry is more than a sum.
reprise.program @along devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}, %one: tensor<f32> {reprise.role = "parameter"}) -> tensor<f32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  // expected-error@below {{'reprise.loop' couples the samples of a batch}}
  %r = reprise.loop 8 (%c = %one) over (%row = %0) : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>) {
    %n = reprise.mul %c, %row : tensor<f32>
    reprise.yield %n : tensor<f32>
  }
  reprise.return %r : tensor<f32>
}

// -----

// A carry that is a sum, and that is read besides.
reprise.program @read devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<f32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  // expected-error@below {{'reprise.loop' couples the samples of a batch}}
  %r:2 = reprise.loop 8 (%c = %w) over (%row = %x) : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    %n = reprise.add %c, %row : tensor<f32>
    reprise.yield %n, %n : tensor<f32>, tensor<f32>
  }
  reprise.return %r#1 : tensor<8xf32>
}

// -----

// Each iteration reads all samples.
reprise.program @all devices [0] (%x: tensor<8xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<8xf32> {reprise.role = "parameter"}) -> tensor<8xf32> {
  %0 = reprise.mul %x, %w : tensor<8xf32>
  %r = reprise.loop 8 () over (%row = %x) : (tensor<8xf32>) -> (tensor<8xf32>) {
    // expected-error@below {{'reprise.sum' couples the samples of a batch}}
    %s = reprise.sum %0 dims [0] : (tensor<8xf32>) -> tensor<f32>
    %n = reprise.add %row, %s : tensor<f32>
    reprise.yield %n : tensor<f32>
  }
  reprise.return %r : tensor<8xf32>
}

// -----

reprise.program @single devices [0] (%x: tensor<4x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}, %old: tensor<2xf32> {reprise.role = "state", reprise.name = "v"}) -> (tensor<4x2xf32>, tensor<2xf32> {reprise.name = "v"}) {
  %y, %m, %v = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@below {{micro-batches of one element per channel have no variance: expected fewer of them, or statistics that are `deferred`}}
  %wm, %wv = reprise.batch_statistics %m, %v count 4 : tensor<2xf32>
  %next = reprise.add %old, %wv : tensor<2xf32>
  reprise.return %y, %next : tensor<4x2xf32>, tensor<2xf32>
}

// -----

reprise.program @miscounted devices [0] (%x: tensor<4x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<2xf32> {
  %y, %m, %v = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@below {{'reprise.batch_statistics' counts 6 elements, which 4 samples cannot share evenly}}
  %wm, %wv = reprise.batch_statistics %m, %v count 6 deferred : tensor<2xf32>
  reprise.return %wv : tensor<2xf32>
}

// -----

reprise.program @shared devices [0] (%x: tensor<4x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<2xf32> {
  // expected-error@below {{'reprise.batch_statistics' expects a mean and a variance of each micro-batch}}
  %wm, %wv = reprise.batch_statistics %w, %w count 4 deferred : tensor<2xf32>
  reprise.return %wv : tensor<2xf32>
}

// -----

reprise.program @looped devices [0] (%x: tensor<3x4x2xf32> {reprise.role = "input", reprise.batch_dim = 1 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<3x2xf32> {
  %r = reprise.loop 3 () over (%row = %x) : (tensor<3x4x2xf32>) -> (tensor<3x2xf32>) {
    %y, %m, %v = reprise.batch_norm %row, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
    // expected-error@below {{'reprise.batch_statistics' in a loop cannot be deferred}}
    %wm, %wv = reprise.batch_statistics %m, %v count 4 deferred : tensor<2xf32>
    reprise.yield %wv : tensor<2xf32>
  }
  reprise.return %r : tensor<3x2xf32>
}

// -----

// What only inputs go into may be made of the whole batch: a mask, but not the step.
reprise.program @minor devices [0] (%x: tensor<3x4x2xf32> {reprise.role = "input", reprise.batch_dim = 1 : i64}, %w: tensor<2xf32> {reprise.role = "parameter"}) -> tensor<12x2xf32> {
  // expected-warning@below {{'reprise.reshape' cannot be cut along the batch, so every micro-batch computes its readers in full}}
  %rows = reprise.reshape %x : (tensor<3x4x2xf32>) -> tensor<12x2xf32>
  %zero = reprise.constant dense<0.0> : tensor<f32>
  %shown = reprise.add %rows, %zero : (tensor<12x2xf32>, tensor<f32>) -> tensor<12x2xf32>
  // expected-note@below {{this op runs on the whole batch}}
  %y = reprise.mul %shown, %w : (tensor<12x2xf32>, tensor<2xf32>) -> tensor<12x2xf32>
  reprise.return %y : tensor<12x2xf32>
}
