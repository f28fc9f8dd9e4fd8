// What a step that pauses cannot have.
// RUN: reprise-opt %s --reprise-make-programs -split-input-file -verify-diagnostics

func.func @twice(%x: tensor<4xf32> {reprise.role = "input"}, %y: tensor<4xf32> {reprise.role = "input"}) {
  // expected-note@+1 {{the other one}}
  %0 = reprise.pause () then (%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{a step has one pause at most}}
  %1 = reprise.pause () then (%y) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @state(%x: tensor<4xf32> {reprise.role = "input"}, %y: tensor<4xf32> {reprise.role = "state"}) {
  // expected-error@+1 {{late value 1 is no input of the step}}
  %0:2 = reprise.pause () then (%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @made(%x: tensor<4xf32> {reprise.role = "input"}) {
  %0 = reprise.exp %x : tensor<4xf32>
  // expected-error@+1 {{late value 0 is no input of the step}}
  %1 = reprise.pause () then (%0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @read(%x: tensor<4xf32> {reprise.role = "input"}) -> tensor<4xf32> {
  // expected-note@+1 {{the other reader}}
  %0 = reprise.exp %x : tensor<4xf32>
  // expected-error@+1 {{late value 0 is read by another op, too}}
  %1 = reprise.pause (%0) then (%x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
