// Regions, names, differentiation and the attributes of an entry: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @block_without_yield() {
  // expected-error@+1 {{'reprise.block' op expected a body that ends in reprise.yield}}
  "reprise.block"() ({
    %0 = reprise.iota dim 0 : tensor<2xi32>
    return
  }) : () -> ()
  return
}

// -----

func.func @checkpoint_yields_its_results(%x: tensor<2xf32>) {
  %0 = reprise.checkpoint {
    // expected-error@+1 {{'reprise.yield' op expected operands of the types of the enclosing op's results}}
    reprise.yield
  } : tensor<2xf32>
  return
}

// -----

func.func @block_yields_its_types(%x: tensor<2xf32>) {
  %0 = reprise.block {
    // expected-error@+1 {{'reprise.yield' op expected operands of the types of the enclosing op's results}}
    reprise.yield %x : tensor<2xf32>
  } : tensor<2xf64>
  return
}

// -----

func.func @block_takes_no_arguments() {
  // expected-error@+1 {{'reprise.block' op region should have no arguments}}
  "reprise.block"() ({
  ^bb0(%x: tensor<2xf32>):
    reprise.yield
  }) : () -> ()
  return
}

// -----

func.func @block_has_one_block() {
  // expected-error@+1 {{'reprise.block' op expects region #0 to have 0 or 1 blocks}}
  "reprise.block"() ({
    reprise.yield
  ^bb1:
    reprise.yield
  }) : () -> ()
  return
}

// -----

func.func @block_has_a_body() {
  // expected-error@+1 {{'reprise.block' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "reprise.block"() ({
  }) : () -> ()
  return
}

// -----

func.func @yield_ends_no_function(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.yield' op cannot end a function; expected func.return}}
  reprise.yield %x : tensor<2xf32>
}

// -----

func.func @policy_is_a_name() {
  // expected-error@+1 {{'reprise.checkpoint' op attribute 'policy' failed to satisfy constraint: string attribute}}
  "reprise.checkpoint"() ({
    reprise.yield
  }) {policy = 3 : i64} : () -> ()
  return
}

// -----

func.func @name_keeps_the_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.name' op failed to verify that all of {operand, result} have same type}}
  %0 = "reprise.name"(%x) {name = "n"} : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @no_function(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op 'nothing' is not a function}}
  %0:2 = reprise.value_and_grad @nothing(%x) wrt [0] : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @operands(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected operands of the types of the function's arguments}}
  %0:4 = reprise.value_and_grad @loss(%x) wrt [0] : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @wrt_out_of_range(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected 'wrt' to list arguments of the function, got 2}}
  %0:4 = reprise.value_and_grad @loss(%x, %n) wrt [2] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @wrt_integers(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected floats to differentiate by, but argument 1 is 'tensor<2xi32>'}}
  %0:4 = reprise.value_and_grad @loss(%x, %n) wrt [1] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>, tensor<2xi32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @of_a_vector(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected result 1 of the function to be a scalar of floats}}
  %0:4 = reprise.value_and_grad @loss(%x, %n) wrt [0] of [1] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @of_an_integer(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected result 2 of the function to be a scalar of floats}}
  %0:4 = reprise.value_and_grad @loss(%x, %n) wrt [0] of [2] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @of_nothing(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected at least one result to differentiate}}
  %0:3 = reprise.value_and_grad @loss(%x, %n) wrt [0] of [] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)
  return
}

// -----

func.func private @loss(tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)

func.func @gradients_are_results(%x: tensor<2xf32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected the function's results and one gradient per 'wrt' argument: 'tensor<f32>', 'tensor<2xf32>', 'tensor<i32>', 'tensor<2xf32>'}}
  %0:3 = reprise.value_and_grad @loss(%x, %n) wrt [0] : (tensor<2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<i32>)
  return
}

// -----

func.func private @loss(tensor<f32>) -> tensor<f32>

func.func @symbol_and_body(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected a function or a body, not both}}
  %0:2 = "reprise.value_and_grad"(%x) ({
  ^bb0(%y: tensor<f32>):
    reprise.yield %y : tensor<f32>
  }) {callee = @loss, wrt = array<i64: 0>} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @neither(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected a function or a body}}
  %0:2 = "reprise.value_and_grad"(%x) ({
  }) {wrt = array<i64: 0>} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @body_without_yield(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected a body that ends in reprise.yield}}
  %0:2 = "reprise.value_and_grad"(%x) ({
  ^bb0(%y: tensor<f32>):
    "llvm.unreachable"() : () -> ()
  }) {wrt = array<i64: 0>} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @body_arguments(%x: tensor<f32>) {
  // expected-error@+1 {{'reprise.value_and_grad' op expected operands of the types of the function's arguments}}
  %0:2 = "reprise.value_and_grad"(%x) ({
  ^bb0(%y: tensor<f64>):
    reprise.yield %y : tensor<f64>
  }) {wrt = array<i64: 0>} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// expected-error@+1 {{expected 'reprise.role' to be "input", "parameter" or "state" (argument 0)}}
func.func @role(%x: tensor<2xf32> {reprise.role = "weight"}) {
  return
}

// -----

// expected-error@+1 {{expected a tensor<i64> of role "seed" (argument 0)}}
func.func @seed(%x: tensor<2xi64> {reprise.role = "seed"}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.name' to be a name (argument 0)}}
func.func @empty_name(%x: tensor<2xf32> {reprise.name = ""}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.batch_dim' to be a dimension of the argument (argument 0)}}
func.func @batch_dim(%x: tensor<2xf32> {reprise.batch_dim = 1 : i64}) {
  return
}

// -----

// expected-error@+1 {{expected an initializer for integers, such as #reprise.uniform_int (argument 0)}}
func.func @normal_integers(%x: tensor<2xi32> {reprise.init = #reprise.normal<0, 1>}) {
  return
}

// -----

// expected-error@+1 {{expected an initializer for floats, such as #reprise.normal (argument 0)}}
func.func @integer_floats(%x: tensor<2xf32> {reprise.init = #reprise.uniform_int<0, 5>}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.init' to be a #reprise initializer (argument 0)}}
func.func @no_initializer(%x: tensor<2xf32> {reprise.init = 3.0 : f32}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.rows' to be a range of rows and how many there are (argument 0)}}
func.func @rows(%x: tensor<2x3xf32> {reprise.rows = array<i64: 1, 2, 4>, reprise.whole = "w"}) {
  return
}

// -----

// expected-error@+1 {{unknown attribute 'reprise.shape'}}
func.func @unknown_attribute(%x: tensor<2xf32> {reprise.shape = 3 : i64}) {
  return
}

// -----

// expected-error@+1 {{expected a statically shaped tensor for an argument with reprise attributes (argument 0)}}
func.func @dynamic_argument(%x: tensor<?xf32> {reprise.role = "input"}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.role' on an argument of a function (result 0)}}
func.func @result_attributes(%x: tensor<2xf32>) -> (tensor<2xf32> {reprise.role = "input"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{expected a range [low, high) of 1 to 2^32 integers, got [5, 5)}}
func.func @initial_range(%x: tensor<2xi32> {reprise.init = #reprise.uniform_int<5, 5>}) {
  return
}

// -----

// expected-error@+1 {{expected ','}}
func.func @half_an_initializer(%x: tensor<2xf32> {reprise.init = #reprise.normal<0.5>}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.init' to be an integer of the argument's type (argument 0)}}
func.func @half(%x: tensor<2xi32> {reprise.init = #reprise.fill<0.5>}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.init' to be an integer of the argument's type (argument 0)}}
func.func @beyond_i32(%x: tensor<2xi32> {reprise.init = #reprise.fill<1.0e300>}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.init' to be an integer of the argument's type (argument 0)}}
func.func @no_bool(%x: tensor<2xi1> {reprise.init = #reprise.fill<2>}) {
  return
}

// -----

// expected-error@+1 {{expected 'reprise.init' to be a range of the argument's type (argument 0)}}
func.func @range_beyond_i32(%x: tensor<2xi32> {reprise.init = #reprise.uniform_int<0, 2147483649>}) {
  return
}

// -----

// expected-error@+1 {{expected an initializer for i1, such as #reprise.fill (argument 0)}}
func.func @drawn_bools(%x: tensor<2xi1> {reprise.init = #reprise.uniform_int<0, 2>}) {
  return
}

// -----

func.func @pause_of_other_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.pause' op expected results of the types of its late operands}}
  %0 = reprise.pause () then (%x) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @pause_in_a_loop(%x: tensor<2xf32>) {
  %0 = reprise.loop 2 (%c = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    // expected-error@+1 {{'reprise.pause' op stands in a loop, where a step cannot stop}}
    %1 = reprise.pause () then (%x) : (tensor<2xf32>) -> tensor<2xf32>
    reprise.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @rule_of_other_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_vjp' op expected results of the types of the primals}}
  %0 = reprise.custom_vjp %x wrt %x {
  ^bb0(%d: tensor<2xf32>):
    reprise.yield %d : tensor<2xf32>
  } : tensor<2xf32> wrt tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @rule_without_cotangents(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.custom_vjp' op expected a body with one cotangent per primal of floats: 'tensor<2xf32>'}}
  %0 = reprise.custom_vjp %x wrt %x {
    reprise.yield %x : tensor<2xf32>
  } : tensor<2xf32> wrt tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @rule_of_other_inputs(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  %0 = reprise.custom_vjp %x wrt %y {
  ^bb0(%d: tensor<2xf32>):
    // expected-error@+1 {{'reprise.yield' op expected cotangents of the types of the inputs: 'tensor<3xf32>'}}
    reprise.yield %d : tensor<2xf32>
  } : tensor<2xf32> wrt tensor<3xf32> -> tensor<2xf32>
  return
}
