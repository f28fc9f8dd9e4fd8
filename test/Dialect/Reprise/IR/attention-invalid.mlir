// Attention: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @rank(%q: tensor<4x8xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<4x8xf32>', 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %0:2 = reprise.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rank_under_a_mask(%q: tensor<4x8xf32>, %mask: tensor<4x4xi1>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<4x8xf32>', 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %0:2 = reprise.attention %q, %q, %q mask %mask : tensor<4x4xi1> {scale = 1.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @depth(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x7xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x6x7xf32>' and 'tensor<2x3x6x7xf32>'}}
  %0:2 = reprise.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x7xf32>, tensor<2x3x6x7xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @key_and_value(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x5x8xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x6x8xf32>' and 'tensor<2x3x5x8xf32>'}}
  %0:2 = reprise.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x5x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @value_without_columns(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x0xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x6x8xf32>' and 'tensor<2x3x6x0xf32>'}}
  %0:2 = reprise.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x0xf32>) -> (tensor<2x3x4x0xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @out_as_wide_as_a_query(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x5xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.attention' op inferred type(s) 'tensor<2x3x4x5xf32>', 'tensor<2x3x4xf32>' are incompatible with return type(s) of operation 'tensor<2x3x4x8xf32>', 'tensor<2x3x4xf32>'}}
  %0:2 = reprise.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x5xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @dout_as_wide_as_a_query(%q: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x5xf32>, %lse: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.attention_backward' op expected out and dout of type 'tensor<2x3x4x5xf32>' and lse and dlse of type 'tensor<2x3x4xf32>'}}
  %0:3 = reprise.attention_backward %q, %q, %v, %v, %lse, %q {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x5xf32>)
  return
}

// -----

func.func @no_keys(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x0x8xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x0x8xf32>' and 'tensor<2x3x0x8xf32>'}}
  %0:2 = reprise.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x0x8xf32>, tensor<2x3x0x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @one_type(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xbf16>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x6x8xbf16>' and 'tensor<2x3x6x8xbf16>'}}
  %0:2 = reprise.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xbf16>, tensor<2x3x6x8xbf16>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @lse_in_f32(%q: tensor<2x3x4x8xbf16>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{'reprise.attention' op inferred type(s) 'tensor<2x3x4x8xbf16>', 'tensor<2x3x4xf32>' are incompatible with return type(s) of operation 'tensor<2x3x4x8xbf16>', 'tensor<2x3x4xbf16>'}}
  %0:2 = reprise.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x3x4x8xbf16>, tensor<2x3x4x8xbf16>, tensor<2x3x4x8xbf16>) -> (tensor<2x3x4x8xbf16>, tensor<2x3x4xbf16>)
  return
}

// -----

func.func @causal_needs_keys(%q: tensor<2x3x7x8xf32>, %k: tensor<2x3x6x8xf32>) {
  // expected-error@+1 {{'reprise.attention' op expected at least as many keys as queries under a causal mask, got 6 and 7}}
  %0:2 = reprise.attention %q, %k, %k {scale = 1.0 : f64, causal} : (tensor<2x3x7x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>) -> (tensor<2x3x7x8xf32>, tensor<2x3x7xf32>)
  return
}

// -----

func.func @scale_is_needed(%q: tensor<2x3x4x8xf32>) {
  // expected-error@+1 {{'reprise.attention' op requires attribute 'scale'}}
  %0:2 = reprise.attention %q, %q, %q : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @rate(%q: tensor<2x3x4x8xf32>) {
  // expected-error@+1 {{'reprise.attention' op expected a dropout rate in [0, 1), got 1.000000e+00}}
  %0:2 = reprise.attention %q, %q, %q {scale = 1.0 : f64, rate = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @stream(%q: tensor<2x3x4x8xf32>, %s: tensor<i64>) {
  // expected-error@+1 {{'reprise.attention' op expected a stream beside the seed}}
  %0:2 = reprise.attention %q, %q, %q seed %s offset %s {scale = 1.0 : f64, rate = 0.5 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @global_shape(%q: tensor<2x3x4x8xf32>, %s: tensor<i64>) {
  // expected-error@+1 {{'reprise.attention' op expected a global shape that contains the drawn one}}
  %0:2 = reprise.attention %q, %q, %q seed %s offset %s {scale = 1.0 : f64, rate = 0.5 : f64, stream = 0 : i64, global_shape = array<i64: 2, 3, 4, 3>} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @backward_shapes(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xf32>, %lse: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x3x4x8xf32>', 'tensor<2x3x6x8xf32>' and 'tensor<2x3x4x8xf32>'}}
  %0:3 = reprise.attention_backward %q, %k, %q, %q, %lse, %q {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>)
  return
}

// -----

func.func @backward_lse(%q: tensor<2x3x4x8xf32>, %lse: tensor<2x3x5xf32>) {
  // expected-error@+1 {{'reprise.attention_backward' op expected out and dout of type 'tensor<2x3x4x8xf32>' and lse and dlse of type 'tensor<2x3x4xf32>'}}
  %0:3 = reprise.attention_backward %q, %q, %q, %q, %lse, %q {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x5xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>)
  return
}

// -----

func.func @backward_results(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x6x8xf32>, %lse: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.attention_backward' op expected gradients of the operands' types}}
  %0:3 = reprise.attention_backward %q, %k, %k, %q, %lse, %q {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x4x8xf32>)
  return
}

// -----

func.func @backward_rate(%q: tensor<2x3x4x8xf32>, %lse: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.attention_backward' op expected a dropout rate in [0, 1), got -5.000000e-01}}
  %0:3 = reprise.attention_backward %q, %q, %q, %q, %lse, %q {scale = 1.0 : f64, rate = -0.5 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>)
  return
}

// -----

func.func @odd_depth(%x: tensor<2x4x7xf32>, %c: tensor<4x3xf32>) {
  // expected-error@+1 {{'reprise.rotary' op expected an operand [b…, t, d] with an even d but got 'tensor<2x4x7xf32>'}}
  %0 = reprise.rotary %x, %c, %c : tensor<2x4x7xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @rotary_rank(%x: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{'reprise.rotary' op expected an operand [b…, t, d] with an even d but got 'tensor<8xf32>'}}
  %0 = reprise.rotary %x, %c, %c : tensor<8xf32>, tensor<4xf32>
  return
}

// -----

func.func @tables_in_f32(%x: tensor<2x4x8xbf16>, %c: tensor<4x4xbf16>) {
  // expected-error@+1 {{'reprise.rotary' op expected cosine and sine of type 'tensor<4x4xf32>' but got 'tensor<4x4xbf16>'}}
  %0 = reprise.rotary %x, %c, %c : tensor<2x4x8xbf16>, tensor<4x4xbf16>
  return
}

// -----

func.func @heads_divide(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x6x8xf32>) {
  // expected-error@+2 {{'reprise.attention' op failed to infer returned types}}
  // expected-error@+1 {{expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] with g dividing h but got 'tensor<2x4x5x8xf32>', 'tensor<2x3x6x8xf32>' and 'tensor<2x3x6x8xf32>'}}
  %0:2 = reprise.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @bias_of_other_queries(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %b: tensor<2x4x4x6xf32>) {
  // expected-error@+1 {{'reprise.attention' op expected a bias [b or 1, h or 1, t or 1, s] of scores [2, 4, 5, 6] but got 'tensor<2x4x4x6xf32>'}}
  %0:2 = reprise.attention %q, %k, %k bias %b : tensor<2x4x4x6xf32> {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @bias_of_all_keys(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %b: tensor<2x4x5x1xf32>) {
  // expected-error@+1 {{'reprise.attention' op expected a bias [b or 1, h or 1, t or 1, s] of scores [2, 4, 5, 6] but got 'tensor<2x4x5x1xf32>'}}
  %0:2 = reprise.attention %q, %k, %k bias %b : tensor<2x4x5x1xf32> {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @bias_in_f32(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %b: tensor<2x4x5x6xf64>) {
  // expected-error@+1 {{'reprise.attention' op expected a bias of 'f32' but got 'tensor<2x4x5x6xf64>'}}
  %0:2 = reprise.attention %q, %k, %k bias %b : tensor<2x4x5x6xf64> {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @mask_of_three(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %m: tensor<4x5x6xi1>) {
  // expected-error@+1 {{'reprise.attention' op expected a mask [b or 1, h or 1, t or 1, s] of scores [2, 4, 5, 6] but got 'tensor<4x5x6xi1>'}}
  %0:2 = reprise.attention %q, %k, %k mask %m : tensor<4x5x6xi1> {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @mask_is_of_booleans(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %m: tensor<2x1x1x6xf32>) {
  // expected-error@+1 {{'reprise.attention' op operand #3 must be }}
  %0:2 = reprise.attention %q, %k, %k mask %m : tensor<2x1x1x6xf32> {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @dscore_of_key_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %lse: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'reprise.attention_backward' op expected a dscore of type 'tensor<2x4x5x6xf32>'}}
  %0:4 = reprise.attention_backward %q, %k, %k, %q, %lse, %q {scale = 1.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x5x6xf32>)
  return
}
