// A label holds for the memory, whatever the backward pass reads it through.
// RUN: reprise-opt %s --split-input-file --reprise-checkpoint --reprise-verify-checkpoint | FileCheck %s

// Only views are read: what must be computed again is, once for both.
// CHECK-LABEL: reprise.program @recomputed
// CHECK-SAME: reprise.saved_bytes = 0
// CHECK: reprise.exp {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.reasons = ["op"]
// CHECK: reprise.reshape {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.label = #reprise.label<must_recompute>, {{.*}}reprise.reasons = ["op"]
// CHECK: %[[E:.*]] = reprise.exp %arg0 {replay = 1
// CHECK: reprise.reshape %[[E]] {{.*}}replay = 1
// CHECK: reprise.transpose %[[E]] {{.*}}replay = 1
// CHECK-NOT: reprise.exp
reprise.program @recomputed devices [0] (%x: tensor<2x2xf32>, %dy: tensor<4xf32>) -> tensor<2x2xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"} : tensor<2x2xf32>
  %b = reprise.reshape %a {reprise.primal} : (tensor<2x2xf32>) -> tensor<4xf32>
  %c = reprise.transpose %a [1, 0] {reprise.primal} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<4xf32>
  %e = reprise.reshape %d {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4xf32>) -> tensor<2x2xf32>
  %f = reprise.mul %e, %c {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2xf32>
  reprise.return %f : tensor<2x2xf32>
}

// -----

// The label of a view is that of the memory; of half of it, too.
// CHECK-LABEL: reprise.program @half
// CHECK-SAME: reprise.saved_bytes = 0
// CHECK: reprise.exp {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.label = #reprise.label<must_recompute>, {{.*}}reprise.reasons = ["op"], reprise.rule = "op"
reprise.program @half devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>, %dz: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %a = reprise.exp %x {reprise.primal} : tensor<4xf32>
  %b = reprise.slice %a from [0] to [2] by [1] {reprise.primal, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"} : (tensor<4xf32>) -> tensor<2xf32>
  %d = reprise.mul %dy, %a {reprise.cotangent, reprise.order = 1 : i64} : tensor<4xf32>
  %e = reprise.mul %dz, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<2xf32>
  reprise.return %d, %e : tensor<4xf32>, tensor<2xf32>
}

// -----

// What is saved through a view is saved, and a PREFER to compute it again holds in its unit.
// CHECK-LABEL: reprise.program @saved
// CHECK-SAME: reprise.saved_bytes = 32
// CHECK: reprise.exp {{.*}}reprise.decisions = [#reprise.decision<saved>], {{.*}}reprise.reasons = ["op"]
// CHECK: reprise.reshape {{.*}}reprise.decisions = [#reprise.decision<saved>], {{.*}}reprise.reasons = [#reprise.reason<fastest>]
// CHECK: reprise.sin {{.*}}reprise.decisions = [#reprise.decision<saved>], {{.*}}reprise.reasons = [#reprise.reason<fastest>]
// CHECK: reprise.reshape {{.*}}reprise.decisions = [#reprise.decision<saved>]
// CHECK: reprise.tanh {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.reasons = ["op"]
// CHECK: reprise.reshape {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.reasons = ["op"]
reprise.program @saved devices [0] (%x: tensor<2x2xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #reprise.label<must_save>, reprise.rule = "op"} : tensor<2x2xf32>
  %b = reprise.reshape %a {reprise.primal, reprise.block = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %c = reprise.sin %x {reprise.primal, reprise.block = array<i64: 0>} : tensor<2x2xf32>
  %d = reprise.reshape %c {reprise.primal, reprise.block = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %e = reprise.tanh %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "op"} : tensor<2x2xf32>
  %f = reprise.reshape %e {reprise.primal, reprise.block = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %g = reprise.dot_general %f, %b contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %h = reprise.dot_general %d, %dy contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %i = reprise.mul %g, %h {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<f32>
  %j = reprise.broadcast %i dims [] {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
  reprise.return %j : tensor<4xf32>
}

// -----

// A pad that only elementwise ops read is computed in their kernels, which read what it surrounds.
// CHECK-LABEL: reprise.program @padded
// CHECK: reprise.exp {{.*}}reprise.decisions = [#reprise.decision<replayed>]
// CHECK: reprise.pad {{.*}}reprise.decisions = [#reprise.decision<replayed>]
reprise.program @padded devices [0] (%x: tensor<2xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %a = reprise.exp %x {reprise.primal, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"} : tensor<2xf32>
  %b = reprise.pad %a with 0.0 : f32 low [1] high [1] interior [0] {reprise.primal} : (tensor<2xf32>) -> tensor<4xf32>
  %d = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<4xf32>
  reprise.return %d : tensor<4xf32>
}

// -----

// The gradient's own view of a value is one, too: the second gradient may not keep it.
// CHECK-LABEL: reprise.program @twice
// CHECK: reprise.exp {{.*}}reprise.decisions = [#reprise.decision<replayed>]
// CHECK: reprise.reshape {{.*}}reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.label = #reprise.label<must_recompute>
reprise.program @twice devices [0] (%x: tensor<2x2xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = reprise.exp %x {reprise.primal, reprise.order = 0 : i64, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"} : tensor<2x2xf32>
  %b = reprise.reshape %a {reprise.primal, reprise.order = 1 : i64, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : (tensor<2x2xf32>) -> tensor<4xf32>
  %c = reprise.mul %dy, %b {reprise.primal, reprise.order = 1 : i64} : tensor<4xf32>
  %d = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 2 : i64} : tensor<4xf32>
  reprise.return %c, %d : tensor<4xf32>, tensor<4xf32>
}
