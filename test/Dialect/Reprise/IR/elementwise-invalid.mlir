// Elementwise ops: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{'reprise.exp' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<?xf32>'}}
  %0 = reprise.exp %x : tensor<?xf32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{custom op 'reprise.neg' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = reprise.neg %x : tensor<*xf32>
  return
}

// -----

func.func @exp_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'reprise.exp' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<4xi32>'}}
  %0 = reprise.exp %x : tensor<4xi32>
  return
}

// -----

func.func @neg_of_booleans(%x: tensor<4xi1>) {
  // expected-error@+1 {{'reprise.neg' op operand #0 must be statically shaped tensor of f32, f64, bf16, f16, i32 or i64, but got 'tensor<4xi1>'}}
  %0 = reprise.neg %x : tensor<4xi1>
  return
}

// -----

func.func @unknown_width(%x: tensor<4xi8>) {
  // expected-error@+1 {{'reprise.neg' op operand #0 must be statically shaped tensor of f32, f64, bf16, f16, i32 or i64, but got 'tensor<4xi8>'}}
  %0 = reprise.neg %x : tensor<4xi8>
  return
}

// -----

func.func @vector(%x: vector<4xf32>) {
  // expected-error@+1 {{custom op 'reprise.neg' invalid kind of type specified: expected builtin.tensor, but found 'vector<4xf32>'}}
  %0 = reprise.neg %x : vector<4xf32>
  return
}

// -----

func.func @changes_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.exp' op requires the same type for all operands and results}}
  %0 = "reprise.exp"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @no_broadcast(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{'reprise.add' op failed to infer returned types}}
  // expected-error@+1 {{operand shapes do not broadcast: 'tensor<4xf32>' and 'tensor<3xf32>'}}
  %0 = reprise.add %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_to_something_else(%x: tensor<4x1xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{'reprise.add' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.add' op inferred type(s) 'tensor<4x3xf32>' are incompatible with return type(s) of operation 'tensor<4x4xf32>'}}
  %0 = reprise.add %x, %y : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @mixed_types(%x: tensor<4xf32>, %y: tensor<4xbf16>) {
  // expected-error@+2 {{'reprise.mul' op failed to infer returned types}}
  // expected-error@+1 {{expected operands of one element type but got 'f32' and 'bf16'}}
  %0 = reprise.mul %x, %y : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
  return
}

// -----

func.func @rem_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.rem' op operand #0 must be statically shaped tensor of i32 or i64, but got 'tensor<4xf32>'}}
  %0 = reprise.rem %x, %x : tensor<4xf32>
  return
}

// -----

func.func @compare_mixed(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@+2 {{'reprise.compare' op failed to infer returned types}}
  // expected-error@+1 {{expected operands of one element type but got 'f32' and 'i32'}}
  %0 = reprise.compare lt %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_gives_booleans(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.compare' op result #0 must be statically shaped tensor of i1, but got 'tensor<4xf32>'}}
  %0 = reprise.compare lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown_predicate(%x: tensor<4xf32>) {
  // expected-error@+2 {{custom op 'reprise.compare' expected ::reprise::ComparePredicate to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error@+1 {{custom op 'reprise.compare' failed to parse Reprise_ComparePredicateAttr parameter 'value' which is to be a `::reprise::ComparePredicate`}}
  %0 = reprise.compare less %x, %x : tensor<4xf32>
  return
}

// -----

func.func @compare_needs_a_tensor(%x: f32) {
  // expected-error@+1 {{custom op 'reprise.compare' expected a ranked tensor type}}
  %0 = reprise.compare lt %x, %x : f32
  return
}

// -----

func.func @select_by_a_scalar(%b: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.select' op failed to verify that all of {condition, result} have same shape}}
  %0 = reprise.select %b, %x, %x : tensor<i1>, tensor<4xf32>
  return
}

// -----

func.func @select_by_numbers(%b: tensor<4xi32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.select' op operand #0 must be statically shaped tensor of i1, but got 'tensor<4xi32>'}}
  %0 = reprise.select %b, %x, %x : tensor<4xi32>, tensor<4xf32>
  return
}

// -----

func.func @cast_changes_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.cast' op failed to verify that all of {operand, result} have same shape}}
  %0 = reprise.cast %x : tensor<4xf32> to tensor<5xf64>
  return
}

// -----

func.func @unknown_form(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected ::reprise::GeluForm to be one of: erf, tanh}}
  // expected-error@+1 {{failed to parse Reprise_GeluFormAttr parameter 'value' which is to be a `::reprise::GeluForm`}}
  %0 = reprise.gelu %x {form = #reprise<gelu_form sine>} : tensor<4xf32>
  return
}

// -----

func.func @label_of_another_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.exp' op expected 'reprise.label' to be a #reprise.label attribute}}
  %0 = reprise.exp %x {reprise.label = "must_save"} : tensor<4xf32>
  return
}

// -----

func.func @unknown_label(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected ::reprise::Label to be one of: must_save, prefer_save, prefer_recompute, must_recompute, must_offload, prefer_offload}}
  // expected-error@+1 {{failed to parse Reprise_LabelAttr parameter 'value' which is to be a `::reprise::Label`}}
  %0 = reprise.exp %x {reprise.label = #reprise.label<should_save>} : tensor<4xf32>
  return
}

// -----

func.func @replay_is_a_number(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'reprise.exp' 'reprise.exp' op attribute 'replay' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = reprise.exp %x {replay = "yes"} : tensor<4xf32>
  return
}

// -----

func.func @no_such_op(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'reprise.sinh' is unknown}}
  %0 = reprise.sinh %x : tensor<4xf32>
  return
}

// -----

func.func @empty_interval(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.clamp' op expected low <= high, got 1.000000e+00 and 0.000000e+00}}
  %0 = reprise.clamp %x in [1.0 : f64, 0.0 : f64] : tensor<4xf32>
  return
}

// -----

func.func @logic_of_numbers(%x: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.and' op operand #0 must be statically shaped tensor of i1, i32 or i64, but got 'tensor<4xf32>'}}
  %0 = reprise.and %x, %x : tensor<4xf32>
  return
}

// -----

func.func @power_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'reprise.pow' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<4xi32>'}}
  %0 = reprise.pow %x, %x : tensor<4xi32>
  return
}

// -----

func.func @bitcast_widths(%x: tensor<3xf32>) {
  // expected-error @+1 {{'reprise.bitcast' op expected types of one width, got 'f32' and 'i64'}}
  %0 = reprise.bitcast %x : tensor<3xf32> to tensor<3xi64>
  return
}
