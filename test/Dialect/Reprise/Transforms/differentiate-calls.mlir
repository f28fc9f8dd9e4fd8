// The derivative of a call is a call. It names the operands whose cotangents are wanted and the results whose cotangents
// are given, and reads the operands and these cotangents.
// RUN: reprise-opt --reprise-differentiate --split-input-file %s | FileCheck %s
// RUN: reprise-opt --reprise-differentiate --split-input-file --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: func @should_call_the_derivative
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[N:.*]]: tensor<2xi64>, %[[W:.*]]: tensor<4xf64>)
// CHECK: %[[Y:.*]]:2 = reprise.custom_call "host:f"(%[[X]], %[[N]], %[[W]]) {{.*}}seconds = array<f64: 1.000000e+00, 2.000000e+00, 3.000000e+00>, workspace = array<i64: 64>
// CHECK: %[[G:.*]] = reprise.broadcast {{.*}} -> tensor<3xf32>
// CHECK: %[[D:.*]]:2 = reprise.custom_call "host:f/vjp(0,2;1)"(%[[X]], %[[N]], %[[W]], %[[G]])
// CHECK-SAME: seconds = array<f64: 2.000000e+00, 3.000000e+00>, workspace = array<i64: 64>
// CHECK-SAME: : (tensor<8xf32>, tensor<2xi64>, tensor<4xf64>, tensor<3xf32>) -> (tensor<8xf32>, tensor<4xf64>)
// CHECK: return %{{.*}}, %[[D]]#0, %[[D]]#1
func.func @should_call_the_derivative(%x: tensor<8xf32>, %n: tensor<2xi64>, %w: tensor<4xf64>) -> (tensor<f32>, tensor<8xf32>, tensor<4xf64>) {
  %l, %g:2 = reprise.value_and_grad (%p = %x, %q = %n, %r = %w) wrt [0, 2] : (tensor<8xf32>, tensor<2xi64>, tensor<4xf64>) -> (tensor<f32>, tensor<8xf32>, tensor<4xf64>) {
    %y:2 = reprise.custom_call "host:f"(%p, %q, %r) {seconds = array<f64: 1.0, 2.0, 3.0>, workspace = array<i64: 64>} : (tensor<8xf32>, tensor<2xi64>, tensor<4xf64>) -> (tensor<5xf32>, tensor<3xf32>)
    %s = reprise.sum %y#1 dims [0] : (tensor<3xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %l, %g#0, %g#1 : tensor<f32>, tensor<8xf32>, tensor<4xf64>
}

// -----

// Of the derivative, too; results of integers have no cotangent.
// CHECK-LABEL: func @should_call_the_second_derivative
// CHECK: reprise.custom_call "host:f"(%{{.*}})
// CHECK: reprise.custom_call "host:f/vjp(0;0)"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<8xf32>, tensor<3xf32>) -> tensor<8xf32>
// CHECK: reprise.custom_call "host:f/vjp(0;0)/vjp(0;0)"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}}seconds = array<f64: 2.000000e+00>{{.*}} : (tensor<8xf32>, tensor<3xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @should_call_the_second_derivative(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    %m, %h = reprise.value_and_grad (%q = %p) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
      %y:2 = reprise.custom_call "host:f"(%q) {seconds = array<f64: 1.0, 2.0>} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>)
      %s = reprise.sum %y#0 dims [0] : (tensor<3xf32>) -> tensor<f32>
      reprise.yield %s : tensor<f32>
    }
    %t = reprise.sum %h dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %t : tensor<f32>
  }
  return %l, %g : tensor<f32>, tensor<8xf32>
}
