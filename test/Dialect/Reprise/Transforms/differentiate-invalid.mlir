// RUN: reprise-opt --reprise-differentiate --split-input-file --verify-diagnostics %s

func.func @should_name_the_op_without_a_rule(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here}}
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    // expected-error @below {{cannot differentiate 'arith.negf'}}
    %a = arith.negf %p : tensor<f32>
    reprise.yield %a : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// Off the path to the scalar such an op does no harm.
func.func @should_accept_the_op_off_the_path(%x: tensor<f32>) -> tensor<f32> {
  %l:2, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %a = arith.negf %p : tensor<f32>
    %b = reprise.neg %p : tensor<f32>
    reprise.yield %b, %a : tensor<f32>, tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

func.func @should_ask_for_a_seed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{differentiated here}}
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    // expected-error @below {{expected a seed: random state is threaded before differentiation}}
    %a = reprise.dropout %p {rate = 0.5 : f32} : tensor<4xf32>
    %s = reprise.sum %a dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g : tensor<4xf32>
}

// -----

func.func @should_ask_for_flat_bodies(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here}}
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    // expected-error @below {{cannot differentiate 'reprise.block': regions are flattened before differentiation}}
    %a = reprise.block {
      %b = reprise.exp %p : tensor<f32>
      reprise.yield %b : tensor<f32>
    } : tensor<f32>
    reprise.yield %a : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

func.func @should_ask_for_explicit_broadcasts(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // expected-note @below {{differentiated here}}
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    // expected-error @below {{expected operands of the result's shape: broadcasts become ops before differentiation}}
    %a = reprise.mul %p, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %s = reprise.sum %a dims [0] : (tensor<4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g : tensor<4xf32>
}

// -----

func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %a = reprise.mul %x, %x : tensor<f32>
  return %a : tensor<f32>
}
func.func @should_ask_for_a_body(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expected a gradient with a body: functions are inlined before differentiation}}
  %l, %g = reprise.value_and_grad @square(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g : tensor<f32>
}

// -----

func.func @should_refuse_integers(%x: tensor<i32>) -> tensor<i32> {
  // expected-error @below {{expected floats to differentiate by, but argument 0 is 'tensor<i32>'}}
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<i32>) -> (tensor<f32>, tensor<i32>) {
    %a = reprise.cast %p : tensor<i32> to tensor<f32>
    reprise.yield %a : tensor<f32>
  }
  return %g : tensor<i32>
}
