// Gradients leave while the last backward pass goes on, and each pass pulls the parts that it reads.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-shard-arrays{replicas=2 least-bytes=0}),pipe-form-pieces{replicas=2},canonicalize)" | FileCheck %s --check-prefix=PIECES
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-shard-arrays{replicas=2 least-bytes=0},cse),pipe-form-pieces{replicas=2},pipe-split-stages{gathers=replayed},pipe-schedule-transfers,pipe-inline-pieces)" | FileCheck %s --check-prefix=PULLS
// RUN: not reprise-opt %s --pass-pipeline="builtin.module(reprise.program(pipe-shard-arrays{replicas=2 least-bytes=0}),pipe-form-pieces{replicas=2},pipe-split-stages{gathers=twice})" 2>&1 | FileCheck %s --check-prefix=WRONG

// The gradient of v leaves behind segment 0, and is added behind segment 1, beside which it travels.
// PIECES: %[[H:.*]] = pipe.piece backward stage 0 microbatch 0 segment 0
// PIECES: %[[G:.*]] = pipe.piece backward stage 0 microbatch 0 segment 1
// PIECES: pipe.piece backward stage 0 replica 1 microbatch 1 segment 0
// PIECES: %[[SLICED:.*]]:2 = pipe.piece after stage 0 segment 0
// PIECES: reprise.slice %[[H]] from [0, 0] to [2, 4]
// PIECES: reprise.slice %[[H]] from [2, 0] to [4, 4]
// PIECES: %[[OTHER:.*]]:2 = pipe.piece after stage 0 replica 1 segment 0
// PIECES: pipe.piece after stage 0 segment 1
// PIECES: reprise.add %[[SLICED]]#0, %[[OTHER]]#0
// PIECES: reprise.slice %[[G]] from [0, 0] to [2, 4]
// PIECES: pipe.piece after stage 0 segment 2
// PIECES: reprise.add
// PIECES: pipe.piece after stage 0 ->
// PIECES: reprise.sub

// PULLS-LABEL: reprise.program @update_0
// PULLS: exec.send %{{.*}} to @update_1 tag 0
// PULLS: exec.send %{{.*}} to @update_1 tag 1
// PULLS: %[[W:.*]] = reprise.pull from @update_1 tag 0 {reprise.block = array<i64: 0>, reprise.label = #reprise.label<prefer_recompute>, reprise.primal, reprise.rule = "--gathers"}
// PULLS: reprise.concatenate %{{.*}}, %[[W]] dim 0 {reprise.block = array<i64: 0>
// PULLS: reprise.dot_general
// PULLS: reprise.pull from @update_1 tag 1
// PULLS: %[[V:.*]] = reprise.concatenate
// PULLS: %[[HIDDEN:.*]] = reprise.dot_general
// PULLS: exec.send %{{.*}} to @update_1 tag 2
// PULLS: %[[PART:.*]], %[[ARRIVED:.*]] = exec.receive from @update_1 tag 2
// PULLS: reprise.dot_general %[[HIDDEN]], %[[V]]
// PULLS: exec.wait %[[ARRIVED]]
// PULLS: reprise.add %{{.*}}, %[[PART]]
// PULLS-LABEL: reprise.program @update_1

// WRONG: error: unknown gathers 'twice': expected saved or replayed

reprise.program @update devices [0] (%x: tensor<4x4xf32> {reprise.name = "x", reprise.role = "input", reprise.batch_dim = 0 : i64},
                 %w: tensor<4x4xf32> {reprise.name = "w", reprise.role = "parameter"},
                 %v: tensor<4x4xf32> {reprise.name = "v", reprise.role = "parameter"})
    -> (tensor<4x4xf32> {reprise.name = "w"}, tensor<4x4xf32> {reprise.name = "v"}) attributes {reprise.microbatches = 2 : i64} {
  %x0 = reprise.slice %x from [0, 0] to [2, 4] by [1, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %x1 = reprise.slice %x from [2, 0] to [4, 4] by [1, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %y0 = reprise.dot_general %x0, %w contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 0>, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z0 = reprise.dot_general %y0, %v contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 1>, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h0 = reprise.dot_general %y0, %z0 contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %d0 = reprise.dot_general %z0, %v contracting [1] x [1] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g0 = reprise.dot_general %x0, %d0 contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %y1 = reprise.dot_general %x1, %w contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 2>, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z1 = reprise.dot_general %y1, %v contracting [1] x [0] {reprise.primal, reprise.block = array<i64: 3>, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = reprise.dot_general %y1, %z1 contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %d1 = reprise.dot_general %z1, %v contracting [1] x [1] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g1 = reprise.dot_general %x1, %d1 contracting [0] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %r = reprise.add %h0, %h1 {reprise.cotangent, reprise.order = 1 : i64, reprise.microbatch = 1 : i64} : tensor<4x4xf32>
  %s = reprise.add %g0, %g1 {reprise.cotangent, reprise.order = 1 : i64, reprise.microbatch = 1 : i64} : tensor<4x4xf32>
  %n = reprise.sub %w, %s : tensor<4x4xf32>
  %m = reprise.sub %v, %r : tensor<4x4xf32>
  reprise.return %n, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
