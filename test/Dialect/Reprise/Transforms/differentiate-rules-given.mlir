// Derivatives that a model brings, by reprise.custom_vjp.
// RUN: reprise-opt --reprise-differentiate --split-input-file %s | FileCheck %s
// RUN: reprise-opt %s --reprise-assign-labels --split-input-file | FileCheck %s --check-prefix=LABEL

// The rule takes the place of the derivatives of what computes the primal; the primal stands for the result.
// CHECK-LABEL: func @clipped
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[P:.*]] = reprise.exp %[[X]] {reprise.primal}
// CHECK: %[[L:.*]] = reprise.mul %[[P]], %[[P]] {reprise.primal}
// CHECK-NOT: custom_vjp
// CHECK: %[[D:.*]] = reprise.add
// CHECK: %[[G:.*]] = reprise.clamp %[[D]]
// CHECK-NEXT: return %[[L]], %[[G]]
func.func @clipped(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %l, %g = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %p = reprise.exp %a : tensor<f32>
    %y = reprise.custom_vjp %p wrt %a {
    ^bb0(%d: tensor<f32>):
      %c = reprise.clamp %d in [-1.0 : f64, 1.0 : f64] : tensor<f32>
      reprise.yield %c : tensor<f32>
    } : tensor<f32> wrt tensor<f32> -> tensor<f32>
    %s = reprise.mul %y, %y : tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %l, %g : tensor<f32>, tensor<f32>
}

// -----

// In a loop the rule is part of the reverse loop, and residuals come through stacks.
// CHECK-LABEL: func @in_a_loop
// CHECK: reprise.loop 3
// CHECK: reprise.loop 3 ({{.*}}) reverse
// CHECK: reprise.cos
// CHECK-NOT: custom_vjp
func.func @in_a_loop(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %l, %g = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %r = reprise.loop 3 (%c = %a) : (tensor<f32>) -> tensor<f32> {
      %p = reprise.sin %c : tensor<f32>
      %y = reprise.custom_vjp %p wrt %c {
      ^bb0(%d: tensor<f32>):
        %cos = reprise.cos %c : tensor<f32>
        %dc = reprise.mul %d, %cos : tensor<f32>
        reprise.yield %dc : tensor<f32>
      } : tensor<f32> wrt tensor<f32> -> tensor<f32>
      reprise.yield %y : tensor<f32>
    }
    reprise.yield %r : tensor<f32>
  }
  return %l, %g : tensor<f32>, tensor<f32>
}

// -----

// Without a gradient around it nothing of the rule stays.
// CHECK-LABEL: func @forward
// CHECK-NEXT: reprise.exp
// CHECK-NEXT: reprise.name
// CHECK-NEXT: return
// A name of the result is one of the primal; blocks and names in the rule are gone.
// LABEL-LABEL: func @forward
// LABEL: reprise.exp %arg0 {{.*}}reprise.names = ["y"]
// LABEL: ^bb0(%[[D:.*]]: tensor<f32>):
// LABEL-NEXT: %[[N:.*]] = reprise.neg %[[D]]
// LABEL-NEXT: reprise.yield %[[N]]
func.func @forward(%x: tensor<f32>) -> tensor<f32> {
  %p = reprise.exp %x : tensor<f32>
  %y = reprise.custom_vjp %p wrt %x {
  ^bb0(%d: tensor<f32>):
    %b = reprise.checkpoint {
      %n = reprise.neg %d : tensor<f32>
      reprise.yield %n : tensor<f32>
    } : tensor<f32>
    %m = reprise.name %b "inside" : tensor<f32>
    reprise.yield %m : tensor<f32>
  } : tensor<f32> wrt tensor<f32> -> tensor<f32>
  %z = reprise.name %y "y" : tensor<f32>
  return %z : tensor<f32>
}
