// Ops of parts become pieces of their devices, and each array lives on one device.
// RUN: reprise-opt %s --split-input-file --pass-pipeline="builtin.module(pipe-form-part-pieces{parts=2})" | FileCheck %s
// RUN: reprise-opt %s --split-input-file --pass-pipeline="builtin.module(pipe-form-part-pieces{parts=2 devices=2})" | FileCheck %s --check-prefix=STAGES

// The second array goes to the device with fewer bytes, and its update runs there. A part that another device reads is
// sliced where the array lives. The op that both devices read, and the join, belong to none.
// CHECK: pipe.schedule @step_schedule stages 1 microbatches 2 replicas 2
// CHECK: reprise.program @step
// CHECK-SAME: %arg1: tensor<4x4xf32> {pipe.home = 0 : i64, pipe.replica = 0 : i64, reprise.name = "w"
// CHECK-SAME: %arg2: tensor<4x4xf32> {pipe.home = 0 : i64, pipe.replica = 1 : i64, reprise.name = "v"
// CHECK-NEXT: %[[X:.*]] = reprise.tanh
// CHECK-NEXT: %[[W0:.*]] = reprise.slice %arg1 from [0, 0] to [4, 2]
// CHECK-NEXT: %[[Y0:.*]] = pipe.piece after stage 0 -> tensor<3x2xf32> {
// CHECK-NEXT: reprise.dot_general %[[X]], %[[W0]] contracting [1] x [0] {reprise.primal} :
// CHECK: %[[W1:.*]] = pipe.piece after stage 0 -> tensor<4x2xf32> {
// CHECK-NEXT: reprise.slice %arg1 from [0, 2] to [4, 4]
// CHECK: %[[Y1:.*]] = pipe.piece after stage 0 replica 1 -> tensor<3x2xf32> {
// CHECK-NEXT: reprise.dot_general %[[X]], %[[W1]]
// CHECK: %[[Y:.*]] = reprise.concatenate %[[Y0]], %[[Y1]] dim 1
// CHECK-NEXT: %[[V:.*]] = pipe.piece after stage 0 replica 1 -> tensor<4x4xf32> {
// CHECK-NEXT: reprise.exp %arg2
// CHECK: return %[[Y]], %[[V]]

reprise.program @step devices [0] (%x: tensor<3x4xf32> {reprise.name = "x", reprise.role = "input"},
                                   %w: tensor<4x4xf32> {reprise.name = "w", reprise.role = "parameter"},
                                   %v: tensor<4x4xf32> {reprise.name = "v", reprise.role = "parameter"})
    -> (tensor<3x4xf32> {reprise.name = "y"}, tensor<4x4xf32> {reprise.name = "v"}) {
  %0 = reprise.tanh %x {reprise.primal} : tensor<3x4xf32>
  %1 = reprise.slice %w from [0, 0] to [4, 2] by [1, 1] {reprise.primal} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  %2 = reprise.dot_general %0, %1 contracting [1] x [0] {reprise.primal, reprise.model_part = 0 : i64} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %3 = reprise.slice %w from [0, 2] to [4, 4] by [1, 1] {reprise.primal} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  %4 = reprise.dot_general %0, %3 contracting [1] x [0] {reprise.primal, reprise.model_part = 1 : i64} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %5 = reprise.concatenate %2, %4 dim 1 {reprise.primal} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %6 = reprise.exp %v : tensor<4x4xf32>
  reprise.return %5, %6 : tensor<3x4xf32>, tensor<4x4xf32>
}

// -----

// Two stages are two groups of two devices. The devices of the second stage read a sum of the first stage, so one device
// of the first stage computes the sum, and sends it. A reader in the first stage has a sum of its own.
// STAGES: pipe.schedule @staged_schedule stages 1 microbatches 4 replicas 4
// STAGES: reprise.program @staged
// STAGES: %[[S0:.*]] = pipe.piece after stage 0 -> tensor<3x4xf32>
// STAGES: %[[S1:.*]] = pipe.piece after stage 0 replica 1 -> tensor<3x4xf32>
// STAGES: %[[OWN:.*]] = reprise.add %[[S0]], %[[S1]]
// STAGES-NEXT: %[[SENT:.*]] = pipe.piece after stage 0 -> tensor<3x4xf32> {
// STAGES-NEXT: reprise.add %[[S0]], %[[S1]]
// STAGES: pipe.piece after stage 0 replica 1 -> tensor<3x4xf32> {
// STAGES-NEXT: reprise.mul %[[OWN]], %[[S1]]
// STAGES: pipe.piece after stage 0 replica 2 -> tensor<3x2xf32> {
// STAGES-NEXT: reprise.dot_general %[[SENT]]
// STAGES: pipe.piece after stage 0 replica 3 -> tensor<3x2xf32> {
// STAGES-NEXT: reprise.dot_general %[[SENT]]
reprise.program @staged devices [0] (%x: tensor<3x4xf32> {reprise.name = "x", reprise.role = "input"},
                                     %w: tensor<4x4xf32> {reprise.name = "w", reprise.role = "input"},
                                     %v: tensor<4x2xf32> {reprise.name = "v", reprise.role = "input"})
    -> (tensor<3x2xf32> {reprise.name = "y"}, tensor<3x2xf32> {reprise.name = "z"}, tensor<3x4xf32> {reprise.name = "a"},
        tensor<3x4xf32> {reprise.name = "b"}) {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] {reprise.primal, reprise.stage = 0 : i64, reprise.model_part = 0 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %1 = reprise.dot_general %x, %w contracting [1] x [1] {reprise.primal, reprise.stage = 0 : i64, reprise.model_part = 1 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %2 = reprise.add %0, %1 {reprise.primal, reprise.stage = 0 : i64} : tensor<3x4xf32>
  %3 = reprise.mul %2, %0 {reprise.primal, reprise.stage = 0 : i64, reprise.model_part = 0 : i64} : tensor<3x4xf32>
  %4 = reprise.mul %2, %1 {reprise.primal, reprise.stage = 0 : i64, reprise.model_part = 1 : i64} : tensor<3x4xf32>
  %5 = reprise.dot_general %2, %v contracting [1] x [0] {reprise.primal, reprise.stage = 1 : i64, reprise.model_part = 0 : i64} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %6 = reprise.dot_general %2, %v contracting [1] x [0] {reprise.primal, reprise.stage = 1 : i64, reprise.model_part = 1 : i64} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  reprise.return %5, %6, %3, %4 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
