// RUN: reprise-opt %s --exec-place-buffers --exec-verify-buffers -split-input-file | FileCheck %s

// What is sent lies alone until the wait: %1 may not take its place, %2 may.
// CHECK-LABEL: @send
// CHECK-SAME: exec.arena_bytes = 512
// CHECK: reprise.exp
// CHECK: offsets = array<i64: [[SENT:[0-9]+]]>
// CHECK: exec.send
// CHECK: reprise.log
// CHECK-NOT: offsets = array<i64: [[SENT]]>
// CHECK: exec.wait
// CHECK: reprise.tanh
// CHECK: offsets = array<i64: [[SENT]]>
reprise.program @send devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32> {reprise.name = "y"}, tensor<64xf32> {reprise.name = "z"}) {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  %sent = exec.send %0 to @stage1 tag 1 : tensor<64xf32>
  %1 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.log %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  exec.wait %sent
  %2 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.tanh %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  reprise.return %1, %2 : tensor<64xf32>, tensor<64xf32>
}

// -----

// A place is taken from where the receive begins.
// CHECK-LABEL: @receive
// CHECK-SAME: exec.arena_bytes = 512
reprise.program @receive devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32> {reprise.name = "y"}) {
  %1, %arrived = exec.receive from @stage0 tag 1 : tensor<64xf32>
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  exec.wait %arrived
  %2 = exec.launch (%a = %0, %b = %1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.add %a, %b : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  reprise.return %2 : tensor<64xf32>
}

// -----

// A next value arrives in the place of its argument, once the old value was read and sent.
// CHECK-LABEL: @state
// CHECK-SAME: exec.arena_bytes = 0
// CHECK: exec.receive from @stage0 tag 1 {arguments = array<i64: 0>, offsets = array<i64: 0>} : tensor<64xf32>
// CHECK-NOT: exec.copy
reprise.program @state devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "w"}) {
  %sent = exec.send %w to @stage0 tag 1 : tensor<64xf32>
  exec.wait %sent
  %1, %arrived = exec.receive from @stage0 tag 1 : tensor<64xf32>
  exec.wait %arrived
  reprise.return %1 : tensor<64xf32>
}

// -----

// The old value is still on its way: the next one waits in the arena.
// CHECK-LABEL: @late_state
// CHECK-SAME: exec.arena_bytes = 256
// CHECK: exec.receive from @stage0 tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<64xf32>
// CHECK: exec.copy %{{.*}} into 0
reprise.program @late_state devices [0] (%w: tensor<64xf32> {reprise.name = "w"}) -> (tensor<64xf32> {reprise.name = "w"}) {
  %sent = exec.send %w to @stage0 tag 1 : tensor<64xf32>
  %1, %arrived = exec.receive from @stage0 tag 1 : tensor<64xf32>
  exec.wait %sent
  exec.wait %arrived
  reprise.return %1 : tensor<64xf32>
}

// -----

// A call on a stream of its own uses its operand and its workspace until stream 0 waits for it.
// CHECK-LABEL: @call
// CHECK-SAME: exec.arena_bytes = 832
// CHECK: exec.call "double"(%{{.*}}) workspace 64 on 1 {{.*}}scratch = array<i64: {{[0-9]+}}, 64>
reprise.program @call devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32> {reprise.name = "y"}) {
  %0 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.exp %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  %made = exec.record
  exec.wait %made on 1
  %1 = exec.call "double"(%0) workspace 64 on 1 : (tensor<64xf32>) -> tensor<64xf32>
  %called = exec.record on 1
  %2 = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.log %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  exec.wait %called
  %3 = exec.launch (%a = %1, %b = %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.add %a, %b : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  }
  reprise.return %3 : tensor<64xf32>
}

// -----

// Rows are sent from a stack, and arrive in another one.
// CHECK-LABEL: @rows
// CHECK-SAME: exec.arena_bytes = 768
// CHECK: exec.receive from @stage1 tag 2 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<64xf32>
reprise.program @rows devices [0] (%w: tensor<3x64xf32>) -> (tensor<3x64xf32> {reprise.name = "y"}) {
  %l = reprise.loop 3 () over (%s = %w) : (tensor<3x64xf32>) -> tensor<3x64xf32> {
    %sent = exec.send %s to @stage1 tag 1 : tensor<64xf32>
    %1, %arrived = exec.receive from @stage1 tag 2 : tensor<64xf32>
    exec.wait %sent
    exec.wait %arrived
    reprise.yield %1 : tensor<64xf32>
  }
  reprise.return %l : tensor<3x64xf32>
}
