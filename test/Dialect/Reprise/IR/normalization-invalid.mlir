// Row ops: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @softmax_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.softmax' op expected an operand with a non-empty last dimension but got 'tensor<f32>'}}
  %0 = reprise.softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax_of_empty_rows(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{'reprise.softmax' op expected an operand with a non-empty last dimension but got 'tensor<2x0xf32>'}}
  %0 = reprise.softmax %x : tensor<2x0xf32>
  return
}

// -----

func.func @log_softmax_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.log_softmax' op expected an operand with a non-empty last dimension but got 'tensor<f32>'}}
  %0 = reprise.log_softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'reprise.softmax' op operand #0 must be statically shaped tensor of f32, f64, bf16 or f16, but got 'tensor<4xi32>'}}
  %0 = reprise.softmax %x : tensor<4xi32>
  return
}

// -----

func.func @one_label_per_sample(%x: tensor<4x10xf32>, %l: tensor<5xi32>) {
  // expected-error@+2 {{'reprise.cross_entropy' op failed to infer returned types}}
  // expected-error@+1 {{expected logits [samples…, classes] and labels [samples…] but got 'tensor<4x10xf32>' and 'tensor<5xi32>'}}
  %0 = reprise.cross_entropy %x, %l : (tensor<4x10xf32>, tensor<5xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_classes(%x: tensor<4x0xf32>, %l: tensor<4xi32>) {
  // expected-error@+2 {{'reprise.cross_entropy' op failed to infer returned types}}
  // expected-error@+1 {{expected logits [samples…, classes] and labels [samples…] but got 'tensor<4x0xf32>' and 'tensor<4xi32>'}}
  %0 = reprise.cross_entropy %x, %l : (tensor<4x0xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @labels_are_integers(%x: tensor<4x10xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.cross_entropy' op operand #1 must be statically shaped tensor of i32 or i64, but got 'tensor<4xf32>'}}
  %0 = reprise.cross_entropy %x, %l : (tensor<4x10xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @loss_per_sample(%x: tensor<4x10xf32>, %l: tensor<4xi32>) {
  // expected-error@+2 {{'reprise.cross_entropy' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.cross_entropy' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = reprise.cross_entropy %x, %l : (tensor<4x10xf32>, tensor<4xi32>) -> tensor<f32>
  return
}

// -----

func.func @weight_is_a_row(%x: tensor<4x10xf32>, %w: tensor<4xf32>, %b: tensor<10xf32>) {
  // expected-error@+2 {{'reprise.layer_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected weight and bias of type 'tensor<10xf32>' but got 'tensor<4xf32>' and 'tensor<10xf32>'}}
  %0:3 = reprise.layer_norm %x, %w, %b {epsilon = 0.1 : f64} : (tensor<4x10xf32>, tensor<4xf32>, tensor<10xf32>) -> (tensor<4x10xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @norm_of_empty_rows(%x: tensor<4x0xf32>, %w: tensor<0xf32>) {
  // expected-error@+2 {{'reprise.layer_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected an operand with a non-empty last dimension}}
  %0:3 = reprise.layer_norm %x, %w, %w {epsilon = 0.1 : f64} : (tensor<4x0xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<4x0xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @statistics_in_f32(%x: tensor<4x10xbf16>, %w: tensor<10xbf16>) {
  // expected-error@+2 {{'reprise.layer_norm' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.layer_norm' op inferred type(s) 'tensor<4x10xbf16>', 'tensor<4xf32>', 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4x10xbf16>', 'tensor<4xbf16>', 'tensor<4xbf16>'}}
  %0:3 = reprise.layer_norm %x, %w, %w {epsilon = 0.1 : f64} : (tensor<4x10xbf16>, tensor<10xbf16>, tensor<10xbf16>) -> (tensor<4x10xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @epsilon_is_needed(%x: tensor<4x10xf32>, %w: tensor<10xf32>) {
  // expected-error@+1 {{'reprise.layer_norm' op requires attribute 'epsilon'}}
  %0:3 = reprise.layer_norm %x, %w, %w : (tensor<4x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<4x10xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @epsilon_is_a_float(%x: tensor<4x10xf32>, %w: tensor<10xf32>) {
  // expected-error@+1 {{custom op 'reprise.layer_norm' 'reprise.layer_norm' op attribute 'epsilon' failed to satisfy constraint: a float attribute}}
  %0:3 = reprise.layer_norm %x, %w, %w {epsilon = 1 : i32} : (tensor<4x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<4x10xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_weight_is_a_row(%x: tensor<4x10xf32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{'reprise.rms_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected a weight of type 'tensor<10xf32>' but got 'tensor<4xf32>'}}
  %0:2 = reprise.rms_norm %x, %w {epsilon = 0.1 : f64} : (tensor<4x10xf32>, tensor<4xf32>) -> (tensor<4x10xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_of_empty_rows(%x: tensor<4x0xf32>, %w: tensor<0xf32>) {
  // expected-error@+2 {{'reprise.rms_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected an operand with a non-empty last dimension}}
  %0:2 = reprise.rms_norm %x, %w {epsilon = 0.1 : f64} : (tensor<4x0xf32>, tensor<0xf32>) -> (tensor<4x0xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_statistics_in_f32(%x: tensor<4x10xbf16>, %w: tensor<10xbf16>) {
  // expected-error@+2 {{'reprise.rms_norm' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.rms_norm' op inferred type(s) 'tensor<4x10xbf16>', 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4x10xbf16>', 'tensor<4xbf16>'}}
  %0:2 = reprise.rms_norm %x, %w {epsilon = 0.1 : f64} : (tensor<4x10xbf16>, tensor<10xbf16>) -> (tensor<4x10xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @groups_divide(%x: tensor<2x6x5xf32>, %w: tensor<6xf32>) {
  // expected-error@+2 {{'reprise.group_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected groups that divide 6 channels, got 4}}
  %0:3 = reprise.group_norm %x, %w, %w groups 4 {epsilon = 0.1 : f64} : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<2x6x5xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @no_groups(%x: tensor<2x6x5xf32>, %w: tensor<6xf32>) {
  // expected-error@+2 {{'reprise.group_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected groups that divide 6 channels, got 0}}
  %0:3 = reprise.group_norm %x, %w, %w groups 0 {epsilon = 0.1 : f64} : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<2x6x5xf32>, tensor<2x0xf32>, tensor<2x0xf32>)
  return
}

// -----

func.func @weight_per_channel(%x: tensor<2x6x5xf32>, %w: tensor<5xf32>) {
  // expected-error@+2 {{'reprise.group_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected values per channel of type 'tensor<6xf32>' but got 'tensor<5xf32>'}}
  %0:3 = reprise.group_norm %x, %w, %w groups 2 {epsilon = 0.1 : f64} : (tensor<2x6x5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<2x6x5xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @channels_are_a_dimension(%x: tensor<6xf32>) {
  // expected-error@+2 {{'reprise.batch_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected a non-empty operand [n, c, spatial…] but got 'tensor<6xf32>'}}
  %0:3 = reprise.batch_norm %x, %x, %x {epsilon = 0.1 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @no_samples(%x: tensor<0x6xf32>, %w: tensor<6xf32>) {
  // expected-error@+2 {{'reprise.batch_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected a non-empty operand [n, c, spatial…] but got 'tensor<0x6xf32>'}}
  %0:3 = reprise.batch_norm %x, %w, %w {epsilon = 0.1 : f64} : (tensor<0x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<0x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @batch_bias_per_channel(%x: tensor<2x6xf32>, %w: tensor<6xf32>, %b: tensor<2xf32>) {
  // expected-error@+2 {{'reprise.batch_norm' op failed to infer returned types}}
  // expected-error@+1 {{expected values per channel of type 'tensor<6xf32>' but got 'tensor<2xf32>'}}
  %0:3 = reprise.batch_norm %x, %w, %b {epsilon = 0.1 : f64} : (tensor<2x6xf32>, tensor<6xf32>, tensor<2xf32>) -> (tensor<2x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @one_element(%s: tensor<6xf32>) {
  // expected-error@+1 {{'reprise.batch_statistics' op expected a count of at least 2, since one element has no variance, but got 1}}
  %0:2 = reprise.batch_statistics %s, %s count 1 : tensor<6xf32>
  return
}

// -----

func.func @given_statistics_in_f32(%x: tensor<2x6xbf16>, %w: tensor<6xbf16>) {
  // expected-error@+2 {{'reprise.batch_norm_inference' op failed to infer returned types}}
  // expected-error@+1 {{expected values per channel of type 'tensor<6xf32>' but got 'tensor<6xbf16>'}}
  %0 = reprise.batch_norm_inference %x, %w, %w, %w, %w {epsilon = 0.1 : f64} : (tensor<2x6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<2x6xbf16>
  return
}
