// Ops go to the pieces of their stages and micro-batches; the order of these is in the module.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(pipe-form-pieces{devices=2})" | FileCheck %s
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(pipe-form-pieces{devices=2 schedule=zb-h1})" | FileCheck %s --check-prefix=ZB

// CHECK: pipe.schedule @train_schedule stages 2 microbatches 2
// CHECK-NEXT: [0F0, 0F1, 0B0, 0B1]
// CHECK-NEXT: [1F0, 1B0, 1F1, 1B1]
// ZB: pipe.schedule @train_schedule stages 2 microbatches 2
// ZB-NEXT: [0F0, 0F1, 0I0, 0W0, 0I1, 0W1]

// A parameter has a home. The constant stands beside the pieces, and so does the broadcast that spreads what stands
// behind them. A pass without ops has a piece all the same.
// CHECK-LABEL: reprise.program @train
// CHECK-SAME: %[[X:[^ ]*]]: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {pipe.home = 0 : i64, reprise.name = "w", reprise.role = "parameter"}
// CHECK-SAME: pipe.schedule = @train_schedule
// CHECK: %[[ONE:.*]] = reprise.constant
// CHECK: %[[B:.*]] = pipe.piece before stage 0 -> tensor<4xf32> {
// CHECK-NEXT: reprise.exp %[[W]] : tensor<4xf32>
// CHECK: %[[F00:.*]]:2 = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT: %[[M:.*]] = reprise.mul %[[X]], %[[B]] {reprise.primal} : tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = reprise.neg %[[M]]
// CHECK-NEXT: pipe.yield %[[M]], %[[N]]
// CHECK: %[[F10:.*]] = pipe.piece forward stage 1 microbatch 0 -> tensor<4xf32> {
// CHECK-NEXT: reprise.exp %[[F00]]#1
// CHECK: pipe.piece backward stage 1 microbatch 0 -> tensor<4xf32> {
// CHECK-NEXT: reprise.mul %[[F10]], %[[ONE]]
// CHECK: %[[B00:.*]] = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
// CHECK: pipe.piece forward stage 0 microbatch 1 {
// CHECK-NEXT: }
// CHECK: pipe.piece forward stage 1 microbatch 1 {
// CHECK-NEXT: }
// CHECK: pipe.piece backward stage 1 microbatch 1 {
// CHECK: %[[B01:.*]] = pipe.piece backward stage 0 microbatch 1 -> tensor<4xf32> {
// CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[B00]], %{{.*}} {reprise.cotangent, reprise.order = 1 : i64}
// CHECK-NEXT: pipe.yield %[[SUM]]
// CHECK: %[[S:.*]] = pipe.piece after stage 0 -> tensor<f32> {
// CHECK: %[[SPREAD:.*]] = reprise.broadcast %[[S]]
// CHECK: pipe.piece after stage 0 -> tensor<4xf32> {
// CHECK-NEXT: reprise.sub %[[W]], %[[SPREAD]]
// CHECK-NOT: reprise.stage
// CHECK-NOT: reprise.microbatch
// CHECK-NOT: reprise.batch_sum

// The sum over the batch is a gradient of weights.
// ZB: %[[B00:.*]] = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
// ZB: pipe.piece weight stage 0 microbatch 1 -> tensor<4xf32> {
// ZB-NEXT: reprise.add %[[B00]]
reprise.program @train devices [0] (%x: tensor<4xf32> {reprise.role = "input", reprise.name = "x"},
                 %w: tensor<4xf32> {reprise.role = "parameter", reprise.name = "w"})
    -> (tensor<4xf32> {reprise.name = "w"}) {
  %one = reprise.constant dense<1.0> : tensor<4xf32>
  %b = reprise.exp %w : tensor<4xf32>
  %0 = reprise.mul %x, %b {reprise.primal, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : tensor<4xf32>
  %1 = reprise.neg %0 {reprise.primal, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : tensor<4xf32>
  %2 = reprise.exp %1 {reprise.primal, reprise.stage = 1 : i64, reprise.microbatch = 0 : i64} : tensor<4xf32>
  %3 = reprise.mul %2, %one {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 1 : i64, reprise.microbatch = 0 : i64} : tensor<4xf32>
  %4 = reprise.mul %3, %0 {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 0 : i64} : tensor<4xf32>
  %5 = reprise.add %4, %x {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64, reprise.microbatch = 1 : i64, reprise.batch_sum} : tensor<4xf32>
  %6 = reprise.sum %5 dims [0] : (tensor<4xf32>) -> tensor<f32>
  %7 = reprise.broadcast %6 dims [] : (tensor<f32>) -> tensor<4xf32>
  %8 = reprise.sub %w, %7 : tensor<4xf32>
  reprise.return %8 : tensor<4xf32>
}

// -----

// expected-error @below {{expected one step to cut into stages, got 0 device programs}}
module {
  func.func @none() {
    return
  }
}

// -----

// expected-error @below {{the step has 3 stages, and the schedule 2}}
reprise.program @stages devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x {reprise.primal, reprise.stage = 2 : i64} : tensor<4xf32>
  reprise.return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{expected a program of one device, got one of 2}}
reprise.program @twice devices [0, 1] (%x: tensor<4xf32>) {
  reprise.return
}

// -----

// A number that comes of a state is spread over the states of each stage where it is read; the update of a parameter
// stays with it.
// CHECK-LABEL: reprise.program @spread
// CHECK-SAME: %[[V:[^ ]*]]: tensor<4xf32> {pipe.home = 0 : i64, reprise.name = "v"
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {pipe.home = 1 : i64, reprise.name = "w"
// CHECK: %[[POWER:.*]] = pipe.piece before stage {{.}} -> tensor<f32> {
// CHECK-NEXT: reprise.exp
// CHECK: %[[SPREAD:.*]] = reprise.broadcast %[[POWER]]
// CHECK: pipe.piece forward stage 0 microbatch 0
// CHECK: %[[GW:.*]] = pipe.piece backward stage 1 microbatch 0 -> tensor<4xf32> {
// CHECK: %[[GV:.*]] = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
// CHECK: pipe.piece after stage 0 -> tensor<4xf32> {
// CHECK-NEXT: reprise.div %[[GV]], %[[SPREAD]]
// CHECK: pipe.piece after stage 1 -> tensor<4xf32> {
// CHECK-NEXT: reprise.div %[[GW]], %[[SPREAD]]
reprise.program @spread devices [0] (%p: tensor<f32> {reprise.role = "state", reprise.name = "p"},
                  %v: tensor<4xf32> {reprise.role = "parameter", reprise.name = "v"},
                  %w: tensor<4xf32> {reprise.role = "parameter", reprise.name = "w"})
    -> (tensor<f32> {reprise.name = "p"}, tensor<4xf32> {reprise.name = "v"}, tensor<4xf32> {reprise.name = "w"}) {
  %power = reprise.exp %p : tensor<f32>
  %all = reprise.broadcast %power dims [] : (tensor<f32>) -> tensor<4xf32>
  %0 = reprise.exp %v {reprise.primal, reprise.stage = 0 : i64} : tensor<4xf32>
  %1 = reprise.exp %w {reprise.primal, reprise.stage = 1 : i64} : tensor<4xf32>
  %2 = reprise.neg %1 {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 1 : i64} : tensor<4xf32>
  %3 = reprise.neg %0 {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64} : tensor<4xf32>
  %4 = reprise.div %3, %all : tensor<4xf32>
  %5 = reprise.div %2, %all : tensor<4xf32>
  reprise.return %power, %4, %5 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
