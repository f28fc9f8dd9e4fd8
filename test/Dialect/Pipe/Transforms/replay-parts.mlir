// RUN: reprise-opt %s --pipe-replay-parts | FileCheck %s --check-prefix=LABELS
// RUN: reprise-opt %s --pipe-replay-parts=checkpoint=always | FileCheck %s --check-prefix=ALWAYS
// RUN: reprise-opt %s --pipe-replay-parts=percent=50 | FileCheck %s --check-prefix=HALF
// RUN: reprise-opt %s --pipe-replay-parts=checkpoint=except-last | FileCheck %s --check-prefix=LABELS

// Replays are ops of the backward pass that reads them, on the part of their originals. No label and
// no mark of a plan is left.

// Without labels the step stays as it is.
// LABELS-LABEL: @units
// LABELS-COUNT-3: reprise.exp
// LABELS-NOT: reprise.exp

// ALWAYS-LABEL: @units
// ALWAYS: %[[B:.*]] = reprise.tanh
// ALWAYS: reprise.mul
// ALWAYS-NEXT: %[[C:.*]] = reprise.exp %[[B]] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.model_part = 1 : i64, reprise.order = 1 : i64}
// ALWAYS-NEXT: %[[D:.*]] = reprise.tanh %[[C]]
// ALWAYS-NEXT: reprise.mul %{{.*}}, %[[D]]
// ALWAYS-NEXT: reprise.mul %{{.*}}, %[[C]]
// ALWAYS: %[[A:.*]] = reprise.exp %arg0 {reprise.block = array<i64: 0>, reprise.cotangent, reprise.model_part = 0 : i64, reprise.order = 1 : i64}
// ALWAYS-NEXT: reprise.mul %{{.*}}, %[[A]]
// ALWAYS-NOT: reprise.label

// Two of three units: the last one would not be replayed.
// HALF-LABEL: @units
// HALF-COUNT-5: reprise.exp
// HALF-NOT: reprise.exp
reprise.program @units devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = reprise.exp %x {reprise.primal, reprise.model_part = 0 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  %b = reprise.tanh %a {reprise.primal, reprise.model_part = 0 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  %c = reprise.exp %b {reprise.primal, reprise.model_part = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %d = reprise.tanh %c {reprise.primal, reprise.model_part = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %e = reprise.exp %d {reprise.primal, reprise.model_part = 0 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  %g = reprise.mul %dy, %e {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  %h = reprise.mul %g, %d {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %i = reprise.mul %h, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %j = reprise.mul %i, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  %k = reprise.mul %j, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %e, %k : tensor<4xf32>, tensor<4xf32>
}
