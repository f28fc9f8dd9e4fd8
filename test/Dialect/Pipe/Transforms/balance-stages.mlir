// Runs of ops join to stages of equal time: the slow product has a stage of its own. Derivatives count, and follow.
// RUN: reprise-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(reprise.program(pipe-balance-stages{devices=2}))" | FileCheck %s

// A step without a backward pass has no cuts to compare.
// CHECK-LABEL: reprise.program @slow
// CHECK-NOT: pipe.cuts
// CHECK: exp {{.*}}reprise.stage = 0
// CHECK: neg {{.*}}reprise.stage = 0
// CHECK: dot_general {{.*}}reprise.stage = 1
reprise.program @slow devices [0] (%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = reprise.exp %x {reprise.primal, reprise.stage = 0 : i64} : tensor<64x64xf32>
  %1 = reprise.neg %0 {reprise.primal, reprise.stage = 1 : i64} : tensor<64x64xf32>
  %2 = reprise.dot_general %1, %1 contracting [1] x [0] {reprise.primal, reprise.stage = 2 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  reprise.return %2 : tensor<64x64xf32>
}

// -----

// The derivative of the first op is slow.
// CHECK-LABEL: reprise.program @backward
// CHECK-SAME: pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 1, 3], makespan = {{[0-9.e-]*}} : f64, state = fits>]
// CHECK-SAME: pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [
// CHECK: exp {{.*}}reprise.stage = 0
// CHECK: neg {{.*}}reprise.stage = 1
// CHECK: neg {{.*}}reprise.stage = 1
// CHECK: dot_general {{.*}}reprise.stage = 0
reprise.program @backward devices [0] (%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = reprise.exp %x {reprise.primal, reprise.stage = 0 : i64} : tensor<64x64xf32>
  %1 = reprise.neg %0 {reprise.primal, reprise.stage = 1 : i64} : tensor<64x64xf32>
  %2 = reprise.neg %1 {reprise.primal, reprise.stage = 2 : i64} : tensor<64x64xf32>
  %3 = reprise.dot_general %2, %0 contracting [1] x [0] {reprise.cotangent, reprise.order = 1 : i64, reprise.stage = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  reprise.return %3 : tensor<64x64xf32>
}

// -----

// expected-error @below {{the forward pass can be cut into at most 1 stage, got 2}}
reprise.program @one devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x {reprise.primal, reprise.stage = 0 : i64} : tensor<4xf32>
  reprise.return %0 : tensor<4xf32>
}
