// RUN: reprise-opt %s --exec-verify-buffers -split-input-file -verify-diagnostics

// Good: %1 is stored in place of %0, which dies; %3 overwrites its argument, which only its own launch reads.
reprise.program @step devices [0] (%x: tensor<8x8xf32>, %w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "y"}, tensor<64xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 288 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = reprise.exp %a : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %1 = exec.launch (%a = %0) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = reprise.log %a : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %2 = exec.launch (%a = %1) : (tensor<8x8xf32>) -> tensor<8xf32> {
    %r = reprise.sum %a dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 256>}
  %3 = exec.launch (%a = %w) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: 1>, offsets = array<i64: 0>}
  reprise.return %2, %3 : tensor<8xf32>, tensor<64xf32>
}

// -----

reprise.program @overlap devices [0] (%x: tensor<8x8xf32>) -> tensor<8xf32> attributes {exec.arena_bytes = 256 : i64} {
  // expected-error@+1 {{the arena is wrong: buffer 0 (commands 0 to 1, bytes 0 to 256) overlaps buffer 1 (commands 1 to 2, bytes 64 to 96)}}
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = reprise.exp %a : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-note@+1 {{the other buffer}}
  %1 = exec.launch (%a = %0) : (tensor<8x8xf32>) -> tensor<8xf32> {
    %r = reprise.sum %a dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  reprise.return %1 : tensor<8xf32>
}

// -----

// Other elements of the input are read after the place of one is taken.
reprise.program @not_in_place devices [0] (%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {exec.arena_bytes = 256 : i64} {
  // expected-error@+1 {{overlaps}}
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = reprise.exp %a : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-note@+1 {{the other buffer}}
  %1 = exec.launch (%a = %0) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %t = reprise.transpose %a [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = reprise.log %t : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  reprise.return %1 : tensor<8x8xf32>
}

// -----

// The input of the second launch does not die there.
reprise.program @still_read devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {exec.arena_bytes = 512 : i64} {
  // expected-error@+1 {{overlaps}}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-note@+1 {{the other buffer}}
  %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.log %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  %2 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.tanh %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 256>}
  reprise.return %1, %2 : tensor<64xf32>, tensor<64xf32>
}

// -----

// One input gives its place to one result only.
reprise.program @both_in_place devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {exec.arena_bytes = 256 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+2 {{overlaps}}
  // expected-note@+1 {{the other buffer}}
  %1:2 = exec.launch (%a = %0) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %r = reprise.log %a : tensor<64xf32>
    %s = reprise.tanh %a : tensor<64xf32>
    exec.return %r, %s : tensor<64xf32>, tensor<64xf32>
  } {arguments = array<i64: -1, -1>, offsets = array<i64: 0, 0>}
  reprise.return %1#0, %1#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// expected-error@+1 {{the arena is wrong: the height is 256, not 192}}
reprise.program @height devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.arena_bytes = 192 : i64} {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  reprise.return %0 : tensor<64xf32>
}

// -----

reprise.program @unplaced devices [0] (%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error@+1 {{expected places of the results: run exec-place-buffers first}}
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  reprise.return %0 : tensor<64xf32>
}

// -----

reprise.program @late_reader devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "w"}, tensor<64xf32> {reprise.name = "y"}) attributes {exec.arena_bytes = 256 : i64} {
  // expected-error@+1 {{argument 0 is overwritten before its last reader}}
  %0 = exec.launch (%a = %w) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: 0>, offsets = array<i64: 0>}
  // expected-note@+1 {{a later reader of the old value}}
  %1 = exec.launch (%a = %w) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.log %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  reprise.return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

reprise.program @own_reader devices [0] (%w: tensor<8x8xf32> {reprise.name = "w"}) -> (tensor<8x8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 0 : i64} {
  // expected-error@+2 {{argument 0 is overwritten before its last reader}}
  // expected-note@+1 {{a later reader of the old value}}
  %0 = exec.launch (%a = %w) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %t = reprise.transpose %a [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = reprise.exp %t : tensor<8x8xf32>
    exec.return %r : tensor<8x8xf32>
  } {arguments = array<i64: 0>, offsets = array<i64: 0>}
  reprise.return %0 : tensor<8x8xf32>
}

// -----

reprise.program @other_value devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "y"}) attributes {exec.arena_bytes = 0 : i64} {
  // expected-error@+1 {{result 0 overwrites argument 0, but is not its next value}}
  %0 = exec.launch (%a = %w) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: 0>, offsets = array<i64: 0>}
  reprise.return %0 : tensor<64xf32>
}

// -----

reprise.program @other_type devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> tensor<8xf32> attributes {exec.arena_bytes = 0 : i64} {
  // expected-error@+1 {{result 0 overwrites no argument of its type}}
  %0 = exec.launch () : () -> tensor<8xf32> {
    %r = reprise.constant dense<1.0> : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: 0>, offsets = array<i64: 0>}
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @no_scratch devices [0] (%x: tensor<1x16x8x8xf32>, %f: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> attributes {exec.arena_bytes = 4096 : i64} {
  // expected-error@+1 {{needs 6,400 bytes of scratch, and has 0}}
  %0 = exec.launch (%a = %x, %b = %f) : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> {
    %c = reprise.convolution %a, %b strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    exec.return %c : tensor<1x16x8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  reprise.return %0 : tensor<1x16x8x8xf32>
}

// -----

reprise.program @scratch_on_a_result devices [0] (%x: tensor<1x16x8x8xf32>, %f: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> attributes {exec.arena_bytes = 8448 : i64} {
  // expected-error@+2 {{the arena is wrong}}
  // expected-note@+1 {{the other buffer}}
  %0 = exec.launch (%a = %x, %b = %f) : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> {
    %c = reprise.convolution %a, %b strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    exec.return %c : tensor<1x16x8x8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>, scratch = array<i64: 2048, 6400>}
  reprise.return %0 : tensor<1x16x8x8xf32>
}

// -----

// Good: the next value is copied when all launches have run.
reprise.program @copied devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 32 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  exec.copy %0 into 0 : tensor<8xf32>
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @not_copied devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 32 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{result 0 does not reach argument 0}}
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @copied_twice devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 32 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  exec.copy %0 into 0 : tensor<8xf32>
  // expected-error@+1 {{writes argument 0 a second time}}
  exec.copy %0 into 0 : tensor<8xf32>
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @copied_too_early devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "y"}) attributes {exec.arena_bytes = 96 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{expected no launch after the copy}}
  exec.copy %0 into 0 : tensor<8xf32>
  // expected-note@+1 {{the launch}}
  %1 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.log %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  reprise.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

reprise.program @copied_elsewhere devices [0] (%w: tensor<8xf32> {reprise.name = "w"}) -> (tensor<8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 32 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  // expected-error@+1 {{expected an argument of the value's type to copy to}}
  exec.copy %0 into 1 : tensor<8xf32>
  reprise.return %0 : tensor<8xf32>
}

// -----

// expected-error@+1 {{a copy writes argument 1, which no result replaces}}
reprise.program @copied_to_another devices [0] (%w: tensor<8xf32> {reprise.name = "w"}, %v: tensor<8xf32> {reprise.name = "v"}) -> (tensor<8xf32> {reprise.name = "w"}) attributes {exec.arena_bytes = 32 : i64} {
  %0 = exec.launch (%a = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 0>}
  exec.copy %0 into 0 : tensor<8xf32>
  exec.copy %0 into 1 : tensor<8xf32>
  reprise.return %0 : tensor<8xf32>
}

// -----

reprise.program @changed_places devices [0] (%w: tensor<8xf32> {reprise.name = "w"}, %v: tensor<8xf32> {reprise.name = "v"}) -> (tensor<8xf32> {reprise.name = "w"}, tensor<8xf32> {reprise.name = "v"}) attributes {exec.arena_bytes = 32 : i64} {
  // expected-error@+1 {{copies an argument, which the kernels phase stores first}}
  exec.copy %v into 0 : tensor<8xf32>
  exec.copy %w into 1 : tensor<8xf32>
  reprise.return %v, %w : tensor<8xf32>, tensor<8xf32>
}
