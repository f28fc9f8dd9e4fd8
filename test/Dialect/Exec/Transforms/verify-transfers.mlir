// RUN: reprise-opt %s --exec-verify-buffers -split-input-file -verify-diagnostics

reprise.program @unplaced devices [0] () {
  // expected-error@below {{expected places of the results: run exec-place-buffers first}}
  %x, %arrived = exec.receive from @stage0 tag 1 : tensor<64xf32>
  exec.wait %arrived
  reprise.return
}

// -----

reprise.program @unstored devices [0] (%x: tensor<64xf32>) attributes {exec.arena_bytes = 0 : i64} {
  %0 = reprise.exp %x : tensor<64xf32>
  // expected-error@below {{reads a value that no launch before it has stored}}
  %sent = exec.send %0 to @stage1 tag 1 : tensor<64xf32>
  exec.wait %sent
  reprise.return
}

// -----

reprise.program @overwritten devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.arena_bytes = 256 : i64} {
  // expected-error@below {{the arena is wrong: buffer 0 (commands 0 to 3, bytes 0 to 256) overlaps buffer 1 (commands 2 to}}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %sent = exec.send %0 to @stage1 tag 1 : tensor<64xf32>
  // expected-note@below {{the other buffer}}
  %1 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  exec.wait %sent
  reprise.return %1 : tensor<64xf32>
}

// -----

reprise.program @early_reader devices [0] () -> tensor<64xf32> attributes {exec.arena_bytes = 512 : i64} {
  // expected-note@below {{the other command}}
  %0, %arrived = exec.receive from @stage0 tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<64xf32>
  // expected-error@below {{reads bytes that 'exec.receive' may still use: no wait is between them}}
  %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 256>}
  exec.wait %arrived
  reprise.return %1 : tensor<64xf32>
}

// -----

// The argument is overwritten while its old value is on its way.
reprise.program @state devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 0 : i64} {
  // expected-note@below {{a later reader of the old value}}
  %sent = exec.send %w to @stage1 tag 1 : tensor<64xf32>
  // expected-error@below {{argument 0 is overwritten before its last reader}}
  %1, %arrived = exec.receive from @stage0 tag 1 {arguments = array<i64: 0>, offsets = array<i64: 0>} : tensor<64xf32>
  exec.wait %sent
  exec.wait %arrived
  reprise.return %1 : tensor<64xf32>
}

// -----

reprise.program @late_send devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 256 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@below {{expected no launch after the copy}}
  exec.copy %0 into 0 : tensor<64xf32>
  // expected-note@below {{the launch}}
  %sent = exec.send %w to @stage1 tag 1 : tensor<64xf32>
  exec.wait %sent
  reprise.return %0 : tensor<64xf32>
}

// -----

// Stream 1 does not wait for what it reads.
reprise.program @streams devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.arena_bytes = 512 : i64} {
  // expected-note@below {{the other command}}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    exec.return %a : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@below {{reads bytes that 'exec.launch' may still use: no wait is between them}}
  %1 = exec.call "double"(%0) on 1 {arguments = array<i64: -1>, offsets = array<i64: 256>} : (tensor<64xf32>) -> tensor<64xf32>
  %called = exec.record on 1
  exec.wait %called
  reprise.return %1 : tensor<64xf32>
}

// -----

reprise.program @workspace devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.arena_bytes = 320 : i64} {
  // expected-error@below {{needs 64 bytes of scratch, and has 32}}
  %1 = exec.call "double"(%x) workspace 64 {arguments = array<i64: -1>, offsets = array<i64: 0>, scratch = array<i64: 256, 32>} : (tensor<64xf32>) -> tensor<64xf32>
  reprise.return %1 : tensor<64xf32>
}

// -----

// The workspace in the place of the result.
reprise.program @workspace devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.arena_bytes = 256 : i64} {
  // expected-error@+2 {{overlaps}}
  // expected-note@+1 {{the other buffer}}
  %1 = exec.call "double"(%x) workspace 64 {arguments = array<i64: -1>, offsets = array<i64: 0>, scratch = array<i64: 0, 64>} : (tensor<64xf32>) -> tensor<64xf32>
  reprise.return %1 : tensor<64xf32>
}

// -----

// Each row that arrives is a place of its own; the wait for it comes too late for the launch.
reprise.program @rows devices [0] () -> (tensor<3x64xf32>, tensor<3x64xf32>) attributes {exec.arena_bytes = 1536 : i64} {
  %l:2 = reprise.loop 3 () : () -> (tensor<3x64xf32>, tensor<3x64xf32>) {
    // expected-note@below {{the other command}}
    %0, %arrived = exec.receive from @stage1 tag 2 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<64xf32>
    // expected-error@below {{reads bytes that 'exec.receive' may still use: no wait is between them}}
    %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
      exec.return %a : tensor<64xf32>
    } {arguments = array<i64: -1>, offsets = array<i64: 768>}
    exec.wait %arrived
    reprise.yield %0, %1 : tensor<64xf32>, tensor<64xf32>
  } {exec.offsets = array<i64: 0, 768>}
  reprise.return %l#0, %l#1 : tensor<3x64xf32>, tensor<3x64xf32>
}

// -----

// The second part begins behind the first one.
reprise.program @part devices [0] () -> (tensor<32xf32>) attributes {exec.arena_bytes = 128 : i64} {
  %0, %first = exec.receive from @stage0 tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<16xf32>
  // expected-error@below {{result 0 lies elsewhere than the loop around it or the join behind it expects}}
  %1, %second = exec.receive from @stage0 tag 2 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<16xf32>
  exec.wait %first
  exec.wait %second
  %2 = exec.join %0, %1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  reprise.return %2 : tensor<32xf32>
}

// -----

// A join is in use from its first part on.
reprise.program @early devices [0] (%x: tensor<16xf32>) -> (tensor<32xf32>, tensor<16xf32>) attributes {exec.arena_bytes = 192 : i64} {
  %0, %first = exec.receive from @stage0 tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<16xf32>
  exec.wait %first
  // expected-error@below {{the arena is wrong: }}
  %y = exec.launch (%a = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    %r = reprise.exp %a : tensor<16xf32>
    exec.return %r : tensor<16xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  %1 = exec.launch (%a = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    exec.return %a : tensor<16xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  // expected-note@below {{the other buffer}}
  %2 = exec.join %0, %1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  reprise.return %2, %y : tensor<32xf32>, tensor<16xf32>
}
