// Two stages of two micro-batches each, in the order of 1f1b.
// RUN: reprise-opt %s --reprise-to="partition microbatches=2 stages=2" | FileCheck %s
// RUN: reprise-opt %s --reprise-to="partition microbatches=2 stages=2 schedule=zb-h1" | FileCheck %s --check-prefix=ZB
// RUN: not reprise-opt %s --reprise-to="partition microbatches=2 stages=2 schedule=none" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not reprise-opt %s --reprise-to="partition microbatches=2 stages=8" 2>&1 | FileCheck %s --check-prefix=MANY

// NONE: error: --schedule=none: no schedule has this name, and no file can be read: No such file or directory
// MANY: error: the forward pass can be cut into at most 2 stages, got 8

// How the step was cut stays on the module.
// CHECK: module attributes {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 1, 2]
// CHECK-SAME: pipe.timing = #pipe.timing<rows = ["0F0, 0F1, 0B0, 0B1", "1F0, 1B0, 1F1, 1B1"], microbatches = 2

// The first stage runs both forward passes before its first backward pass. The receive of a cotangent begins a pass before
// the one that reads it. The tied weight lives where it is read first; its copy is sent, and what the other use adds up comes back.
// CHECK-LABEL: reprise.program @train_0 devices [0] (
// CHECK-SAME: "x"
// CHECK-SAME: "w"
// CHECK-NOT: "b"
// CHECK-SAME: -> (tensor<4x4xf32> {reprise.name = "w", reprise.position = 1 : i64}, tensor<i64> {reprise.name = "offset", reprise.position = 3 : i64})
// CHECK-NOT: pipe.cuts
// CHECK-SAME: reprise.entry = "train"
// CHECK: %[[COPY:.*]] = exec.send %[[W:.*]] to @train_1 tag 0 : tensor<4x4xf32>
// CHECK: reprise.slice {{.*}} from [0, 0] to [3, 4]
// CHECK: %[[Y0:.*]] = reprise.dot_general {{.*}} -> tensor<3x4xf32>
// CHECK: exec.send %[[Y0]] to @train_1 tag 1 : tensor<3x4xf32>
// CHECK: %[[DY0:.*]], %[[E0:.*]] = exec.receive from @train_1 {{.*}} : tensor<3x4xf32>
// CHECK: %[[Y1:.*]] = reprise.dot_general {{.*}} -> tensor<2x4xf32>
// CHECK: exec.send %[[Y1]] to @train_1 tag 1 : tensor<2x4xf32>
// CHECK: exec.wait %[[E0]]
// CHECK: %[[DW0:.*]] = reprise.dot_general {{.*}} -> tensor<4x4xf32>
// CHECK: %[[DW1:.*]] = reprise.dot_general {{.*}} -> tensor<4x4xf32>
// CHECK: %[[DW:.*]] = reprise.add %[[DW0]], %[[DW1]]
// CHECK: exec.wait %[[COPY]]
// CHECK: reprise.add {{.*}}%[[DW]]
// CHECK: return %{{.*}} : tensor<4x4xf32>

// The last stage runs each backward pass behind its forward pass.
// CHECK-LABEL: reprise.program @train_1 devices [1] (
// CHECK-NOT: "w"
// CHECK-SAME: "b"
// CHECK-SAME: -> (tensor<f32> {reprise.name = "loss", reprise.position = 0 : i64}, tensor<4xf32> {reprise.name = "b", reprise.position = 2 : i64})
// CHECK-DAG: exec.receive from @train_0 tag 0 : tensor<4x4xf32>
// CHECK-DAG: exec.receive from @train_0 tag 1 : tensor<3x4xf32>
// CHECK: exec.send {{.*}} to @train_0 tag 0 : tensor<3x4xf32>
// CHECK: exec.send {{.*}} to @train_0 tag 1 : tensor<4x4xf32>
// CHECK: exec.send {{.*}} to @train_0 tag 0 : tensor<2x4xf32>
// CHECK-NOT: reprise.stage
// CHECK-NOT: reprise.microbatch

// Gradients of weights come behind both cotangents.
// ZB-LABEL: reprise.program @train_1 devices [1] (
// ZB: exec.send {{.*}} to @train_0 {{.*}} : tensor<3x4xf32>
// ZB: exec.send {{.*}} to @train_0 {{.*}} : tensor<2x4xf32>
// ZB: reprise.dot_general {{.*}} -> tensor<4x4xf32>
// ZB: reprise.dot_general {{.*}} -> tensor<4x4xf32>
func.func @train(%x: tensor<5x4xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                 %w: tensor<4x4xf32> {reprise.role = "parameter", reprise.name = "w"},
                 %b: tensor<4xf32> {reprise.role = "parameter", reprise.name = "b"})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<4x4xf32> {reprise.name = "w"}, tensor<4xf32> {reprise.name = "b"}) {
  %loss, %dw, %db = reprise.value_and_grad (%pw = %w, %pb = %b) wrt [0, 1] : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x4xf32>, tensor<4xf32>) {
    %0 = reprise.dot_general %x, %pw contracting [1] x [0] : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %1 = reprise.broadcast %pb dims [1] {reprise.stage = 1 : i64} : (tensor<4xf32>) -> tensor<5x4xf32>
    %2 = reprise.add %0, %1 : tensor<5x4xf32>
    %3 = reprise.exp %2 : tensor<5x4xf32>
    %4 = reprise.dot_general %3, %pw contracting [1] x [0] : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %5 = reprise.sum %4 dims [0, 1] : (tensor<5x4xf32>) -> tensor<f32>
    reprise.yield %5 : tensor<f32>
  }
  %1 = reprise.sub %w, %dw : tensor<4x4xf32>
  %2 = reprise.sub %b, %db : tensor<4xf32>
  return %loss, %1, %2 : tensor<f32>, tensor<4x4xf32>, tensor<4xf32>
}
