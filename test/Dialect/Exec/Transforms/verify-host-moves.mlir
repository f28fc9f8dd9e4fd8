// RUN: reprise-opt %s --exec-verify-buffers -split-input-file -verify-diagnostics

reprise.program @unplaced devices [0] (%x: tensor<16xf32>) attributes {exec.arena_bytes = 0 : i64} {
  // expected-error@below {{expected a place on the host: run exec-place-buffers first}}
  %h, %left = exec.offload %x : tensor<16xf32>
  exec.wait %left
  reprise.return
}

// -----

reprise.program @two_in_one_place devices [0] (%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    attributes {exec.arena_bytes = 128 : i64, exec.host_bytes = 64 : i64} {
  // expected-error@below {{the memory of the host is wrong: buffer 0 (commands 0 to 6, bytes 0 to 64) overlaps buffer 1}}
  %h, %left = exec.offload %x {place = 0 : i64} : tensor<16xf32>
  exec.wait %left
  %g, %gone = exec.offload %y {place = 0 : i64} : tensor<16xf32>
  exec.wait %gone
  %b, %arrived = exec.fetch %g {arguments = array<i64: -1>, offsets = array<i64: 64>} : tensor<16xf32>
  %a, %there = exec.fetch %h {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<16xf32>
  exec.wait %there
  exec.wait %arrived
  reprise.return %a, %b : tensor<16xf32>, tensor<16xf32>
}

// -----

reprise.program @too_few_bytes devices [0] (%x: tensor<16xf32>) attributes {exec.arena_bytes = 0 : i64, exec.host_bytes = 64 : i64} {
  // expected-error@below {{the memory of the host is wrong}}
  %h, %left = exec.offload %x {place = 64 : i64} : tensor<16xf32>
  exec.wait %left
  reprise.return
}

// -----

// A fetch begins when the offload has ended.
reprise.program @too_early devices [0] (%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.arena_bytes = 64 : i64, exec.host_bytes = 64 : i64} {
  // expected-note@below {{the other command}}
  %h, %left = exec.offload %x {place = 0 : i64} : tensor<16xf32>
  // expected-error@below {{reads bytes that 'exec.offload' may still use: no wait is between them}}
  %a, %there = exec.fetch %h {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<16xf32>
  exec.wait %left
  exec.wait %there
  reprise.return %a : tensor<16xf32>
}

// -----

// The value is still on its way when its place is taken.
reprise.program @overwritten devices [0] (%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.arena_bytes = 64 : i64, exec.host_bytes = 64 : i64} {
  // expected-error@below {{the arena is wrong: buffer 0}}
  %0 = exec.launch (%a = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    exec.return %a : tensor<16xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %h, %left = exec.offload %0 {place = 0 : i64} : tensor<16xf32>
  // expected-note@below {{the other buffer}}
  %1 = exec.launch (%a = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    exec.return %a : tensor<16xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  exec.wait %left
  reprise.return %1 : tensor<16xf32>
}
