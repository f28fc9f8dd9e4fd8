// The widest contraction, its loss and their cotangents run in slices of rows, and the sums over rows continue.
// RUN: reprise-opt %s --reprise-slice-head=rows=2 | FileCheck %s

// A unit is an index of the first dimension. The gradient of the weights continues its chain. The sum that reads the
// loss of each row runs behind all slices, as an op of the backward pass.
// CHECK-LABEL: reprise.program @step devices [0] (
// CHECK-SAME: %[[X:.*]]: tensor<2x2x3xf32>, %[[W:.*]]: tensor<5x3xf32>)
// CHECK: %[[X0:.*]] = reprise.slice %[[X]] from [0, 0, 0] to [1, 2, 3]
// CHECK: %[[L0:.*]] = reprise.dot_general %[[X0]], %[[W]] contracting [2] x [1] {reprise.cotangent, reprise.order = 1 : i64}
// CHECK: %[[N0:.*]] = reprise.logsumexp %[[L0]]
// CHECK: %[[S0:.*]] = reprise.softmax %[[L0]]
// CHECK: %[[D0:.*]] = reprise.dot_general %[[S0]], %[[W]]
// CHECK: %[[G0:.*]] = reprise.dot_general %[[S0]], %[[X0]] contracting [0, 1] x [0, 1]
// CHECK: %[[X1:.*]] = reprise.slice %[[X]] from [1, 0, 0] to [2, 2, 3]
// CHECK: %[[L1:.*]] = reprise.dot_general %[[X1]], %[[W]]
// CHECK: %[[N1:.*]] = reprise.logsumexp %[[L1]]
// CHECK: %[[S1:.*]] = reprise.softmax %[[L1]]
// CHECK: %[[D1:.*]] = reprise.dot_general %[[S1]], %[[W]]
// CHECK: %[[G:.*]] = reprise.dot_accumulate %[[S1]], %[[X1]] onto %[[G0]] contracting [0, 1] x [0, 1]
// CHECK: %[[N:.*]] = reprise.concatenate %[[N0]], %[[N1]] dim 0
// CHECK: %[[D:.*]] = reprise.concatenate %[[D0]], %[[D1]] dim 0
// CHECK: %[[LOSS:.*]] = reprise.sum %[[N]] dims [0, 1] {reprise.cotangent, reprise.order = 1 : i64}
// CHECK: reprise.return %[[LOSS]], %[[D]], %[[G]]
reprise.program @step devices [0] (%x: tensor<2x2x3xf32>, %w: tensor<5x3xf32>) -> (tensor<f32>, tensor<2x2x3xf32>, tensor<5x3xf32>) {
  %l = reprise.dot_general %x, %w contracting [2] x [1] {reprise.primal} : (tensor<2x2x3xf32>, tensor<5x3xf32>) -> tensor<2x2x5xf32>
  %n = reprise.logsumexp %l dims [2] {reprise.primal} : (tensor<2x2x5xf32>) -> tensor<2x2xf32>
  %loss = reprise.sum %n dims [0, 1] {reprise.primal} : (tensor<2x2xf32>) -> tensor<f32>
  %s = reprise.softmax %l {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2x5xf32>
  %d = reprise.dot_general %s, %w contracting [2] x [0] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<2x2x5xf32>, tensor<5x3xf32>) -> tensor<2x2x3xf32>
  %g = reprise.dot_general %s, %x contracting [0, 1] x [0, 1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<2x2x5xf32>, tensor<2x2x3xf32>) -> tensor<5x3xf32>
  reprise.return %loss, %d, %g : tensor<f32>, tensor<2x2x3xf32>, tensor<5x3xf32>
}

// Chains of 4,096 terms end with a slice, and meet in the tree. 16-bit sums stay in f32 up to the end.
// CHECK-LABEL: reprise.program @tree devices [0] (
// CHECK: %[[A:.*]] = reprise.dot_general {{.*}} contracting [0, 1] x [0, 1] {{.*}} -> tensor<5x3xf32>
// CHECK: %[[B:.*]] = reprise.dot_general {{.*}} contracting [0, 1] x [0, 1] {{.*}} -> tensor<5x3xf32>
// CHECK: %[[AB:.*]] = reprise.add %[[A]], %[[B]]
// CHECK: %[[C:.*]] = reprise.dot_general {{.*}} contracting [0, 1] x [0, 1] {{.*}} -> tensor<5x3xf32>
// CHECK: %[[ABC:.*]] = reprise.add %[[AB]], %[[C]]
// CHECK: reprise.cast %[[ABC]] {{.*}} to tensor<5x3xbf16>
reprise.program @tree devices [0] (%x: tensor<3x4096x3xbf16>, %w: tensor<5x3xbf16>) -> (tensor<5x3xbf16>) {
  %l = reprise.dot_general %x, %w contracting [2] x [1] {reprise.primal} : (tensor<3x4096x3xbf16>, tensor<5x3xbf16>) -> tensor<3x4096x5xbf16>
  %s = reprise.softmax %l {reprise.cotangent, reprise.order = 1 : i64} : tensor<3x4096x5xbf16>
  %g = reprise.dot_general %s, %x contracting [0, 1] x [0, 1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<3x4096x5xbf16>, tensor<3x4096x3xbf16>) -> tensor<5x3xbf16>
  reprise.return %g : tensor<5x3xbf16>
}

// A gradient that reads the loss of all rows waits for it: each pass has its slices, and the second one computes the
// logits again.
// CHECK-LABEL: reprise.program @waits devices [0] (
// CHECK: reprise.dot_general {{.*}} {reprise.primal} {{.*}} -> tensor<1x2x5xf32>
// CHECK: reprise.logsumexp {{.*}} {reprise.primal}
// CHECK: reprise.dot_general {{.*}} {reprise.primal} {{.*}} -> tensor<1x2x5xf32>
// CHECK: reprise.logsumexp {{.*}} {reprise.primal}
// CHECK: %[[LOSS:.*]] = reprise.sum {{.*}} dims [0, 1] {reprise.primal}
// CHECK: %[[G:.*]] = reprise.exp %[[LOSS]]
// CHECK: reprise.dot_general {{.*}} {reprise.cotangent, reprise.order = 1 : i64} {{.*}} -> tensor<1x2x5xf32>
// CHECK: reprise.softmax
// CHECK: reprise.broadcast %[[G]]
// CHECK: reprise.dot_general {{.*}} {reprise.cotangent, reprise.order = 1 : i64} {{.*}} -> tensor<1x2x5xf32>
// CHECK: reprise.dot_accumulate
reprise.program @waits devices [0] (%x: tensor<2x2x3xf32>, %w: tensor<5x3xf32>) -> (tensor<f32>, tensor<5x3xf32>) {
  %l = reprise.dot_general %x, %w contracting [2] x [1] {reprise.primal} : (tensor<2x2x3xf32>, tensor<5x3xf32>) -> tensor<2x2x5xf32>
  %n = reprise.logsumexp %l dims [2] {reprise.primal} : (tensor<2x2x5xf32>) -> tensor<2x2xf32>
  %loss = reprise.sum %n dims [0, 1] {reprise.primal} : (tensor<2x2xf32>) -> tensor<f32>
  %c = reprise.exp %loss {reprise.cotangent, reprise.order = 1 : i64} : tensor<f32>
  %s = reprise.softmax %l {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2x5xf32>
  %b = reprise.broadcast %c dims [] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<f32>) -> tensor<2x2x5xf32>
  %m = reprise.mul %s, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2x5xf32>
  %g = reprise.dot_general %m, %x contracting [0, 1] x [0, 1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<2x2x5xf32>, tensor<2x2x3xf32>) -> tensor<5x3xf32>
  reprise.return %loss, %g : tensor<f32>, tensor<5x3xf32>
}

// The gradient of a row reads a sum over all rows: no slice can end before all have begun.
// CHECK-LABEL: reprise.program @coupled devices [0] (
// CHECK-NOT: reprise.slice
// CHECK-LABEL: reprise.program @returned devices [0] (
reprise.program @coupled devices [0] (%x: tensor<2x2x3xf32>, %w: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %l = reprise.dot_general %x, %w contracting [2] x [1] {reprise.primal} : (tensor<2x2x3xf32>, tensor<5x3xf32>) -> tensor<2x2x5xf32>
  %m = reprise.max %l dims [0, 1, 2] {reprise.primal} : (tensor<2x2x5xf32>) -> tensor<f32>
  %b = reprise.broadcast %m dims [] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<f32>) -> tensor<2x2x5xf32>
  %s = reprise.sub %l, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2x5xf32>
  %g = reprise.dot_general %s, %x contracting [0, 1] x [0, 1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<2x2x5xf32>, tensor<2x2x3xf32>) -> tensor<5x3xf32>
  reprise.return %g : tensor<5x3xf32>
}

// Logits that the step returns are in memory as a whole.
// CHECK-NOT: reprise.slice
// CHECK: reprise.return
reprise.program @returned devices [0] (%x: tensor<2x2x3xf32>, %w: tensor<5x3xf32>) -> (tensor<2x2x5xf32>, tensor<5x3xf32>) {
  %l = reprise.dot_general %x, %w contracting [2] x [1] {reprise.primal} : (tensor<2x2x3xf32>, tensor<5x3xf32>) -> tensor<2x2x5xf32>
  %s = reprise.softmax %l {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2x5xf32>
  %g = reprise.dot_general %s, %x contracting [0, 1] x [0, 1] {reprise.cotangent, reprise.order = 1 : i64} : (tensor<2x2x5xf32>, tensor<2x2x3xf32>) -> tensor<5x3xf32>
  reprise.return %l, %g : tensor<2x2x5xf32>, tensor<5x3xf32>
}
