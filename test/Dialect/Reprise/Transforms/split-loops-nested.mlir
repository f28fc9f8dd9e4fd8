// Where a gradient is differentiated again, the reverse loop's carries come from the derivatives of all ops of the body, so
// a label on any of them makes segments; where it is taken once, they are not kept anyway.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise-split-loops)" | FileCheck %s
// RUN: reprise-opt %s --reprise-to="checkpoint entry=nested" | reprise-opt --pass-pipeline="builtin.module(reprise.program(reprise-verify-checkpoint))" | FileCheck %s --check-prefix=PLAN

// CHECK-LABEL: func.func @nested
// CHECK: reprise.loop 2
// CHECK: reprise.loop 2
// CHECK: reprise.label = #reprise.label<must_recompute>
// PLAN-LABEL: reprise.program @nested
func.func @nested(%x: tensor<8xf32> {reprise.role = "input"}, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
    %1:2 = reprise.value_and_grad (%u = %v) wrt [0] : (tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
      %h = reprise.loop 4 (%c = %x) over (%s = %u) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<8xf32> {
        %m = reprise.mul %c, %s {reprise.label = #reprise.label<must_recompute>} : tensor<8xf32>
        %t = reprise.tanh %m : tensor<8xf32>
        reprise.yield %t : tensor<8xf32>
      }
      %l = reprise.sum %h dims [0] : (tensor<8xf32>) -> tensor<f32>
      reprise.yield %l : tensor<f32>
    }
    %q = reprise.mul %1#1, %1#1 : tensor<4x8xf32>
    %l = reprise.sum %q dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @once
// CHECK: reprise.loop 4
// CHECK-NOT: reprise.loop
func.func @once(%x: tensor<8xf32> {reprise.role = "input"}, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0:2 = reprise.value_and_grad (%u = %w) wrt [0] : (tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
    %h = reprise.loop 4 (%c = %x) over (%s = %u) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<8xf32> {
      %m = reprise.mul %c, %s {reprise.label = #reprise.label<must_recompute>} : tensor<8xf32>
      %t = reprise.tanh %m : tensor<8xf32>
      reprise.yield %t : tensor<8xf32>
    }
    %l = reprise.sum %h dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<4x8xf32>
}
