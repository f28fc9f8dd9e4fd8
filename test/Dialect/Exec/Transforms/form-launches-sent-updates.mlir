// An update that a transfer reads stays ahead of that transfer, although another transfer still sends the old value.
// RUN: reprise-opt %s --exec-form-launches | FileCheck %s

// CHECK-LABEL: reprise.program @sent
// CHECK: %[[OLD:.*]] = exec.send %arg0
// CHECK: %[[NEXT:.*]] = exec.launch (%{{.*}} = %arg0)
// CHECK-NEXT: reprise.neg
// CHECK: exec.send %[[NEXT]]
// CHECK: exec.wait %[[OLD]]
reprise.program @sent devices [0] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "state"})
    -> (tensor<4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "g"}) {
  %0 = exec.send %w to @other tag 0 : tensor<4xf32>
  %1 = reprise.neg %w : tensor<4xf32>
  %2 = exec.send %1 to @other tag 1 : tensor<4xf32>
  %3 = reprise.exp %w {reprise.cotangent} : tensor<4xf32>
  exec.wait %0
  exec.wait %2
  reprise.return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
reprise.program @other devices [1] () {
  reprise.return
}

// An update without such a reader moves behind the wait, so that it may overwrite the old value.
// CHECK-LABEL: reprise.program @alone
// CHECK: reprise.exp
// CHECK: exec.wait
// CHECK: reprise.add
reprise.program @alone devices [2] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "state"})
    -> (tensor<4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "g"}) {
  %0 = exec.send %w to @other tag 0 : tensor<4xf32>
  %1 = reprise.exp %w {reprise.cotangent} : tensor<4xf32>
  %2 = reprise.add %w, %1 : tensor<4xf32>
  exec.wait %0
  reprise.return %2, %1 : tensor<4xf32>, tensor<4xf32>
}

// An update moves up to its gradient, although its constant stands behind a wait; and a product of a parameter and a
// number from before a transfer is part of the update's launch.
// CHECK-LABEL: reprise.program @late
// CHECK: reprise.sub
// CHECK: exec.send
// CHECK: reprise.exp
// CHECK: exec.launch
// CHECK-NEXT: reprise.constant dense<2.000000e+00>
// CHECK-NEXT: reprise.mul
// CHECK-NEXT: reprise.broadcast
// CHECK-NEXT: reprise.mul
// CHECK-NEXT: reprise.sub
// CHECK-NOT: exec.launch
// CHECK: exec.wait
reprise.program @late devices [3] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "state"},
                                   %rate: tensor<f32> {reprise.name = "rate", reprise.role = "input"})
    -> (tensor<4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "g"}) {
  %one = reprise.constant dense<1.0> : tensor<f32>
  %left = reprise.sub %one, %rate : tensor<f32>
  %0 = exec.send %left to @other tag 0 : tensor<f32>
  %1 = reprise.exp %w {reprise.cotangent} : tensor<4xf32>
  exec.wait %0
  %two = reprise.constant dense<2.0> : tensor<4xf32>
  %2 = reprise.mul %1, %two : tensor<4xf32>
  %spread = reprise.broadcast %left dims [] : (tensor<f32>) -> tensor<4xf32>
  %3 = reprise.mul %w, %spread : tensor<4xf32>
  %4 = reprise.sub %3, %2 : tensor<4xf32>
  reprise.return %4, %1 : tensor<4xf32>, tensor<4xf32>
}
