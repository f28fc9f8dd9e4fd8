// RUN: reprise-opt %s --reprise-assign-labels --split-input-file --verify-diagnostics
// RUN: not reprise-opt %s --reprise-assign-labels=policies=save-everything 2>&1 | FileCheck %s

// CHECK: error: --policy=save-everything: unknown policy 'save-everything', expected one of checkpoint_dots, checkpoint_dots_with_no_batch_dims, dots-saveable, dots_saveable, dots_with_no_batch_dims_saveable, every-nth-contraction(N), everything_saveable, nothing_saveable, offload_dot_with_no_batch_dims, recompute-all, save-all, save_and_offload_only_these_names(SAVED, ...; OFFLOADED, ...), save_any_names_but_these(NAME, ...), save_anything_except_these_names(NAME, ...), save_from_both_policies(POLICY, POLICY), save_only_these_names(NAME, ...)

func.func @unknown_policy(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unknown policy 'save-some', expected one of checkpoint_dots, checkpoint_dots_with_no_batch_dims, dots-saveable, dots_saveable, dots_with_no_batch_dims_saveable, every-nth-contraction(N), everything_saveable, nothing_saveable, offload_dot_with_no_batch_dims, recompute-all, save-all, save_and_offload_only_these_names(SAVED, ...; OFFLOADED, ...), save_any_names_but_these(NAME, ...), save_anything_except_these_names(NAME, ...), save_from_both_policies(POLICY, POLICY), save_only_these_names(NAME, ...)}}
  %0 = reprise.checkpoint policy "save-some" {
    %a = reprise.exp %x : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @contradiction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{contradictory labels: 'must_save' from name kept and 'must_recompute' from op}}
  %a = reprise.exp %x {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  // expected-note @+1 {{from name kept}}
  %b = reprise.name %a "kept" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

func.func @contradiction_of_one_result(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{contradictory labels: 'must_save' from name average and 'must_recompute' from op}}
  %y, %mean, %rstd = reprise.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f32, reprise.label = #reprise.label<must_recompute>} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-note @+1 {{from name average}}
  %named = reprise.name %mean "average" {reprise.label = #reprise.label<must_save>} : tensor<2xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @different_musts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{contradictory labels: 'must_offload' from name far and 'must_save' from op}}
  %a = reprise.exp %x {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  // expected-note @+1 {{from name far}}
  %b = reprise.name %a "far" {reprise.label = #reprise.label<must_offload>} : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

func.func @offload_view(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot honour 'must_offload' from op: the value is a view of another one}}
  %a = reprise.reshape %x {reprise.label = #reprise.label<must_offload>} : (tensor<2x2xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

func.func @offload_in_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{the values of a loop stay on the device; --unroll takes them out of it}}
    %a = reprise.exp %c {reprise.label = #reprise.label<must_offload>} : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @offload_falls_back(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{'prefer_offload' from op becomes 'prefer_save': the value is a view of another one}}
  %a = reprise.reshape %x {reprise.label = #reprise.label<prefer_offload>} : (tensor<2x2xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

func.func @named_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{the label of 'x' has no effect: an argument or a constant is never replayed}}
  %a = reprise.name %x "x" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

func.func @label_on_block(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a label on an op with a value to save, got 'reprise.block'}}
  %0 = reprise.block {
    %a = reprise.exp %x : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  } {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @label_on_terminator(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.block {
    %a = reprise.exp %x : tensor<4xf32>
    // expected-error @+1 {{expected a label on an op with a value to save, got 'reprise.yield'}}
    reprise.yield {reprise.label = #reprise.label<must_save>} %a : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @label_in_a_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = reprise.custom_vjp %x wrt %x {
  ^bb0(%d: tensor<4xf32>):
    // expected-error @+1 {{expected a label on a forward value, but 'reprise.neg' computes a derivative}}
    %n = reprise.neg %d {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
    reprise.yield %n : tensor<4xf32>
  } : tensor<4xf32> wrt tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
