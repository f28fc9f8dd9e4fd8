// RUN: reprise-opt %s --reprise-import -split-input-file -verify-diagnostics | FileCheck %s

// Calls are inlined, each value_and_grad gets a body of its own, and streams count in program order.
// CHECK-NOT: @twice
// CHECK-NOT: @unused
// CHECK-LABEL: func.func @train
// CHECK-SAME: reprise.name = "argument1", reprise.role = "input"
// CHECK-SAME: {reprise.name = "loss"}
// CHECK: reprise.dropout %{{.*}} {rate = 5.000000e-01 : f64, stream = 0 : i64}
// CHECK: reprise.value_and_grad (%[[A:.*]] = %{{.*}}) wrt [0]
// CHECK: reprise.dropout %[[A]] {rate = 5.000000e-01 : f64, stream = 1 : i64}
// CHECK: reprise.yield
// CHECK: reprise.value_and_grad
// CHECK: stream = 2 : i64
// CHECK: return
func.func private @drop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = func.call @drop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = reprise.sum %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @unused() { return }
func.func @train(%x: tensor<4xf32> {reprise.name = "x"}, %y: tensor<4xf32>) -> (tensor<f32> {reprise.name = "loss"}, tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @drop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = reprise.value_and_grad @twice(%0) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  %2:2 = reprise.value_and_grad @twice(%y) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %1#0, %1#1, %2#1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Broadcasts become ops; a dimension of size 1 is dropped first.
// CHECK-LABEL: func.func @train
// CHECK: %[[R:.*]] = reprise.reshape %arg1 : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK: %[[B:.*]] = reprise.broadcast %[[R]] dims [0] : (tensor<2xf32>) -> tensor<2x3xf32>
// CHECK: reprise.add %arg0, %[[B]] : tensor<2x3xf32>
func.func @train(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = reprise.add %x, %y : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// expected-error@below {{unknown entry 'train', expected one of other}}
module {
  func.func @other() { return }
}

// -----

func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note@below {{the function}}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{recursive use of 'again'}}
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{two arguments of the entry have the name 'x'}}
func.func @train(%x: tensor<4xf32> {reprise.name = "x"}, %y: tensor<4xf32> {reprise.name = "x"}) { return }

// -----

// expected-error@below {{result 'w' is the next value of an argument of type 'tensor<4xf32>' but has type 'tensor<f32>'}}
func.func @train(%w: tensor<4xf32> {reprise.name = "w"}) -> (tensor<f32> {reprise.name = "w"}) {
  %0 = reprise.sum %w dims [0] : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error@below {{expected a statically shaped tensor of f32, f64, bf16, f16, i32, i64 or i1 as argument 0 of the entry but got 'tensor<?xf32>'}}
func.func @train(%w: tensor<?xf32>) { return }

// -----

func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'arith.addf' is not an op of the model graph}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{expected a statically shaped tensor of f32, f64, bf16, f16, i32, i64 or i1 as argument 0 of the entry but got 'tensor<4xi8>'}}
func.func @train(%w: tensor<4xi8>) { return }

// -----

// expected-error@below {{expected a statically shaped tensor of f32, f64, bf16, f16, i32, i64 or i1 as argument 0 of the entry but got 'tensor<4xindex>'}}
func.func @train(%w: tensor<4xindex>) { return }

// -----

// expected-error@below {{the argument name 'step' is reserved}}
func.func @train(%x: tensor<4xf32> {reprise.name = "step"}) { return }

// -----

// expected-error@below {{the result name 'offset' is reserved}}
func.func @train(%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = "offset"}) { return %x : tensor<4xf32> }

// -----

// expected-error@below {{the role 'seed' is reserved (argument 1)}}
func.func @train(%x: tensor<4xf32>, %s: tensor<i64> {reprise.role = "seed"}) { return }

// -----

// expected-error@below {{expected a name without null characters for each result of the entry}}
func.func @train(%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = ""}) { return %x : tensor<4xf32> }

// -----

// expected-error@below {{expected a name without null characters for each argument of the entry}}
func.func @train(%x: tensor<4xf32> {reprise.name = "a\00b"}) { return }

// -----

// expected-error@below {{two results of the entry have the name 'y'}}
func.func @train(%x: tensor<4xf32>) -> (tensor<4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "y"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// What later phases write on ops cannot come from a model.
func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{unexpected attribute 'reprise.primal' on an op of a model}}
  %0 = reprise.exp %x {reprise.primal} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{unexpected attribute 'exec.arena_bytes' on an op of a model}}
func.func @train(%x: tensor<4xf32>) attributes {exec.arena_bytes = 64 : i64} { return }

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{expected a label on an op with a value to save, got 'func.call'}}
  %0 = func.call @f(%x) {reprise.label = #reprise.label<must_save>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Sizes whose bytes overflow, in whatever order their dimensions come.
// expected-error@below {{expected tensors of at most 2^47 bytes but got 'tensor<4294967296x4294967296x0xf32>'}}
func.func @train(%x: tensor<4294967296x4294967296x0xf32>) { return }

// -----

func.func @train(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@below {{expected tensors of at most 2^47 bytes but got 'tensor<4611686018427387904xf32>'}}
  %0 = reprise.broadcast %x dims [] : (tensor<f32>) -> tensor<4611686018427387904xf32>
  %1 = reprise.sum %0 dims [0] : (tensor<4611686018427387904xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @train(%q: tensor<1x1x16777216x1xf32>) -> tensor<1x1x16777216x1xf32> {
  // expected-error@below {{the op draws more than 2^45 random words}}
  %0, %l = reprise.attention %q, %q, %q {scale = 1.0 : f64, rate = 0.5 : f64} : (tensor<1x1x16777216x1xf32>, tensor<1x1x16777216x1xf32>, tensor<1x1x16777216x1xf32>) -> (tensor<1x1x16777216x1xf32>, tensor<1x1x16777216xf32>)
  return %0 : tensor<1x1x16777216x1xf32>
}

// -----

func.func @train(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<4xf32> {
  // expected-error@below {{expected a random op without seed and offset: the compiler adds them}}
  %0 = reprise.dropout %x seed %i offset %i {rate = 0.5 : f64, stream = 0 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
