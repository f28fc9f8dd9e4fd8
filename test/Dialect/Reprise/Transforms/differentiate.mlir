// RUN: reprise-opt --reprise-differentiate --split-input-file %s | FileCheck %s
// RUN: reprise-opt --reprise-differentiate --split-input-file --verify-roundtrip %s | FileCheck %s

// One flat block: primal ops marked, then cotangents with what their source op passes on.
// CHECK-LABEL: func @should_inherit_block_label_and_rule_from_the_source
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x2xf32>)
// CHECK: %[[A:.*]] = reprise.dot_general %[[X]], %[[W]] contracting [1] x [0] {reprise.block = array<i64: 3, 5>, reprise.label = #reprise.label<must_save>, reprise.names = ["a"], reprise.primal, reprise.rule = "op"}
// CHECK: %[[B:.*]] = reprise.exp %[[A]] {reprise.primal}
// CHECK: %[[L:.*]] = reprise.sum %[[B]] dims [0, 1] {reprise.primal}
// CHECK: %[[ONE:.*]] = reprise.constant {reprise.cotangent, reprise.order = 1 : i64} dense<1.000000e+00> : tensor<f32>
// CHECK: %[[DB:.*]] = reprise.broadcast %[[ONE]] dims [] {reprise.cotangent, reprise.order = 1 : i64}
// CHECK: %[[DA:.*]] = reprise.mul %[[DB]], %[[B]] {reprise.cotangent, reprise.order = 1 : i64}
// CHECK: %[[DW:.*]] = reprise.dot_general %[[X]], %[[DA]] contracting [0] x [0] {reprise.block = array<i64: 3, 5>, reprise.cotangent, reprise.label = #reprise.label<must_save>, reprise.order = 1 : i64, reprise.rule = "op"}
// CHECK-NEXT: return %[[L]], %[[DW]]
func.func @should_inherit_block_label_and_rule_from_the_source(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> (tensor<f32>, tensor<3x2xf32>) {
  %l, %g = reprise.value_and_grad (%p = %x, %q = %w) wrt [1] : (tensor<4x3xf32>, tensor<3x2xf32>) -> (tensor<f32>, tensor<3x2xf32>) {
    %a = reprise.dot_general %p, %q contracting [1] x [0] {reprise.block = array<i64: 3, 5>, reprise.label = #reprise.label<must_save>, reprise.rule = "op", reprise.names = ["a"]} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %b = reprise.exp %a : tensor<4x2xf32>
    %s = reprise.sum %b dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %l, %g : tensor<f32>, tensor<3x2xf32>
}

// -----

// Uses in reverse: the last op first, in an op the last operand first; sums as the terms arise.
// CHECK-LABEL: func @should_add_cotangents_in_reverse_order_of_uses
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[EXP:.*]] = reprise.exp %[[X]]
// CHECK: %[[SIN:.*]] = reprise.tanh %[[X]]
// CHECK: %[[PROD:.*]] = reprise.mul %[[EXP]], %[[X]]
// CHECK: %[[SUM:.*]] = reprise.add %[[PROD]], %[[SIN]]
// CHECK: %[[ONE:.*]] = reprise.constant
// CHECK: %[[DEXP:.*]] = reprise.mul %[[ONE]], %[[X]]
// CHECK: %[[FIRST:.*]] = reprise.mul %[[ONE]], %[[EXP]]
// CHECK: %[[SECOND:.*]] = reprise.mul %[[ONE]], %{{.*}}
// CHECK: %[[PARTIAL:.*]] = reprise.add %[[FIRST]], %[[SECOND]]
// CHECK: %[[THIRD:.*]] = reprise.mul %[[DEXP]], %[[EXP]]
// CHECK: %[[TOTAL:.*]] = reprise.add %[[PARTIAL]], %[[THIRD]]
// CHECK-NEXT: return %[[TOTAL]]
func.func @should_add_cotangents_in_reverse_order_of_uses(%x: tensor<f32>) -> tensor<f32> {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %a = reprise.exp %p : tensor<f32>
    %b = reprise.tanh %p : tensor<f32>
    %c = reprise.mul %a, %p : tensor<f32>
    %d = reprise.add %c, %b : tensor<f32>
    reprise.yield %d : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// CHECK-LABEL: func @should_count_each_operand_as_a_use
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[ONE:.*]] = reprise.constant
// CHECK: %[[L:.*]] = reprise.mul %[[ONE]], %[[X]]
// CHECK: %[[R:.*]] = reprise.mul %[[ONE]], %[[X]]
// CHECK: reprise.add %[[R]], %[[L]]
func.func @should_count_each_operand_as_a_use(%x: tensor<f32>) -> tensor<f32> {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %a = reprise.mul %p, %p : tensor<f32>
    reprise.yield %a : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// Zeros exist only as the gradient of an argument that the result does not depend on. The integer path stops there.
// CHECK-LABEL: func @should_make_zeros_for_unused_arguments_only
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<3xf32>)
// CHECK: reprise.cast %[[Y]] {reprise.primal} : tensor<3xf32> to tensor<3xi32>
// CHECK-NOT: dense<0.0
// CHECK: %[[ZERO:.*]] = reprise.constant {reprise.cotangent, reprise.order = 1 : i64} dense<0.000000e+00> : tensor<3xf32>
// CHECK-NEXT: return %{{.*}}, %[[ZERO]]
func.func @should_make_zeros_for_unused_arguments_only(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %l, %g0, %g1 = reprise.value_and_grad (%p = %x, %q = %y) wrt [0, 1]
      : (tensor<2xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<2xf32>, tensor<3xf32>) {
    %i = reprise.cast %q : tensor<3xf32> to tensor<3xi32>
    %n = reprise.sum %i dims [0] : (tensor<3xi32>) -> tensor<i32>
    %f = reprise.cast %n : tensor<i32> to tensor<f32>
    %b = reprise.broadcast %f dims [] : (tensor<f32>) -> tensor<2xf32>
    %a = reprise.mul %p, %b : tensor<2xf32>
    %s = reprise.sum %a dims [0] : (tensor<2xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g0, %g1 : tensor<2xf32>, tensor<3xf32>
}

// -----

// Only ops between the wrt arguments and the scalar are taken back, and no dead op stays.
// CHECK-LABEL: func @should_build_only_what_is_needed
// CHECK-COUNT-4: reprise.primal
// CHECK-NOT: reprise.primal
// CHECK: %[[ONE:.*]] = reprise.constant
// CHECK-NEXT: %[[G:.*]] = reprise.mul %[[ONE]], %{{.*}}
// CHECK-NEXT: return %[[G]]
func.func @should_build_only_what_is_needed(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %l:2, %g = reprise.value_and_grad (%p = %x, %q = %y) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %a = reprise.exp %q : tensor<f32>
    %b = reprise.div %p, %a : tensor<f32>
    %c = reprise.mul %p, %a : tensor<f32>
    %d = reprise.exp %b : tensor<f32>
    reprise.yield %c, %d : tensor<f32>, tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// CHECK-LABEL: func @should_treat_values_from_above_as_constants
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[ONE:.*]] = reprise.constant
// CHECK: %[[G:.*]] = reprise.mul %[[ONE]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @should_treat_values_from_above_as_constants(%x: tensor<f32>) -> tensor<f32> {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %a = reprise.mul %p, %x : tensor<f32>
    reprise.yield %a : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// Several scalars share one forward pass.
// CHECK-LABEL: func @should_take_several_results_back_from_one_forward_pass
// CHECK: %[[E:.*]] = reprise.exp %{{.*}} {reprise.primal}
// CHECK: %[[T:.*]] = reprise.tanh %[[E]] {reprise.primal}
// CHECK-NOT: reprise.primal
// CHECK: %[[GE:.*]] = reprise.mul %{{.*}}, %[[E]]
// CHECK-NEXT: %[[ONE:.*]] = reprise.constant {{.*}} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[G:.*]] = reprise.mul %[[ONE]], %[[E]]
// CHECK-NEXT: return %[[GE]], %[[G]]
func.func @should_take_several_results_back_from_one_forward_pass(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %e, %t, %g:2 = reprise.value_and_grad (%p = %x) wrt [0] of [1, 0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %a = reprise.exp %p : tensor<f32>
    %b = reprise.tanh %a : tensor<f32>
    reprise.yield %a, %b : tensor<f32>, tensor<f32>
  }
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// -----

// The identity: the gradient is the seed.
// CHECK-LABEL: func @should_return_one_for_the_argument_itself
// CHECK: %[[ONE:.*]] = reprise.constant {{.*}} dense<1.000000e+00> : tensor<f32>
// CHECK: %[[ZERO:.*]] = reprise.constant {{.*}} dense<0.000000e+00> : tensor<f32>
// CHECK: return %[[ONE]], %[[ZERO]]
func.func @should_return_one_for_the_argument_itself(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %l, %g:2 = reprise.value_and_grad (%p = %x, %q = %x) wrt [0, 1] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    reprise.yield %p : tensor<f32>
  }
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// -----

// The same words are drawn again.
// CHECK-LABEL: func @should_draw_the_same_mask_for_the_cotangent
// CHECK-SAME: (%{{.*}}: tensor<8xf32>, %[[SEED:.*]]: tensor<i64>, %[[OFFSET:.*]]: tensor<i64>, %[[ORIGIN:.*]]: tensor<1xi64>)
// CHECK-COUNT-2: reprise.dropout %{{.*}} seed %[[SEED]] offset %[[OFFSET]] origin %[[ORIGIN]] : tensor<1xi64> {global_shape = array<i64: 64>, rate = 1.250000e-01 : f32, {{.*}}stream = 7 : i64}
func.func @should_draw_the_same_mask_for_the_cotangent(%x: tensor<8xf32>, %seed: tensor<i64>, %offset: tensor<i64>, %origin: tensor<1xi64>) -> tensor<8xf32> {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    %a = reprise.dropout %p seed %seed offset %offset origin %origin : tensor<1xi64> {rate = 0.125 : f32, stream = 7 : i64, global_shape = array<i64: 64>} : tensor<8xf32>
    %s = reprise.sum %a dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g : tensor<8xf32>
}
