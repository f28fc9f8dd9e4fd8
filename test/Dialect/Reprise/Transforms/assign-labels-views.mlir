// A view has no memory of its own: labels of a value and of its views are labels of one memory.
// RUN: reprise-opt %s --reprise-assign-labels --split-input-file | FileCheck %s
// RUN: reprise-opt %s --reprise-assign-labels=unroll --split-input-file | FileCheck %s

// A MUST of a value is one of its views, and back, through chains. A MUST outranks a PREFER with a name.
// CHECK-LABEL: func @musts
func.func @musts(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<4x2xf32>) {
  // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"
  %a = reprise.exp %x {reprise.label = #reprise.label<must_recompute>} : tensor<2x4xf32>
  // CHECK: reprise.reshape {{.*}}reprise.label = #reprise.label<must_recompute>, reprise.names = ["flat"], reprise.rule = "op"
  %b = reprise.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
  %c = reprise.name %b "flat" {reprise.label = #reprise.label<prefer_save>} : tensor<8xf32>
  // CHECK: reprise.sin {{.*}}reprise.label = #reprise.label<must_offload>, reprise.rule = "name half"
  %d = reprise.sin %x : tensor<2x4xf32>
  // CHECK: reprise.transpose {{.*}}reprise.label = #reprise.label<must_offload>, reprise.rule = "name half"
  %e = reprise.transpose %d [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // CHECK: reprise.slice {{.*}}reprise.label = #reprise.label<must_offload>, reprise.names = ["half"], reprise.rule = "name half"
  %f = reprise.slice %e from [0, 0] to [2, 2] by [1, 1] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %g = reprise.name %f "half" {reprise.label = #reprise.label<must_offload>} : tensor<2x2xf32>
  return %c, %e : tensor<8xf32>, tensor<4x2xf32>
}

// -----

// Among PREFERs the innermost source wins, the value's own before that of a view. Who saves the value may make views of
// it again.
// CHECK-LABEL: func @prefers
func.func @prefers(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<prefer_save>, reprise.rule = "name flat"
  %a = reprise.exp %x {reprise.label = #reprise.label<prefer_recompute>} : tensor<2x4xf32>
  %b = reprise.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
  %c = reprise.name %b "flat" {reprise.label = #reprise.label<prefer_save>} : tensor<8xf32>
  // CHECK: reprise.sin {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "op"
  %d = reprise.sin %x {reprise.label = #reprise.label<prefer_recompute>} : tensor<2x4xf32>
  // CHECK: reprise.reshape {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "op"
  %e = reprise.reshape %d {reprise.label = #reprise.label<prefer_save>} : (tensor<2x4xf32>) -> tensor<8xf32>
  return %c, %e : tensor<8xf32>, tensor<8xf32>
}

// -----

// The label of a broadcast is not that of the fewer bytes that it repeats, but the label of these is its own.
// CHECK-LABEL: func @repeated
func.func @repeated(%x: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: reprise.exp %{{[^{]*}} : tensor<4xf32>
  %a = reprise.exp %x : tensor<4xf32>
  // CHECK: reprise.broadcast {{.*}}must_recompute
  %b = reprise.broadcast %a dims [1] {reprise.label = #reprise.label<must_recompute>} : (tensor<4xf32>) -> tensor<2x4xf32>
  %c = reprise.sin %x {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  // CHECK: reprise.sin
  // CHECK: reprise.broadcast {{.*}}must_recompute
  %d = reprise.broadcast %c dims [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  return %b, %d : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A checkpoint speaks of what is computed in it: not of a value that it gets, of which it has a view, nor of a view of what
// it yields.
// CHECK-LABEL: func @checkpoints
func.func @checkpoints(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  // CHECK: reprise.exp %{{[^{]*}} : tensor<2x4xf32>
  %a = reprise.exp %x : tensor<2x4xf32>
  %b = reprise.checkpoint {
    // CHECK: reprise.reshape {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "checkpoint"
    %c = reprise.reshape %a : (tensor<2x4xf32>) -> tensor<4x2xf32>
    // CHECK: reprise.sin {{.*}}reprise.rule = "checkpoint"
    %d = reprise.sin %c : tensor<4x2xf32>
    reprise.yield %d : tensor<4x2xf32>
  } : tensor<4x2xf32>
  // CHECK: reprise.reshape %{{[^{]*}} : (tensor<4x2xf32>) -> tensor<8xf32>
  %e = reprise.reshape %b : (tensor<4x2xf32>) -> tensor<8xf32>
  return %e : tensor<8xf32>
}

// -----

// One of several results.
// CHECK-LABEL: func @results
func.func @results(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  // CHECK: reprise.layer_norm {{.*}}reprise.result_labels = [#reprise.label<must_recompute>, unit, unit], reprise.result_rules = ["op", "", ""]
  %y, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f32} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %f = reprise.reshape %y {reprise.label = #reprise.label<must_recompute>} : (tensor<2x4xf32>) -> tensor<8xf32>
  return %f, %mean : tensor<8xf32>, tensor<2xf32>
}
