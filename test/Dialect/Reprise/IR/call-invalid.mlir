// Calls of functions of the host: what the verifier refuses.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @without_library(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected a callee such as "library:function", got "rfft"}}
  %0 = reprise.custom_call "rfft"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @without_function(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected a callee such as "library:function", got "torch:"}}
  %0 = reprise.custom_call "torch:"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @without_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected results: a call has no other effect}}
  reprise.custom_call "host:f"(%x) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @negative_seconds(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected finite seconds from 0 on, for the call and its derivatives}}
  %0 = reprise.custom_call "host:f"(%x) {seconds = array<f64: -1.0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_seconds(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected finite seconds from 0 on, for the call and its derivatives}}
  %0 = reprise.custom_call "host:f"(%x) {seconds = array<f64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @negative_workspace(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_call' op expected bytes of workspace from 0 on, for the call and its derivatives}}
  %0 = reprise.custom_call "host:f"(%x) {workspace = array<i64: 0, -8>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @other_types(%x: tensor<2xi16>) {
  // expected-error@+1 {{operand #0 must be variadic of statically shaped tensor of f32, f64, bf16, f16, i32, i64 or i1, but got 'tensor<2xi16>'}}
  %0 = reprise.custom_call "host:f"(%x) : (tensor<2xi16>) -> tensor<2xf32>
  return
}
