// Launches do not cross the pause of a step, and what the caller sees there is there.
// RUN: reprise-opt %s --exec-form-launches --exec-place-buffers --exec-verify-buffers -split-input-file | FileCheck %s

// Both ops read x alone, and share no launch. What is read behind the pause lies in the arena: the argument is the
// caller's by then, and a copy brings the value there before. The late value is read as the argument that it is.
// CHECK-LABEL: @read_behind
// CHECK-NEXT: %[[Y:.*]] = exec.launch
// CHECK: reprise.exp
// CHECK: arguments = array<i64: -1>
// CHECK-NEXT: exec.copy %[[Y]] into 2
// CHECK-NEXT: reprise.pause(%[[Y]]) then(%arg1)
// CHECK-NEXT: exec.launch (%{{.*}} = %[[Y]], %{{.*}} = %arg1)
// CHECK: reprise.mul
// CHECK-NOT: exec.copy
// CHECK: return
reprise.program @read_behind devices [0] (%x: tensor<8xf32> {reprise.name = "x", reprise.role = "input"},
    %g: tensor<8xf32> {reprise.name = "g", reprise.role = "input"},
    %o: tensor<8xf32> {reprise.name = "y", reprise.role = "state"})
    -> (tensor<8xf32> {reprise.name = "y"}, tensor<8xf32> {reprise.name = "dx"}) {
  %y = reprise.exp %x : tensor<8xf32>
  %late = reprise.pause (%y) then (%g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %dx = reprise.mul %y, %late : tensor<8xf32>
  reprise.return %y, %dx : tensor<8xf32>, tensor<8xf32>
}

// -----

// What nothing reads behind the pause is stored where the caller wants it.
// CHECK-LABEL: @stored
// CHECK-NEXT: exec.launch
// CHECK: reprise.exp
// CHECK: arguments = array<i64: 2>
// CHECK-NEXT: reprise.pause
// CHECK-NEXT: exec.launch
// CHECK: reprise.log
// CHECK-NOT: exec.copy
// CHECK: return
reprise.program @stored devices [0] (%x: tensor<8xf32> {reprise.name = "x", reprise.role = "input"},
    %g: tensor<8xf32> {reprise.name = "g", reprise.role = "input"},
    %o: tensor<8xf32> {reprise.name = "y", reprise.role = "state"})
    -> (tensor<8xf32> {reprise.name = "y"}, tensor<8xf32> {reprise.name = "dx"}) {
  %y = reprise.exp %x : tensor<8xf32>
  %late = reprise.pause (%y) then (%g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = reprise.log %x : tensor<8xf32>
  %dx = reprise.mul %l, %late : tensor<8xf32>
  reprise.return %y, %dx : tensor<8xf32>, tensor<8xf32>
}

// -----

// A view, an argument and a value that is returned twice are copied before the pause, and a late value behind it.
// CHECK-LABEL: @aliases
// CHECK: reprise.exp
// CHECK: exec.launch
// CHECK: reprise.reshape
// CHECK: exec.launch
// CHECK: exec.launch
// CHECK: reprise.pause
// CHECK: exec.launch (%{{.*}} = %arg1)
// CHECK-NOT: exec.launch
// CHECK: return
reprise.program @aliases devices [0] (%x: tensor<8xf32> {reprise.name = "x", reprise.role = "input"},
    %g: tensor<8xf32> {reprise.name = "g", reprise.role = "input"})
    -> (tensor<8xf32> {reprise.name = "y"}, tensor<2x4xf32> {reprise.name = "view"}, tensor<8xf32> {reprise.name = "z"},
        tensor<8xf32> {reprise.name = "same"}, tensor<8xf32> {reprise.name = "dx"}) {
  %y = reprise.exp %x : tensor<8xf32>
  %view = reprise.reshape %y : (tensor<8xf32>) -> tensor<2x4xf32>
  %late = reprise.pause (%y, %view, %x) then (%g) : (tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  reprise.return %y, %view, %y, %x, %late : tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The old value of w is read behind the pause, so that its next value comes at the end, though it is there before.
// CHECK-LABEL: @old_value
// CHECK: reprise.exp
// CHECK: reprise.pause
// CHECK: reprise.mul
// CHECK: exec.copy %{{.*}} into 0
// CHECK: return
reprise.program @old_value devices [0] (%w: tensor<8xf32> {reprise.name = "w", reprise.role = "parameter"},
    %g: tensor<8xf32> {reprise.name = "g", reprise.role = "input"})
    -> (tensor<8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "dw"}) {
  %next = reprise.exp %w : tensor<8xf32>
  %late = reprise.pause (%next) then (%g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %dw = reprise.mul %w, %late : tensor<8xf32>
  reprise.return %next, %dw : tensor<8xf32>, tensor<8xf32>
}
