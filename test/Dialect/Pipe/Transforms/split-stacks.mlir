// Stages read and make rows of stacked parameters: each row becomes an argument and a result of its own.
// RUN: reprise-opt %s --split-input-file --pass-pipeline="builtin.module(reprise.program(pipe-split-stacks))" | FileCheck %s

// The update is made row by row, with the momentum; so are the constant and what is spread over all rows.
// CHECK-LABEL: reprise.program @update devices [0] (
// CHECK-SAME: %[[W0:.*]]: tensor<1x4xf32> {reprise.name = "w[0]", reprise.role = "parameter", reprise.rows = array<i64: 0, 1, 2>, reprise.whole = "w"}
// CHECK-SAME: %[[W1:.*]]: tensor<1x4xf32> {reprise.name = "w[1]", reprise.role = "parameter", reprise.rows = array<i64: 1, 2, 2>, reprise.whole = "w"}
// CHECK-SAME: %[[M0:.*]]: tensor<1x4xf32> {reprise.name = "m[0]'"
// CHECK-SAME: %[[M1:.*]]: tensor<1x4xf32> {reprise.name = "m[1]"
// CHECK-SAME: %[[RATE:[a-z0-9]+]]: tensor<f32> {reprise.name = "rate"
// CHECK-SAME: tensor<f32> {reprise.name = "m[0]", reprise.role = "state"}
// CHECK-SAME: -> (tensor<1x4xf32> {reprise.name = "w[0]", reprise.rows = array<i64: 0, 1, 2>, reprise.whole = "w"}, tensor<1x4xf32> {reprise.name = "w[1]"
// CHECK-SAME: tensor<1x4xf32> {reprise.name = "m[0]'", {{.*}} tensor<1x4xf32> {reprise.name = "m[1]"
// CHECK: %[[C:.*]] = reprise.constant dense<5.000000e-01> : tensor<1x4xf32>
// CHECK-DAG: %[[R0:.*]] = reprise.broadcast %[[RATE]] dims [] {reprise.stage = 1 : i64} : (tensor<f32>) -> tensor<1x4xf32>
// CHECK-DAG: %[[R1:.*]] = reprise.broadcast %[[RATE]] dims [] {reprise.stage = 3 : i64} : (tensor<f32>) -> tensor<1x4xf32>
// CHECK: reprise.reshape %[[W0]] {{.*}}reprise.stage = 1
// CHECK: reprise.reshape %[[W1]] {{.*}}reprise.stage = 3
// CHECK: %[[G0:.*]] = reprise.reshape {{.*}}reprise.stage = 1
// CHECK: %[[G1:.*]] = reprise.reshape {{.*}}reprise.stage = 3
// CHECK: %[[S0:.*]] = reprise.add %[[G0]], %[[G0]] {reprise.cotangent, reprise.stage = 1 : i64} : tensor<1x4xf32>
// CHECK: %[[S1:.*]] = reprise.add %[[G1]], %[[G1]] {reprise.cotangent, reprise.stage = 3 : i64} : tensor<1x4xf32>
// CHECK: %[[H0:.*]] = reprise.mul %[[M0]], %[[C]]
// CHECK: %[[H1:.*]] = reprise.mul %[[M1]], %[[C]]
// CHECK: %[[N0:.*]] = reprise.add %[[H0]], %[[S0]]
// CHECK: %[[N1:.*]] = reprise.add %[[H1]], %[[S1]]
// CHECK: %[[D0:.*]] = reprise.mul %[[N0]], %[[R0]]
// CHECK: %[[D1:.*]] = reprise.mul %[[N1]], %[[R1]]
// CHECK: %[[U0:.*]] = reprise.sub %[[W0]], %[[D0]]
// CHECK: %[[U1:.*]] = reprise.sub %[[W1]], %[[D1]]
// CHECK: return %[[U0]], %[[U1]], %[[N0]], %[[N1]]
reprise.program @update devices [0] (%w: tensor<2x4xf32> {reprise.name = "w", reprise.role = "parameter"},
                  %m: tensor<2x4xf32> {reprise.name = "m", reprise.role = "state"},
                  %rate: tensor<f32> {reprise.name = "rate", reprise.role = "input"},
                  %other: tensor<f32> {reprise.name = "m[0]", reprise.role = "state"})
    -> (tensor<2x4xf32> {reprise.name = "w"}, tensor<2x4xf32> {reprise.name = "m"}) {
  %half = reprise.constant dense<0.5> : tensor<2x4xf32>
  %rates = reprise.broadcast %rate dims [] : (tensor<f32>) -> tensor<2x4xf32>
  %0 = reprise.slice %w from [0, 0] to [1, 4] by [1, 1] {reprise.primal, reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %1 = reprise.reshape %0 {reprise.primal, reprise.stage = 1 : i64} : (tensor<1x4xf32>) -> tensor<4xf32>
  %2 = reprise.slice %w from [1, 0] to [2, 4] by [1, 1] {reprise.primal, reprise.stage = 3 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %3 = reprise.reshape %2 {reprise.primal, reprise.stage = 3 : i64} : (tensor<1x4xf32>) -> tensor<4xf32>
  %4 = reprise.mul %1, %3 {reprise.primal, reprise.stage = 3 : i64} : tensor<4xf32>
  %5 = reprise.reshape %4 {reprise.cotangent, reprise.stage = 1 : i64} : (tensor<4xf32>) -> tensor<1x4xf32>
  %6 = reprise.reshape %4 {reprise.cotangent, reprise.stage = 3 : i64} : (tensor<4xf32>) -> tensor<1x4xf32>
  %gradient = reprise.concatenate %5, %6 dim 0 {reprise.cotangent, reprise.stage = 1 : i64} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %sum = reprise.add %gradient, %gradient {reprise.cotangent, reprise.stage = array<i64: 1, 3>} : tensor<2x4xf32>
  %7 = reprise.mul %m, %half : tensor<2x4xf32>
  %next = reprise.add %7, %sum : tensor<2x4xf32>
  %8 = reprise.mul %next, %rates : tensor<2x4xf32>
  %9 = reprise.sub %w, %8 : tensor<2x4xf32>
  reprise.return %9, %next : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A norm over all layers reads the rows joined again, in its place; what is no row of a layer is a window of one.
// CHECK-LABEL: reprise.program @norm devices [0] (
// CHECK-SAME: %[[W0:.*]]: tensor<1x4xf32> {{.*}}, %[[W1:.*]]: tensor<1x4xf32>
// CHECK: reprise.slice %[[W0]] from [0, 1] to [1, 3] by [1, 1] {{.*}}reprise.stage = 0
// CHECK: %[[Q0:.*]] = reprise.mul %[[W0]], %[[W0]]
// CHECK: %[[Q1:.*]] = reprise.mul %[[W1]], %[[W1]]
// CHECK: %[[Q:.*]] = reprise.concatenate %[[Q0]], %[[Q1]] dim 0
// CHECK: reprise.sum %[[Q]]
reprise.program @norm devices [0] (%w: tensor<2x4xf32> {reprise.name = "w", reprise.role = "parameter"})
    -> (tensor<1x2xf32> {reprise.name = "a"}, tensor<1x4xf32> {reprise.name = "b"}, tensor<f32> {reprise.name = "norm"}) {
  %0 = reprise.slice %w from [0, 1] to [1, 3] by [1, 1] {reprise.primal, reprise.stage = 0 : i64} : (tensor<2x4xf32>) -> tensor<1x2xf32>
  %1 = reprise.slice %w from [1, 0] to [2, 4] by [1, 1] {reprise.primal, reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %2 = reprise.mul %w, %w : tensor<2x4xf32>
  %3 = reprise.sum %2 dims [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  reprise.return %0, %1, %3 : tensor<1x2xf32>, tensor<1x4xf32>, tensor<f32>
}

// -----

// Whole stay: what one stage reads, samples of a batch, and what has its next value in one piece.
// CHECK-LABEL: reprise.program @whole devices [0] (
// CHECK-SAME: %{{.*}}: tensor<2x4xf32> {{{.*}}"one"
// CHECK-SAME: %{{.*}}: tensor<2x4xf32> {{{.*}}"batch"
// CHECK-SAME: %{{.*}}: tensor<2x4xf32> {{{.*}}"piece"
reprise.program @whole devices [0] (%one: tensor<2x4xf32> {reprise.name = "one", reprise.role = "parameter"},
                 %batch: tensor<2x4xf32> {reprise.batch_dim = 0 : i64, reprise.name = "batch", reprise.role = "input"},
                 %piece: tensor<2x4xf32> {reprise.name = "piece", reprise.role = "state"})
    -> (tensor<1x4xf32> {reprise.name = "a"}, tensor<1x4xf32> {reprise.name = "b"}, tensor<1x4xf32> {reprise.name = "c"},
        tensor<1x4xf32> {reprise.name = "d"}, tensor<1x4xf32> {reprise.name = "e"}, tensor<1x4xf32> {reprise.name = "f"},
        tensor<2x4xf32> {reprise.name = "piece"}) {
  %0 = reprise.slice %one from [0, 0] to [1, 4] by [1, 1] {reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %1 = reprise.slice %one from [1, 0] to [2, 4] by [1, 1] {reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %2 = reprise.slice %batch from [0, 0] to [1, 4] by [1, 1] {reprise.stage = 0 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %3 = reprise.slice %batch from [1, 0] to [2, 4] by [1, 1] {reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %4 = reprise.slice %piece from [0, 0] to [1, 4] by [1, 1] {reprise.stage = 0 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %5 = reprise.slice %piece from [1, 0] to [2, 4] by [1, 1] {reprise.stage = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %6 = reprise.transpose %piece [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %7 = reprise.reshape %6 : (tensor<4x2xf32>) -> tensor<2x4xf32>
  reprise.return %0, %1, %2, %3, %4, %5, %7 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x4xf32>
}
