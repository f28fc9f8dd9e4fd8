// RUN: reprise-opt %s --reprise-to="autodiff" --reprise-checkpoint=bodies | FileCheck %s --check-prefix=BODIES
// RUN: reprise-opt %s --reprise-to="autodiff" --reprise-checkpoint=bodies --reprise-checkpoint --reprise-verify-checkpoint | FileCheck %s

// The body keeps its carry and makes the products again, row by row; then the step around the loop is planned as it is.
// BODIES-LABEL: @train
// BODIES-SAME: reprise.bodies_planned
// BODIES-NOT: reprise.saved_bytes
// BODIES: reprise.loop 8
// BODIES: reprise.yield
// BODIES: reprise.loop 8 {{.*}} reverse
// BODIES: reprise.tanh {{.*}}replay = 1
// BODIES: reprise.exp {{.*}}replay = 1

// CHECK-LABEL: @train
// CHECK-SAME: reprise.replayed_ops = 24
// CHECK-NOT: reprise.bodies_planned
// CHECK: reprise.loop 8 {{.*}} reverse
// CHECK: reprise.tanh {{.*}}replay = 1
func.func @train(%x: tensor<4xf32> {reprise.name = "x"}, %s: tensor<8x4xf32> {reprise.name = "s"}) -> (tensor<f32> {reprise.name = "loss"}, tensor<4xf32> {reprise.name = "dx"}) {
  %0:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %l = reprise.loop 8 (%c = %a) over (%r = %s) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<4xf32> {
      %t = reprise.tanh %c : tensor<4xf32>
      %e = reprise.exp %t : tensor<4xf32>
      %m = reprise.mul %e, %r : tensor<4xf32>
      %n = reprise.sin %m : tensor<4xf32>
      reprise.yield %n : tensor<4xf32>
    }
    %sum = reprise.sum %l dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %sum : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<4xf32>
}
