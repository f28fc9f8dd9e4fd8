// Attributes with another name, place or value than their table allows.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics
// RUN: not reprise-opt %s -split-input-file 2>&1 | FileCheck %s
// CHECK: attributes-invalid.mlir:{{.*}}: error: 'builtin.module' op unknown attribute 'reprise.blocks', did you mean 'reprise.block'?

// expected-error @below {{unknown attribute 'reprise.blocks', did you mean 'reprise.block'?}}
module attributes {reprise.blocks = array<i64: 0>} {
}

// -----

// expected-error @below {{expected 'reprise.label' on an op of a function}}
module attributes {reprise.label = #reprise.label<must_save>} {
}

// -----

// expected-error @below {{expected 'reprise.primal' on an op of a function}}
func.func @primal() attributes {reprise.primal} {
  return
}

// -----

// expected-error @below {{expected 'reprise.rule' on an op of a function}}
reprise.policy @rest attributes {reprise.rule = "op"} {
  reprise.rule prefer_recompute
}

// -----

// expected-error @below {{expected 'reprise.order' on an op of a function (argument 0)}}
func.func @argument(%x: tensor<4xf32> {reprise.order = 1 : i64}) {
  return
}

// -----

func.func @role(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.role' on an argument of a function}}
  %0 = reprise.exp %x {reprise.role = "input"} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{expected 'reprise.check' on a result of a function (argument 0)}}
func.func @check(%x: tensor<4xf32> {reprise.check = "exp"}) {
  return
}

// -----

// A declaration has no block.
// expected-error @below {{expected 'reprise.batch_dim' to be a dimension of the argument (argument 0)}}
func.func private @declared(tensor<4xf32> {reprise.batch_dim = 1 : i64})

// -----

// expected-error @below {{expected 'reprise.batch_dim' to be a dimension of the argument (argument 0)}}
func.func @wide(%x: tensor<4xf32> {reprise.batch_dim = 36893488147419103232 : i128}) {
  return
}

// -----

func.func @path(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.block' to be an array of i64 from 0 to 2^62 - 1}}
  %0 = reprise.exp %x {reprise.block = array<i64: 1, -1>} : tensor<4xf32>
  return
}

// -----

func.func @path_of_another_type(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.block' to be an array of i64 from 0 to 2^62 - 1}}
  %0 = reprise.exp %x {reprise.block = array<i32: 1>} : tensor<4xf32>
  return
}

// -----

func.func @order(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.order' to be an i64 from 0 to 2^62 - 1}}
  %0 = reprise.exp %x {reprise.order = -1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @order_of_another_type(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.order' to be an i64 from 0 to 2^62 - 1}}
  %0 = reprise.exp %x {reprise.order = 1 : ui64} : tensor<4xf32>
  return
}

// -----

func.func @cotangent(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.cotangent' to be a unit attribute}}
  %0 = reprise.exp %x {reprise.cotangent = true} : tensor<4xf32>
  return
}

// -----

// The largest i64 would be no key of a table.
func.func @id(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.id' to be an i64 from 0 to 2^62 - 1}}
  %0 = reprise.exp %x {reprise.id = 9223372036854775807 : i64} : tensor<4xf32>
  return
}

// -----

func.func @rule(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.rule' to be a string}}
  %0 = reprise.exp %x {reprise.rule} : tensor<4xf32>
  return
}

// -----

func.func @decisions(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.decisions' to be a #reprise.decision per result}}
  %0 = reprise.exp %x {reprise.decisions = [#reprise.decision<saved>, #reprise.decision<saved>]} : tensor<4xf32>
  return
}

// -----

func.func @reasons(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.reasons' to be a #reprise.reason or the name of a rule per result}}
  %0 = reprise.exp %x {reprise.reasons = [1]} : tensor<4xf32>
  return
}

// -----

func.func @names(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.names' to be a string per result}}
  %0 = reprise.exp %x {reprise.names = []} : tensor<4xf32>
  return
}

// -----

func.func @result_labels(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.result_labels' to be a #reprise.label or a unit attribute per result}}
  %0 = reprise.exp %x {reprise.result_labels = ["must_save"]} : tensor<4xf32>
  return
}

// -----

// Unrolling would read beyond the end of the list.
func.func @iterations(%x: tensor<4xf32>) {
  %0 = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 'reprise.iterations' to be dictionaries of labels and rules, one for each iteration of the loops around the op}}
    %1 = reprise.exp %c {reprise.iterations = [{reprise.label = #reprise.label<must_save>}]} : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @iterations_of_another_kind(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.iterations' to be dictionaries of labels and rules}}
  %0 = reprise.exp %x {reprise.iterations = [{reprise.label = "must_save"}]} : tensor<4xf32>
  return
}

// -----

func.func @stage(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.stage' to be an i64 from 0 to 2^20 - 1, or in a loop an array with an entry for each iteration of the outermost loop}}
  %0 = reprise.exp %x {reprise.stage = 1048576 : i64} : tensor<4xf32>
  return
}

// -----

func.func @stages(%x: tensor<4xf32>) {
  %0 = reprise.loop 3 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 'reprise.stage' to be an i64 from 0 to 2^20 - 1, or in a loop}}
    %1 = reprise.exp %c {reprise.stage = array<i64: 0, 1>} : tensor<4xf32>
    reprise.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_without_trip(%x: tensor<4xf32>) {
  // expected-error @below {{requires attribute 'trip'}}
  %0 = "reprise.loop"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%c: tensor<4xf32>):
    reprise.yield %c : tensor<4xf32>
  }) {reprise.stage = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// So many micro-batches would fill the memory.
func.func @microbatch(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.microbatch' to be an i64 from 0 to 2^20 - 1}}
  %0 = reprise.exp %x {reprise.microbatch = 4611686018427387903 : i64} : tensor<4xf32>
  return
}

// -----

func.func @copy(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.copy' on a cast}}
  %0 = reprise.exp %x {reprise.copy = 0 : i64} : tensor<4xf32>
  return
}

// -----

func.func @split(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'reprise.split' on a reshape}}
  %0 = reprise.exp %x {reprise.split} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{expected 'reprise.saved_bytes' to be an i64 from 0 to 2^62 - 1}}
func.func @saved_bytes() attributes {reprise.saved_bytes = -4 : i64} {
  return
}

// -----

// expected-error @below {{expected 'reprise.replayed_ops' to be an i64 from 0 to 2^62 - 1}}
func.func @replayed_ops() attributes {reprise.replayed_ops = 1.0 : f64} {
  return
}

// -----

// expected-error @below {{expected 'reprise.entry' to be the name of a function}}
func.func @entry() attributes {reprise.entry = ""} {
  return
}

// -----

// expected-error @below {{expected 'reprise.one_scope' on a function}}
module attributes {reprise.one_scope} {
}

// -----

// expected-error @+1 {{'func.func' op expected 'reprise.label' on an op of a function}}
func.func @label_on_function(%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.label = #reprise.label<must_save>} {
  return %x : tensor<4xf32>
}
