// An update that a transfer reads stays ahead of that transfer, although another transfer still sends the old value.
// RUN: reprise-opt %s --exec-form-launches | FileCheck %s

// CHECK-LABEL: func.func @sent
// CHECK: %[[OLD:.*]] = exec.send %arg0
// CHECK: %[[NEXT:.*]] = exec.launch (%{{.*}} = %arg0)
// CHECK-NEXT: reprise.neg
// CHECK: exec.send %[[NEXT]]
// CHECK: exec.wait %[[OLD]]
func.func @sent(%w: tensor<4xf32> {reprise.name = "w", reprise.role = "state"})
    -> (tensor<4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "g"}) attributes {reprise.device = 0 : i64} {
  %0 = exec.send %w to @other tag 0 : tensor<4xf32>
  %1 = reprise.neg %w : tensor<4xf32>
  %2 = exec.send %1 to @other tag 1 : tensor<4xf32>
  %3 = reprise.exp %w {reprise.cotangent} : tensor<4xf32>
  exec.wait %0
  exec.wait %2
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
func.func private @other()

// An update without such a reader moves behind the wait, so that it may overwrite the old value.
// CHECK-LABEL: func.func @alone
// CHECK: reprise.exp
// CHECK: exec.wait
// CHECK: reprise.add
func.func @alone(%w: tensor<4xf32> {reprise.name = "w", reprise.role = "state"})
    -> (tensor<4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "g"}) attributes {reprise.device = 0 : i64} {
  %0 = exec.send %w to @other tag 0 : tensor<4xf32>
  %1 = reprise.exp %w {reprise.cotangent} : tensor<4xf32>
  %2 = reprise.add %w, %1 : tensor<4xf32>
  exec.wait %0
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}
