// Places around the pause of a step.
// RUN: reprise-opt %s --exec-verify-buffers -split-input-file -verify-diagnostics

reprise.program @late_before devices [0] (%g: tensor<8xf32> {reprise.name = "g"}) -> (tensor<8xf32> {reprise.name = "y"}) attributes {exec.arena_bytes = 32 : i64} {
  // expected-note@+1 {{the reader}}
  %0 = exec.launch (%a = %g) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{a late value is read before the pause}}
  %late = reprise.pause (%0) then (%g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @callers devices [0] (%x: tensor<8xf32> {reprise.name = "x"}, %o: tensor<8xf32> {reprise.name = "y"}) -> (tensor<8xf32> {reprise.name = "y"}, tensor<8xf32> {reprise.name = "z"}) attributes {exec.arena_bytes = 32 : i64} {
  // expected-error@+1 {{result 0 lies in an argument and is read after the pause, where arguments belong to the caller}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: 1>, offsets = array<i64: 0>}
  reprise.pause (%0) then () : (tensor<8xf32>) -> ()
  // expected-note@+1 {{the reader}}
  %1 = exec.launch (%a = %0) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.log %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  reprise.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

reprise.program @copied_too_early devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "z"}) attributes {exec.arena_bytes = 96 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{argument 0 is overwritten before its last reader}}
  exec.copy %0 into 0 : tensor<8xf32>
  reprise.pause (%0) then () : (tensor<8xf32>) -> ()
  // expected-note@+1 {{the reader}}
  %1 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.log %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  reprise.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
