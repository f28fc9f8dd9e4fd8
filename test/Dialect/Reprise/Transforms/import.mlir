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

// expected-error@below {{unknown entry 'train', expected one of 'other'}}
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

// expected-error@below {{expected a statically shaped tensor as argument 0 of the entry but got 'tensor<?xf32>'}}
func.func @train(%w: tensor<?xf32>) { return }

// -----

func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'arith.addf' is not an op of the model graph}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
