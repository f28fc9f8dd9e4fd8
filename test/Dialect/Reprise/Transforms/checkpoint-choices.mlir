// RUN: reprise-opt %s --reprise-checkpoint --reprise-verify-checkpoint --split-input-file --verify-diagnostics | FileCheck %s

// Kept for the first unit that reads it in the backward pass, made again once for all later ones.
// CHECK-LABEL: reprise.program @split
// CHECK-SAME: reprise.replayed_ops = 1 : i64
reprise.program @split devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = reprise.exp %arg0 {{.*}}decisions = [#reprise.decision<replayed>], {{.*}}reasons = [#reprise.reason<"nearly free">]
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.choices = [#reprise.choice<"save then replay">]} : tensor<4xf32>
  // CHECK: reprise.tanh
  %b = reprise.tanh %a {reprise.primal, reprise.block = array<i64: 1>, reprise.choices = [#reprise.choice<save>]} : tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = reprise.mul %arg1, %[[A]]
  %c = reprise.mul %dy, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = reprise.add %[[C]], %[[A]]
  %d = reprise.add %c, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 2>} : tensor<4xf32>
  // CHECK-NEXT: %[[A1:.*]] = reprise.exp %arg0 {replay = 1 : i64
  // CHECK-NEXT: %[[E:.*]] = reprise.mul %[[D]], %[[A1]]
  %e = reprise.mul %d, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  // CHECK-NEXT: reprise.mul %[[E]], %[[A1]]
  %f = reprise.mul %e, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  // CHECK-NEXT: return
  reprise.return %f : tensor<4xf32>
}

// -----

reprise.program @unknown devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 'reprise.choices' to be a #reprise.choice per result}}
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.choices = ["save"]} : tensor<4xf32>
  %b = reprise.mul %dy, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>} : tensor<4xf32>
  reprise.return %b : tensor<4xf32>
}
