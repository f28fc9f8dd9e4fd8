// RUN: reprise-opt %s --exec-verify-buffers -split-input-file -verify-diagnostics

// Good: the carry has one place, %1 lies in the stack, and %2 is stored where the old carry was read for the last time.
reprise.program @good devices [0] (%x: tensor<64xf32>, %w: tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) attributes {exec.arena_bytes = 1024 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %l:2 = reprise.loop 3 (%c = %0) over (%s = %w) : (tensor<64xf32>, tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %1 = exec.launch (%a = %c) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 256>}
    %2 = exec.launch (%a = %c, %b = %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.mul %a, %b : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  } {exec.offsets = array<i64: 0, 256>}
  reprise.return %l#0, %l#1 : tensor<64xf32>, tensor<3x64xf32>
}

// -----

reprise.program @late_reader devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) attributes {exec.arena_bytes = 1024 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{carry 0 is overwritten before its last reader}}
  %l:2 = reprise.loop 3 (%c = %0) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %2 = exec.launch (%a = %c) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    // expected-note@+1 {{a later reader of the old value}}
    %1 = exec.launch (%a = %c) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 256>}
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  } {exec.offsets = array<i64: 0, 256>}
  reprise.return %l#0, %l#1 : tensor<64xf32>, tensor<3x64xf32>
}

// -----

// A value of the body in the place of one that the next iteration still reads.
reprise.program @above devices [0] (%x: tensor<64xf32>) -> tensor<3x64xf32> attributes {exec.arena_bytes = 1280 : i64} {
  // expected-error@+1 {{overlaps}}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %l = reprise.loop 3 () : () -> tensor<3x64xf32> {
    %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 1024>}
    // expected-note@+1 {{the other buffer}}
    %2 = exec.launch (%a = %1) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    %3 = exec.launch (%a = %2) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 256>}
    reprise.yield %3 : tensor<64xf32>
  } {exec.offsets = array<i64: 256>}
  reprise.return %l : tensor<3x64xf32>
}

// -----

reprise.program @row_elsewhere devices [0] (%x: tensor<64xf32>) -> tensor<3x64xf32> attributes {exec.arena_bytes = 1024 : i64} {
  %l = reprise.loop 3 () : () -> tensor<3x64xf32> {
    // expected-error@+1 {{result 0 lies elsewhere than the loop around it or the join behind it expects}}
    %1 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 768>}
    reprise.yield %1 : tensor<64xf32>
  } {exec.offsets = array<i64: 0>}
  reprise.return %l : tensor<3x64xf32>
}

// -----

reprise.program @shared_start devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {exec.arena_bytes = 512 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{a carry starts in a buffer that others read}}
  %l = reprise.loop 3 (%c = %0) : (tensor<64xf32>) -> tensor<64xf32> {
    %1 = exec.launch (%a = %c) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    reprise.yield %1 : tensor<64xf32>
  } {exec.offsets = array<i64: 0>}
  reprise.return %0, %l : tensor<64xf32>, tensor<64xf32>
}

// -----

reprise.program @no_buffer devices [0] (%x: tensor<64xf32>) -> tensor<3x64xf32> attributes {exec.arena_bytes = 768 : i64} {
  // expected-error@+1 {{the body yields a value without a buffer of its own}}
  %l = reprise.loop 3 () : () -> tensor<3x64xf32> {
    reprise.yield %x : tensor<64xf32>
  } {exec.offsets = array<i64: 0>}
  reprise.return %l : tensor<3x64xf32>
}

// -----

reprise.program @no_places devices [0] () -> tensor<3x64xf32> attributes {exec.arena_bytes = 768 : i64} {
  // expected-error@+1 {{expected places of the results: run exec-place-buffers first}}
  %l = reprise.loop 3 () : () -> tensor<3x64xf32> {
    %1 = exec.launch () : () -> tensor<64xf32> {
      %r = reprise.iota dim 0 : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    reprise.yield %1 : tensor<64xf32>
  }
  reprise.return %l : tensor<3x64xf32>
}

// -----

// Good: the row is stored in the place of the slice behind its last reader.
reprise.program @rows_in_place devices [0] (%x: tensor<64xf32>, %w: tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) attributes {exec.arena_bytes = 1024 : i64} {
  %y = exec.launch (%a = %w) : (tensor<3x64xf32>) -> tensor<3x64xf32> {
    %r = reprise.exp %a : tensor<3x64xf32>
    exec.return %r : tensor<3x64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 768>}
  %l:2 = reprise.loop 3 (%c = %0) over (%s = %y) : (tensor<64xf32>, tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %2 = exec.launch (%a = %c, %b = %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.mul %a, %b : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 768>}
    %1 = exec.launch (%a = %s) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  } {exec.offsets = array<i64: 768, 0>}
  reprise.return %l#0, %l#1 : tensor<64xf32>, tensor<3x64xf32>
}

// -----

// The slice is read after its place was taken.
reprise.program @rows_too_early devices [0] (%x: tensor<64xf32>, %w: tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) attributes {exec.arena_bytes = 1024 : i64} {
  // expected-note@+1 {{the other buffer}}
  %y = exec.launch (%a = %w) : (tensor<3x64xf32>) -> tensor<3x64xf32> {
    %r = reprise.exp %a : tensor<3x64xf32>
    exec.return %r : tensor<3x64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 768>}
  // expected-error@+1 {{the arena is wrong}}
  %l:2 = reprise.loop 3 (%c = %0) over (%s = %y) : (tensor<64xf32>, tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %1 = exec.launch (%a = %s) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 0>}
    %2 = exec.launch (%a = %c, %b = %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.mul %a, %b : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 768>}
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  } {exec.offsets = array<i64: 768, 0>}
  reprise.return %l#0, %l#1 : tensor<64xf32>, tensor<3x64xf32>
}
