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
