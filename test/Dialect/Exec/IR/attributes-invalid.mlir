// Attributes of command lists with another name, place or value than their table allows.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{unknown attribute 'exec.arena_byte', did you mean 'exec.arena_bytes'?}}
func.func @unknown() attributes {exec.arena_byte = 64 : i64} {
  return
}

// -----

// expected-error @below {{unknown attribute 'exec.color', expected one of exec.reported, exec.parts, }}
func.func @argument(%x: tensor<4xf32> {exec.color = 0 : i64}) {
  return
}

// -----

// expected-error @below {{expected 'exec.arena_bytes' on a function (result 0)}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {exec.arena_bytes = 64 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected 'exec.arena_bytes' to be an i64 from 0 to 2^62 - 1}}
func.func @arena_bytes() attributes {exec.arena_bytes = -64 : i64} {
  return
}

// -----

// expected-error @below {{expected 'exec.host_bytes' to be an i64 from 0 to 2^62 - 1}}
func.func @host_bytes() attributes {exec.host_bytes = "64"} {
  return
}

// -----

// expected-error @below {{expected 'exec.launches_moved' on a function}}
module attributes {exec.launches_moved} {
}

// -----

func.func @offsets(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'exec.offsets' to be an array of i64 from 0 to 2^62 - 1, one per result}}
  %0 = reprise.loop 2 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    reprise.yield %c : tensor<4xf32>
  } {exec.offsets = array<i64>}
  return
}

// -----

func.func @offsets_elsewhere(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'exec.offsets' on a loop}}
  %0 = reprise.exp %x {exec.offsets = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @reported(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'exec.reported' to be an i64 from 0 to 2^62 - 1, or on a launch an array of these}}
  %0 = reprise.exp %x {exec.reported = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @parts(%x: tensor<8xf32>) {
  // expected-error @below {{expected 'exec.parts' to be a unit attribute, or on a launch an array with 0, 1 or 2 for each op of the body}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.parts = array<i64: 3>}
  return
}

// -----

func.func @parts_beyond_the_body(%x: tensor<8xf32>) {
  // expected-error @below {{expected 'exec.parts' to be a unit attribute, or on a launch an array with 0, 1 or 2 for each op of the body}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.parts = array<i64: 0, 0>}
  return
}

// -----

// The attribute is verified before the body.
func.func @parts_without_a_body(%x: tensor<8xf32>) {
  // expected-error @below {{expected 'exec.parts' to be a unit attribute, or on a launch}}
  %0 = "exec.launch"(%x) {exec.parts = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @alignment(%x: tensor<8xf32>) {
  // expected-error @below {{expected 'exec.place_alignment' to be a power of two from 1 to 16 as i64}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    exec.return %a : tensor<8xf32>
  } {exec.place_alignment = 12 : i64}
  return
}

// -----

func.func @in_place(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'exec.in_place' to be an array of pairs of i64}}
  %0 = exec.launch (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    exec.return %a : tensor<4xf32>
  } {exec.in_place = array<i64: 0>}
  return
}
