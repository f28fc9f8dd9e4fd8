// RUN: reprise-opt %s --exec-order-launches="within=310000" --split-input-file | FileCheck %s

// CHECK-LABEL: @moved
// CHECK-SAME: exec.launches_moved
// CHECK: reprise.sum
// CHECK: -> tensor<256x256xf32>
reprise.program @moved devices [0] (%x: tensor<32x32xf32> {reprise.name = "x"}, %w: tensor<32x256xf32> {reprise.name = "w"}) -> (tensor<256x256xf32> {reprise.name = "g"}, tensor<32xf32> {reprise.name = "y"}) {
  %0 = exec.launch (%a = %x, %b = %w) : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32> {
    %r = reprise.dot_general %a, %b contracting [1] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
    exec.return %r : tensor<32x256xf32>
  }
  %1 = exec.launch (%a = %x, %b = %w) : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32> {
    %r = reprise.dot_general %a, %b contracting [0] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
    exec.return %r : tensor<32x256xf32>
  }
  %2 = exec.launch (%a = %1, %b = %1) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32> {
    %r = reprise.dot_general %a, %b contracting [0] x [0] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
    exec.return %r : tensor<256x256xf32>
  }
  %3 = exec.launch (%a = %0) : (tensor<32x256xf32>) -> tensor<32xf32> {
    %r = reprise.sum %a dims [1] : (tensor<32x256xf32>) -> tensor<32xf32>
    exec.return %r : tensor<32xf32>
  }
  reprise.return %2, %3 : tensor<256x256xf32>, tensor<32xf32>
}

// -----

// Launches stay where they are between the events that were put around them.
// CHECK-LABEL: @kept
// CHECK-NOT: exec.launches_moved
// CHECK: exec.record
// CHECK: -> tensor<256x256xf32>
// CHECK: reprise.sum
reprise.program @kept devices [0] (%x: tensor<32x32xf32> {reprise.name = "x"}, %w: tensor<32x256xf32> {reprise.name = "w"}) -> (tensor<256x256xf32> {reprise.name = "g"}, tensor<32xf32> {reprise.name = "y"}) {
  %start = exec.record
  %0 = exec.launch (%a = %x, %b = %w) : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32> {
    %r = reprise.dot_general %a, %b contracting [1] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
    exec.return %r : tensor<32x256xf32>
  }
  %1 = exec.launch (%a = %x, %b = %w) : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32> {
    %r = reprise.dot_general %a, %b contracting [0] x [0] : (tensor<32x32xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
    exec.return %r : tensor<32x256xf32>
  }
  %2 = exec.launch (%a = %1, %b = %1) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32> {
    %r = reprise.dot_general %a, %b contracting [0] x [0] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
    exec.return %r : tensor<256x256xf32>
  }
  %3 = exec.launch (%a = %0) : (tensor<32x256xf32>) -> tensor<32xf32> {
    %r = reprise.sum %a dims [1] : (tensor<32x256xf32>) -> tensor<32xf32>
    exec.return %r : tensor<32xf32>
  }
  reprise.return %2, %3 : tensor<256x256xf32>, tensor<32xf32>
}
