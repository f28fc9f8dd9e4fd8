// RUN: reprise-opt --reprise-differentiate --split-input-file %s | FileCheck %s

// An inner gradient is primal for the outer one. Orders: 0 the function, 1 its derivative, 2 and 3 the derivatives of these.
// CHECK-LABEL: func @should_number_the_orders_of_nested_derivatives
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[E:.*]] = reprise.exp %[[X]] {reprise.block = array<i64: 1>, reprise.primal}
// CHECK-NEXT: %[[ONE:.*]] = reprise.constant {reprise.order = 1 : i64, reprise.primal}
// CHECK-NEXT: %[[D:.*]] = reprise.mul %[[ONE]], %[[E]] {reprise.block = array<i64: 1>, reprise.order = 1 : i64, reprise.primal}
// CHECK-NEXT: %[[SEED:.*]] = reprise.constant {reprise.cotangent, reprise.order = 2 : i64}
// CHECK-NEXT: %[[DE:.*]] = reprise.mul %[[SEED]], %[[ONE]] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 3 : i64}
// CHECK-NEXT: %[[DX:.*]] = reprise.mul %[[DE]], %[[E]] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 2 : i64}
// CHECK-NEXT: return %[[D]], %[[DX]]
func.func @should_number_the_orders_of_nested_derivatives(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %first, %second = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %l, %g = reprise.value_and_grad (%q = %p) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %a = reprise.exp %q {reprise.block = array<i64: 1>} : tensor<f32>
      reprise.yield %a : tensor<f32>
    }
    reprise.yield %g : tensor<f32>
  }
  return %first, %second : tensor<f32>, tensor<f32>
}

// -----

// A Hessian-vector product: the gradient of <gradient, v>. The vector is a value from above for both.
// CHECK-LABEL: func @should_differentiate_a_gradient
// CHECK-NOT: value_and_grad
// CHECK: reprise.primal
// CHECK: return
func.func @should_differentiate_a_gradient(%x: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
  %first, %hv = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
    %l, %g = reprise.value_and_grad (%q = %p) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
      %a = reprise.softmax %q : tensor<3xf32>
      %m = reprise.mul %a, %a : tensor<3xf32>
      %s = reprise.sum %m dims [0] : (tensor<3xf32>) -> tensor<f32>
      reprise.yield %s : tensor<f32>
    }
    %w = reprise.mul %g, %v : tensor<3xf32>
    %d = reprise.sum %w dims [0] : (tensor<3xf32>) -> tensor<f32>
    reprise.yield %d : tensor<f32>
  }
  return %hv : tensor<3xf32>
}

// -----

// Siblings are of the same height; three deep adds 4.
// CHECK-LABEL: func @should_count_levels_and_not_siblings
// CHECK-COUNT-2: reprise.constant {reprise.order = 1 : i64, reprise.primal}
// CHECK: reprise.constant {reprise.order = 2 : i64, reprise.primal}
// CHECK: reprise.order = 7 : i64
func.func @should_count_levels_and_not_siblings(%x: tensor<f32>) -> tensor<f32> {
  %0, %third = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %1, %second = reprise.value_and_grad (%q = %p) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %2, %one = reprise.value_and_grad (%r = %q) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
        %a = reprise.exp %r : tensor<f32>
        reprise.yield %a : tensor<f32>
      }
      %3, %two = reprise.value_and_grad (%r = %q) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
        %a = reprise.tanh %r : tensor<f32>
        reprise.yield %a : tensor<f32>
      }
      %s = reprise.mul %one, %two : tensor<f32>
      reprise.yield %s : tensor<f32>
    }
    reprise.yield %second : tensor<f32>
  }
  return %third : tensor<f32>
}
