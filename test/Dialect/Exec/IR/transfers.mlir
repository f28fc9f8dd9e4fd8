// RUN: reprise-opt %s -split-input-file -verify-diagnostics | reprise-opt -split-input-file | FileCheck %s
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --emit-bytecode -o /dev/null

// CHECK-LABEL: @commands
// CHECK: %[[SENT:.*]] = exec.send %arg0 to @stage1 tag 3 : tensor<8xf32>
// CHECK: %[[X:.*]], %[[ARRIVED:.*]] = exec.receive from @stage1 tag 4 on 2 : tensor<8xf32>
// CHECK: exec.wait %[[SENT]]
// CHECK: %[[DONE:.*]] = exec.record on 2
// CHECK: exec.wait %[[DONE]] on 1
// CHECK: exec.call "gemm"(%[[X]], %arg0) workspace 64 on 1 {arguments = array<i64: -1>, offsets = array<i64: 0>, scratch = array<i64: 64, 64>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK: exec.call "nothing"() : () -> ()
// CHECK: exec.wait %[[ARRIVED]]
func.func @commands(%x: tensor<8xf32>) {
  %sent = exec.send %x to @stage1 tag 3 on 0 : tensor<8xf32>
  %y, %arrived = exec.receive from @stage1 tag 4 on 2 : tensor<8xf32>
  exec.wait %sent
  %done = exec.record on 2
  exec.wait %done on 1
  %z = exec.call "gemm"(%y, %x) workspace 64 on 1 {arguments = array<i64: -1>, offsets = array<i64: 0>, scratch = array<i64: 64, 64>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  exec.call "nothing"() : () -> ()
  exec.wait %arrived
  return
}

// -----

// CHECK-LABEL: @host
// CHECK: %[[H:.*]], %[[LEFT:.*]] = exec.offload %arg0 on 1 {place = 64 : i64} : tensor<8xf32>
// CHECK: %[[X:.*]], %[[THERE:.*]] = exec.fetch %[[H]] {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<8xf32>
func.func @host(%x: tensor<8xf32>) {
  %h, %left = exec.offload %x on 1 {place = 64 : i64} : tensor<8xf32>
  exec.wait %left
  %y, %there = exec.fetch %h {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<8xf32>
  exec.wait %there
  return
}

// -----

func.func @nobody_waits(%x: tensor<8xf32>) {
  // expected-error@below {{'exec.offload' op expected a wait for its event}}
  %h, %left = exec.offload %x : tensor<8xf32>
  return
}

// -----

func.func @nobody_waits(%x: tensor<8xf32>) {
  // expected-error@below {{'exec.send' op expected a wait for its event}}
  %sent = exec.send %x to @stage1 tag 3 : tensor<8xf32>
  return
}

// -----

func.func @nobody_waits() {
  // expected-error@below {{'exec.receive' op expected a wait for its event}}
  %x, %arrived = exec.receive from @stage1 tag 3 : tensor<8xf32>
  return
}

// -----

func.func @tag(%x: tensor<8xf32>) {
  // expected-error@below {{attribute 'tag' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 32767}}
  %sent = exec.send %x to @stage1 tag 32768 : tensor<8xf32>
  exec.wait %sent
  return
}

// -----

func.func @stream() {
  // expected-error@below {{attribute 'stream' failed to satisfy constraint}}
  %done = exec.record on 16
  return
}

// -----

func.func @function() {
  // expected-error@below {{expected the name of a function}}
  exec.call ""() : () -> ()
  return
}

// -----

func.func @places() {
  // expected-error@below {{expected one place per result}}
  %x, %arrived = exec.receive from @stage1 tag 3 {arguments = array<i64: -1, -1>, offsets = array<i64: 0, 0>} : tensor<8xf32>
  exec.wait %arrived
  return
}

// -----

func.func @given(%event: !exec.event) {
  // expected-error@below {{expected an event that a transfer or a record gives}}
  exec.wait %event
  return
}

// -----

func.func @iteration(%w: tensor<3x8xf32>) {
  // expected-note@below {{the event}}
  %done = exec.record
  reprise.loop 3 () over (%s = %w) : (tensor<3x8xf32>) -> () {
    // expected-error@below {{stands in another block than the op that gives its event}}
    exec.wait %done
    reprise.yield
  }
  return
}

// -----

// CHECK-LABEL: @join
// CHECK: exec.join %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
func.func @join() -> tensor<16xf32> {
  %0, %first = exec.receive from @stage1 tag 3 : tensor<8xf32>
  %1, %second = exec.receive from @stage1 tag 4 : tensor<8xf32>
  exec.wait %first
  exec.wait %second
  %2 = exec.join %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

func.func @missing(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0, %first = exec.receive from @stage1 tag 3 : tensor<8xf32>
  exec.wait %first
  // expected-error@below {{expected parts with all bytes of the result}}
  %1 = exec.join %0 : (tensor<8xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

func.func @argument(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{expected parts that commands of its block store, without other readers}}
  %0 = exec.join %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @types() -> tensor<8xf32> {
  %0, %first = exec.receive from @stage1 tag 3 : tensor<8xi32>
  exec.wait %first
  // expected-error@below {{expected parts of the result's element type}}
  %1 = exec.join %0 : (tensor<8xi32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
