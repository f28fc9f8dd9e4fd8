// RUN: reprise-opt %s --reprise-checkpoint --reprise-verify-checkpoint --split-input-file | FileCheck %s

// Two blocks to be recomputed and a tail without labels. The inputs of units with replays are kept,
// as is what the tail reads, since nothing but its own unit's inner values could make it again.
// Replays stand before their first use, in the order of the backward pass.

#again = #reprise.label<prefer_recompute>

// 16 bytes each: %b and %d.
// CHECK-LABEL: reprise.program @blocks
// CHECK-SAME: reprise.replayed_ops = 2 : i64, reprise.saved_bytes = 32 : i64
reprise.program @blocks devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = reprise.exp %arg0 {{.*}}decisions = [#reprise.decision<replayed>], reprise.id = 1 : i64, {{.*}}reprise.reasons = ["checkpoint"]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "checkpoint"} : tensor<4xf32>
  // CHECK: %[[B:.*]] = reprise.tanh %[[A]] {{.*}}decisions = [#reprise.decision<kept>], {{.*}}reasons = [#reprise.reason<"block input">]
  %b = reprise.tanh %a {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "checkpoint"} : tensor<4xf32>
  // CHECK: %[[C:.*]] = reprise.exp %[[B]] {{.*}}decisions = [#reprise.decision<replayed>], reprise.id = 0 : i64, {{.*}}reasons = ["checkpoint"]
  %c = reprise.exp %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #again, reprise.rule = "checkpoint"} : tensor<4xf32>
  // CHECK: %[[D:.*]] = reprise.tanh %[[C]] {{.*}}decisions = [#reprise.decision<kept>], {{.*}}reasons = [#reprise.reason<"block input">]
  %d = reprise.tanh %c {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #again, reprise.rule = "checkpoint"} : tensor<4xf32>
  // CHECK: reprise.log %[[D]] {{.*}}decisions = [#reprise.decision<"not needed">], {{.*}}reasons = [#reprise.reason<"not read">]
  %e = reprise.log %d {reprise.primal, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK-NEXT: %[[G:.*]] = reprise.div %arg1, %[[D]]
  %g = reprise.div %dy, %d {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK-NEXT: %[[H:.*]] = reprise.mul %[[G]], %[[D]]
  %h = reprise.mul %g, %d {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK-NEXT: %[[C1:.*]] = reprise.exp %[[B]] {replay = 1 : i64, reprise.block = array<i64: 1>, reprise.label = #reprise.label<prefer_recompute>, reprise.original = 0 : i64, reprise.rule = "checkpoint"}
  // CHECK-NEXT: %[[I:.*]] = reprise.mul %[[H]], %[[C1]]
  %i = reprise.mul %h, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK-NEXT: %[[J:.*]] = reprise.mul %[[I]], %[[B]]
  %j = reprise.mul %i, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK-NEXT: %[[A1:.*]] = reprise.exp %arg0 {replay = 2 : i64, {{.*}}reprise.original = 1 : i64
  // CHECK-NEXT: reprise.mul %[[J]], %[[A1]]
  // CHECK-NEXT: return
  %k = reprise.mul %j, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %e, %k : tensor<4xf32>, tensor<4xf32>
}

// -----

// The last unit before the cotangents is not replayed if it is to be recomputed as a whole, and its
// input is kept.

#again = #reprise.label<prefer_recompute>

// CHECK-LABEL: reprise.program @last_unit
// CHECK-SAME: reprise.replayed_ops = 0
reprise.program @last_unit devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}[#reprise.decision<kept>], {{.*}}[#reprise.reason<"block input">]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.exp {{.*}}[#reprise.decision<kept>], {{.*}}[#reprise.reason<"last unit">]
  %b = reprise.exp %a {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.tanh {{.*}}[#reprise.decision<"not needed">], {{.*}}[#reprise.reason<moot>]
  %c = reprise.tanh %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  %d = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %e = reprise.mul %d, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  reprise.return %e : tensor<4xf32>
}

// -----

// must_recompute holds in the last unit, too, and reaches into the producer of a block's input:
// there it replays what it needs, for the unit that asks (1), and its own unit replays for itself (2).

#again = #reprise.label<prefer_recompute>
#must = #reprise.label<must_recompute>

// CHECK-LABEL: reprise.program @must_recompute
// CHECK-SAME: reprise.replayed_ops = 5 : i64, reprise.saved_bytes = 0
reprise.program @must_recompute devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}[#reprise.decision<replayed>]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.tanh {{.*}}[#reprise.decision<replayed>]
  %b = reprise.tanh %a {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #must, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.log {{.*}}[#reprise.decision<replayed>]
  %c = reprise.log %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #must, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: %[[A1:.*]] = reprise.exp %arg0 {replay = 1
  // CHECK: %[[B1:.*]] = reprise.tanh %[[A1]] {replay = 1
  // CHECK: %[[C1:.*]] = reprise.log %[[B1]] {replay = 1
  // CHECK: reprise.mul %arg1, %[[C1]]
  %d = reprise.mul %dy, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[B1]]
  %e = reprise.mul %d, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK: %[[A2:.*]] = reprise.exp %arg0 {replay = 2
  // CHECK: %[[B2:.*]] = reprise.tanh %[[A2]] {replay = 2
  // CHECK: reprise.mul %{{.*}}, %[[B2]]
  %f = reprise.mul %e, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[A2]]
  %g = reprise.mul %f, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %g : tensor<4xf32>
}

// -----

// A PREFER is obeyed exactly where no unit stands against it: %b comes from a block that saves all
// else, and %d belongs to a tail that is not to be recomputed as a whole.

#again = #reprise.label<prefer_recompute>
#save = #reprise.label<prefer_save>

// CHECK-LABEL: reprise.program @prefer_exactly
// CHECK-SAME: reprise.replayed_ops = 2
reprise.program @prefer_exactly devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = reprise.exp {{.*}}[#reprise.decision<saved>], {{.*}}["policy p"]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #save, reprise.rule = "policy p"} : tensor<4xf32>
  // CHECK: reprise.tanh {{.*}}[#reprise.decision<replayed>], {{.*}}["op"]
  %b = reprise.tanh %a {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: %[[C:.*]] = reprise.log {{.*}}[#reprise.decision<saved>], {{.*}}["policy p"]
  %c = reprise.log %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #save, reprise.rule = "policy p"} : tensor<4xf32>
  // CHECK: reprise.erf {{.*}}[#reprise.decision<"not needed">], {{.*}}[#reprise.reason<moot>]
  %d = reprise.erf %c {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #save, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.mul %arg1, %[[C]]
  %e = reprise.mul %dy, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK: %[[B1:.*]] = reprise.tanh %[[A]] {replay = 1
  // CHECK: reprise.mul %{{.*}}, %[[B1]]
  %f = reprise.mul %e, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK: %[[B2:.*]] = reprise.tanh %[[A]] {replay = 2
  // CHECK: reprise.mul %{{.*}}, %[[B2]]
  %g = reprise.mul %f, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %g : tensor<4xf32>
}

// -----

// A draw is replayed with its seed, offset, stream and window; replays inside a unit are shared.

#again = #reprise.label<prefer_recompute>
#save = #reprise.label<prefer_save>

// CHECK-LABEL: reprise.program @draws
reprise.program @draws devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> tensor<4xf32> {
  %origin = reprise.constant dense<[4]> : tensor<1xi64>
  // CHECK: %[[A:.*]] = reprise.exp
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #save, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.dropout %a seed %seed offset %offset origin %origin : tensor<1xi64> {rate = 0.5 : f32, stream = 7 : i64, global_shape = array<i64: 8>, reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: %[[B1:.*]] = reprise.dropout %[[A]] seed %arg2 offset %arg3 origin %{{.*}} : tensor<1xi64> {global_shape = array<i64: 8>, rate = 5.000000e-01 : f32, replay = 1 : i64, {{.*}}stream = 7 : i64}
  // CHECK: reprise.mul %arg1, %[[B1]]
  %c = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK-NEXT: reprise.mul %{{.*}}, %[[B1]]
  %d = reprise.mul %c, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %d : tensor<4xf32>
}

// -----

// Several results: the plan decides per value. The statistics are saved, the result is replayed by
// a whole clone of the op.

#again = #reprise.label<prefer_recompute>

// CHECK-LABEL: reprise.program @several_results
// CHECK-SAME: reprise.replayed_ops = 1 : i64, reprise.saved_bytes = 16
reprise.program @several_results devices [0] (%x: tensor<2x4xf32>, %w: tensor<4xf32>, %dy: tensor<2x4xf32>, %ds: tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %result, %[[MEAN:.*]], %[[RSTD:.*]] = reprise.layer_norm {{.*}}decisions = [#reprise.decision<replayed>, #reprise.decision<saved>, #reprise.decision<saved>]
  // CHECK-SAME: reasons = ["op", "name average", "name spread"]
  %y, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f32, reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op",
      reprise.result_labels = [unit, #reprise.label<must_save>, #reprise.label<prefer_save>], reprise.result_rules = ["", "name average", "name spread"]}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: %[[Y1:[^,]*]], %{{.*}}, %{{.*}} = reprise.layer_norm {{.*}}replay = 1
  // CHECK: reprise.mul %arg2, %[[Y1]]
  %a = reprise.mul %dy, %y {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<2x4xf32>
  // CHECK: reprise.mul %arg3, %[[MEAN]]
  %b = reprise.mul %ds, %mean {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<2xf32>
  // CHECK: reprise.mul %arg3, %[[RSTD]]
  %c = reprise.mul %ds, %rstd {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<2xf32>
  reprise.return %a, %b, %c : tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Views share the buffer of their source, returned state and arguments are not counted: 64 bytes of
// %a and 16 of %s's source are read, the latter as the next value of an argument.

// CHECK-LABEL: reprise.program @saved_bytes
// CHECK-SAME: reprise.saved_bytes = 64
reprise.program @saved_bytes devices [0] (%x: tensor<4x4xf32> {reprise.name = "x"}, %s: tensor<4xf32> {reprise.name = "s"}) -> (tensor<4x4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "s"}) {
  %a = reprise.dot_general %x, %x contracting [1] x [0] {reprise.primal} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: reprise.transpose {{.*}}[#reprise.decision<saved>]
  %t = reprise.transpose %a [1, 0] {reprise.primal} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = reprise.sum %a dims [0] {reprise.primal} : (tensor<4x4xf32>) -> tensor<4xf32>
  %b = reprise.dot_general %a, %t contracting [1] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = reprise.broadcast %n dims [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<4xf32>) -> tensor<4x4xf32>
  %c = reprise.add %b, %m {reprise.cotangent, reprise.order = 1 : i64} : tensor<4x4xf32>
  reprise.return %c, %n : tensor<4x4xf32>, tensor<4xf32>
}

// -----

// Two gradients in one function are planned apart: for the second one, values of the first are
// there in any case.

#again = #reprise.label<prefer_recompute>

// CHECK-LABEL: reprise.program @two_gradients
reprise.program @two_gradients devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = reprise.exp {{.*}}[#reprise.decision<kept>], {{.*}}[#reprise.reason<returned>]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.mul %arg0, %[[A]]
  %b = reprise.mul %x, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK: reprise.tanh %{{.*}}[#reprise.decision<"not needed">]
  %c = reprise.tanh %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #again, reprise.rule = "op"} : tensor<4xf32>
  // CHECK: reprise.mul %{{.*}}, %[[A]]
  %d = reprise.mul %b, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  reprise.return %d : tensor<4xf32>
}
