// Which results a launch may store over which of its inputs: pairs in exec.in_place.
// RUN: reprise-opt %s -split-input-file --exec-form-nests=target=cpu:x86-64-v3 | FileCheck %s

// Every element is read by the step that stores results there.
// CHECK-LABEL: @elementwise
// CHECK: exec.in_place = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>
reprise.program @elementwise devices [0] (%x: tensor<70x33xf32>, %y: tensor<70x33xf32>, %s: tensor<f32>)
    -> (tensor<70x33xf32>, tensor<70x33xf32>) {
  %0:2 = exec.launch (%a = %x, %b = %y, %c = %s) : (tensor<70x33xf32>, tensor<70x33xf32>, tensor<f32>)
      -> (tensor<70x33xf32>, tensor<70x33xf32>) {
    %1 = reprise.mul %a, %b : tensor<70x33xf32>
    %2 = reprise.broadcast %c dims [] : (tensor<f32>) -> tensor<70x33xf32>
    %3 = reprise.add %1, %2 : tensor<70x33xf32>
    exec.return %1, %3 : tensor<70x33xf32>, tensor<70x33xf32>
  }
  reprise.return %0#0, %0#1 : tensor<70x33xf32>, tensor<70x33xf32>
}

// -----

// The exponentials are stored in the first pass over a row, and only that pass reads %a; only the last pass reads %b.
// CHECK-LABEL: @rows
// CHECK: exec.in_place = array<i64: 0, 0, 1, 0, 1, 1>
reprise.program @rows devices [0] (%x: tensor<40x70xf32>, %y: tensor<40x70xf32>) -> (tensor<40x70xf32>, tensor<40x70xf32>) {
  %0:2 = exec.launch (%a = %x, %b = %y) : (tensor<40x70xf32>, tensor<40x70xf32>) -> (tensor<40x70xf32>, tensor<40x70xf32>) {
    %1 = reprise.exp %a : tensor<40x70xf32>
    %2 = reprise.softmax %1 : tensor<40x70xf32>
    %3 = reprise.add %2, %b : tensor<40x70xf32>
    exec.return %1, %3 : tensor<40x70xf32>, tensor<40x70xf32>
  }
  reprise.return %0#0, %0#1 : tensor<40x70xf32>, tensor<40x70xf32>
}

// -----

// A moved element is read elsewhere than it is stored. Elements of another width lie elsewhere in the same bytes.
// CHECK-LABEL: @moved
// CHECK: exec.in_place = array<i64: 0, 1>
// CHECK: exec.launch
// CHECK-NOT: exec.in_place
// CHECK: reprise.return
reprise.program @moved devices [0] (%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %wide: tensor<2x64xbf16>)
    -> (tensor<8x8xf32>, tensor<64xf32>) {
  %0 = exec.launch (%a = %x, %b = %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
    %2 = reprise.transpose %a [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = reprise.add %2, %b : tensor<8x8xf32>
    exec.return %3 : tensor<8x8xf32>
  }
  %1 = exec.launch (%a = %wide) : (tensor<2x64xbf16>) -> tensor<64xf32> {
    %2 = reprise.slice %a from [0, 0] to [1, 64] by [1, 1] : (tensor<2x64xbf16>) -> tensor<1x64xbf16>
    %3 = reprise.reshape %2 : (tensor<1x64xbf16>) -> tensor<64xbf16>
    %4 = reprise.cast %3 : tensor<64xbf16> to tensor<64xf32>
    exec.return %4 : tensor<64xf32>
  }
  reprise.return %0, %1 : tensor<8x8xf32>, tensor<64xf32>
}

// -----

// A residual may be overwritten; the operands of a contraction and what is transposed may not.
// CHECK-LABEL: @residual
// CHECK: exec.in_place = array<i64: 0, 2>
reprise.program @residual devices [0] (%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %r: tensor<8x8xf32>, %t: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = exec.launch (%a = %x, %b = %w, %c = %r, %d = %t) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = reprise.dot_general %a, %b contracting [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = reprise.add %1, %c : tensor<8x8xf32>
    %3 = reprise.transpose %d [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = reprise.add %2, %3 : tensor<8x8xf32>
    exec.return %4 : tensor<8x8xf32>
  }
  reprise.return %0 : tensor<8x8xf32>
}

// -----

// A table is updated in its place, unless the launch reads it at other places, too.
// CHECK-LABEL: @updates
// CHECK: exec.launch
// CHECK: exec.in_place = array<i64: 0, 0>
// CHECK: exec.launch
// CHECK: exec.in_place = array<i64: 0, 0>
// CHECK: exec.launch
// CHECK-NOT: exec.in_place
// CHECK: exec.launch
// CHECK-NOT: exec.in_place
// CHECK: reprise.return
!t = tensor<6x4xf32>
reprise.program @updates devices [0] (%x: !t, %w: tensor<2x4xf32>, %at: tensor<2xi32>, %rows: tensor<6xi32>, %u: !t, %along: tensor<6x4xi32>)
    -> (!t, !t, !t, !t) {
  %0 = exec.launch (%a = %x, %b = %w, %c = %at) : (!t, tensor<2x4xf32>, tensor<2xi32>) -> !t {
    %4 = reprise.dynamic_update %b into %a at %c : (!t, tensor<2x4xf32>, tensor<2xi32>) -> !t
    exec.return %4 : !t
  }
  %1 = exec.launch (%a = %x, %b = %rows, %c = %u) : (!t, tensor<6xi32>, !t) -> !t {
    %4 = reprise.scatter %c into %a at %b : (!t, tensor<6xi32>, !t) -> !t
    exec.return %4 : !t
  }
  %2 = exec.launch (%a = %x, %b = %at) : (!t, tensor<2xi32>) -> !t {
    %4 = reprise.dynamic_update %a into %a at %b : (!t, !t, tensor<2xi32>) -> !t
    exec.return %4 : !t
  }
  %3 = exec.launch (%a = %along, %b = %x) : (tensor<6x4xi32>, !t) -> !t {
    %4 = reprise.scatter_add_along %b at %a : (tensor<6x4xi32>, !t) -> !t
    exec.return %4 : !t
  }
  reprise.return %0, %1, %2, %3 : !t, !t, !t, !t
}
