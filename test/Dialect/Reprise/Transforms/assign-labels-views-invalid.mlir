// Two different MUSTs for one memory.
// RUN: reprise-opt %s --reprise-assign-labels --split-input-file --verify-diagnostics

func.func @base_and_view(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the memory is the same: a view has no memory of its own}}
  %a = reprise.exp %x {reprise.label = #reprise.label<must_recompute>} : tensor<2x4xf32>
  // expected-error-re @+1 {{contradictory labels for one memory: 'must_save' from op on reprise.reshape, and 'must_recompute' from op on reprise.exp at {{.*}}assign-labels-views-invalid.mlir:6:8}}
  %b = reprise.reshape %a {reprise.label = #reprise.label<must_save>} : (tensor<2x4xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

func.func @two_views(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<4x2xf32>) {
  %a = reprise.exp %x : tensor<2x4xf32>
  // expected-note @+1 {{the memory is the same: a view has no memory of its own}}
  %b = reprise.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
  %c = reprise.name %b "kept" {reprise.label = #reprise.label<must_save>} : tensor<8xf32>
  // expected-error-re @+1 {{contradictory labels for one memory: 'must_offload' from op on reprise.transpose, and 'must_save' from name kept on reprise.reshape at {{.*}}:17:8}}
  %d = reprise.transpose %a [1, 0] {reprise.label = #reprise.label<must_offload>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %c, %d : tensor<8xf32>, tensor<4x2xf32>
}

// -----

// Who keeps what repeats a value keeps the value.
func.func @kept_broadcast(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-note @+1 {{the memory is the same: a view has no memory of its own}}
  %a = reprise.exp %x {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  // expected-error @+1 {{contradictory labels for one memory: 'must_save' from op on reprise.broadcast, and 'must_recompute' from op on reprise.exp}}
  %b = reprise.broadcast %a dims [1] {reprise.label = #reprise.label<must_save>} : (tensor<4xf32>) -> tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// -----

func.func @offload_in_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{cannot honour 'must_offload' from op: the values of a loop stay on the device; --unroll takes them out of it}}
    %a = reprise.exp %c : tensor<4xf32>
    %b = reprise.reshape %a {reprise.label = #reprise.label<must_offload>} : (tensor<4xf32>) -> tensor<2x2xf32>
    %d = reprise.reshape %b : (tensor<2x2xf32>) -> tensor<4xf32>
    reprise.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @view_of_a_loop(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %r = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %a = reprise.exp %c : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  }
  // expected-error @+1 {{cannot honour 'must_recompute' from op: the value is a view of what a loop makes; label an op of the loop}}
  %b = reprise.reshape %r {reprise.label = #reprise.label<must_recompute>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}

// -----

func.func @name_of_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %a = reprise.exp %c : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  }
  // expected-error @+1 {{cannot honour 'must_recompute' from name last: a loop makes the value; label an op of the loop}}
  %b = reprise.name %r "last" {reprise.label = #reprise.label<must_recompute>} : tensor<4xf32>
  return %b : tensor<4xf32>
}
