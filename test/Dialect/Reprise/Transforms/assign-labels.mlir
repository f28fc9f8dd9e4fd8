// RUN: reprise-opt %s --reprise-assign-labels=policies=dots-saveable --split-input-file --allow-unregistered-dialect | FileCheck %s

// Sources from the innermost: name, op, checkpoint, policy, intrinsic.

// CHECK-LABEL: func @sources
func.func @sources(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "policy dots-saveable"
  %a = reprise.exp %x : tensor<4x4xf32>
  // CHECK: reprise.dot_general {{.*}}reprise.label = #reprise.label<prefer_save>, reprise.rule = "policy dots-saveable"
  %b = reprise.dot_general %a, %w contracting [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: reprise.tanh {{.*}}reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"
  %c = reprise.tanh %b {reprise.label = #reprise.label<prefer_save>} : tensor<4x4xf32>
  // CHECK: reprise.sqrt {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.names = ["root"], reprise.rule = "name root"
  %d = reprise.sqrt %c {reprise.label = #reprise.label<prefer_save>} : tensor<4x4xf32>
  // CHECK-NOT: reprise.name
  %e = reprise.name %d "root" {reprise.label = #reprise.label<prefer_recompute>} : tensor<4x4xf32>
  // CHECK: return
  return %e : tensor<4x4xf32>
}

// -----

// A MUST of an outer source outranks a PREFER of an inner one; equal MUSTs agree.

// CHECK-LABEL: func @must
func.func @must(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<must_save>, reprise.names = ["kept"], reprise.rule = "op"
  %a = reprise.exp %x {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  %b = reprise.name %a "kept" {reprise.label = #reprise.label<prefer_recompute>} : tensor<4xf32>
  // CHECK: reprise.log {{.*}}reprise.label = #reprise.label<must_recompute>, reprise.names = ["first,second"], reprise.rule = "name second"
  %c = reprise.log %b : tensor<4xf32>
  %d = reprise.name %c "first" {reprise.label = #reprise.label<prefer_save>} : tensor<4xf32>
  %e = reprise.name %d "second" {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// A checkpoint's policy is innermost for its ops; nested ones come before those around them.

// CHECK-LABEL: func @checkpoints
func.func @checkpoints(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NOT: reprise.checkpoint
  %0 = reprise.checkpoint {
    // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "checkpoint"
    %a = reprise.exp %x : tensor<4x4xf32>
    // CHECK: reprise.dot_general {{.*}}reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "checkpoint"
    %b = reprise.dot_general %a, %w contracting [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = reprise.checkpoint policy "save-all" {
      // CHECK: reprise.tanh {{.*}}reprise.label = #reprise.label<prefer_save>, reprise.rule = "checkpoint save-all"
      %c = reprise.tanh %b : tensor<4x4xf32>
      reprise.yield %c : tensor<4x4xf32>
    } : tensor<4x4xf32>
    // CHECK: reprise.log {{.*}}reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"
    %d = reprise.log %1 {reprise.label = #reprise.label<prefer_save>} : tensor<4x4xf32>
    reprise.yield %d : tensor<4x4xf32>
  } : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A name labels one of several results.

// CHECK-LABEL: func @results
func.func @results(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK: reprise.layer_norm
  // CHECK-SAME: reprise.label = #reprise.label<prefer_recompute>
  // CHECK-SAME: reprise.names = ["", "average", ""]
  // CHECK-SAME: reprise.result_labels = [unit, #reprise.label<must_save>, unit]
  // CHECK-SAME: reprise.result_rules = ["", "name average", ""]
  // CHECK-SAME: reprise.rule = "policy dots-saveable"
  %y, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f32} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %named = reprise.name %mean "average" {reprise.label = #reprise.label<must_save>} : tensor<2xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A name of what a block yields labels the op inside.

// CHECK-LABEL: func @yielded
func.func @yielded(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}reprise.block = array<i64: 0>, reprise.label = #reprise.label<must_save>, reprise.names = ["out"]
  %0 = reprise.block {
    %a = reprise.exp %x : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  %1 = reprise.name %0 "out" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
