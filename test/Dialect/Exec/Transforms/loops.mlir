// Loops of launches: carries have one buffer, rows lie in their stacks, and copies stand where one is needed.
// RUN: reprise-opt %s --exec-form-launches --exec-place-buffers --exec-verify-buffers | FileCheck %s

// The next carry takes the place of the old one, which its kernel reads last; the argument is copied first.
// CHECK-LABEL: reprise.program @carry devices [0] (
// CHECK-SAME: %[[X:[^:]*]]: tensor<64xf32>, %[[W:[^:]*]]: tensor<3x64xf32>
reprise.program @carry devices [0] (%x: tensor<64xf32>, %w: tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
  // CHECK: %[[C:.*]] = exec.launch (%{{.*}} = %[[X]])
  // CHECK: offsets = array<i64: [[CARRY:[0-9]+]]>
  // CHECK: %[[R:.*]]:2 = reprise.loop 3 (%[[OLD:.*]] = %[[C]]) over (%[[S:.*]] = %[[W]])
  // CHECK-NEXT: %[[N:.*]]:2 = exec.launch (%{{.*}} = %[[OLD]], %{{.*}} = %[[S]])
  // CHECK: offsets = array<i64: [[STACK:[0-9]+]], [[CARRY]]>
  // CHECK-NEXT: reprise.yield %[[N]]#1, %[[N]]#0
  // CHECK-NEXT: } {exec.offsets = array<i64: [[CARRY]], [[STACK]]>}
  %0:2 = reprise.loop 3 (%c = %x) over (%s = %w) : (tensor<64xf32>, tensor<3x64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %1 = reprise.mul %c, %s : tensor<64xf32>
    %2 = reprise.exp %1 : tensor<64xf32>
    reprise.yield %2, %1 : tensor<64xf32>, tensor<64xf32>
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  reprise.return %0#0, %0#1 : tensor<64xf32>, tensor<3x64xf32>
}

// Two carries that swap need a copy each of what they read, and one of them another at the end.
// CHECK-LABEL: reprise.program @swap devices [0] (
reprise.program @swap devices [0] (%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: reprise.loop 3 (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
  // CHECK-NEXT: %[[FROMB:.*]] = exec.launch (%{{.*}} = %[[B]])
  // CHECK: %[[FROMA:.*]] = exec.launch (%{{.*}} = %[[A]])
  // CHECK: %[[NEXTA:.*]] = exec.launch (%{{.*}} = %[[FROMB]])
  // CHECK-NOT: exec.launch
  // CHECK: reprise.yield %[[NEXTA]], %[[FROMA]]
  %0:2 = reprise.loop 3 (%a = %x, %b = %y) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    reprise.yield %b, %a : tensor<64xf32>, tensor<64xf32>
  }
  reprise.return %0#0 : tensor<64xf32>
}

// What is read from above lives until the loop ends, and a value of the body has one place for all iterations.
// CHECK-LABEL: reprise.program @above devices [0] (
reprise.program @above devices [0] (%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: %[[E:.*]] = exec.launch
  // CHECK: offsets = array<i64: [[ABOVE:[0-9]+]]>
  %e = reprise.exp %x : tensor<64x64xf32>
  // CHECK: reprise.loop 2
  %0 = reprise.loop 2 (%c = %x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    %i = reprise.loop 3 (%d = %c) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
      // CHECK: exec.launch
      // CHECK: offsets = array<i64: [[INNER:[0-9]+]]>
      // CHECK: exec.launch (%{{.*}} = %{{.*}}, %{{.*}} = %[[E]])
      %1 = reprise.dot_general %d, %d contracting [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = reprise.dot_general %1, %e contracting [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      reprise.yield %2 : tensor<64x64xf32>
    }
    reprise.yield %i : tensor<64x64xf32>
  }
  reprise.return %0 : tensor<64x64xf32>
}

// A carry is stacked before the next one takes its place: one copy, not two.
// CHECK-LABEL: reprise.program @stacked devices [0] (
reprise.program @stacked devices [0] (%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
  // CHECK: reprise.loop 3 (%[[OLD:.*]] = %{{.*}})
  // CHECK-NEXT: %[[ROW:.*]] = exec.launch (%{{.*}} = %[[OLD]])
  // CHECK: %[[NEXT:.*]] = exec.launch (%{{.*}} = %[[OLD]])
  // CHECK-NOT: exec.launch
  // CHECK: reprise.yield %[[NEXT]], %[[ROW]]
  %0:2 = reprise.loop 3 (%c = %x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<3x64xf32>) {
    %1 = reprise.exp %c : tensor<64xf32>
    reprise.yield %1, %c : tensor<64xf32>, tensor<64xf32>
  }
  reprise.return %0#0, %0#1 : tensor<64xf32>, tensor<3x64xf32>
}
