// Arguments are sent as often as other programs pull them.
// RUN: reprise-opt %s --exec-repeat-sends --exec-verify-programs | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline="builtin.module(exec-repeat-sends,reprise.program(exec-form-launches))" | FileCheck %s --check-prefix=FORMED
// RUN: not reprise-opt %s --exec-verify-programs 2>&1 | FileCheck %s --check-prefix=ONCE

// ONCE: error: no other program has the other side of 'reader' pulls 'tensor<4xf32>' from 'owner' with tag 0
// FORMED-LABEL: reprise.program @reader
// FORMED: %[[A:.*]], %[[EVENT:.*]] = exec.receive from @owner tag 0
// FORMED-NEXT: exec.wait %[[EVENT]]
// FORMED: exec.launch
// FORMED-NOT: reprise.pull

// The first argument is pulled three times, the second one no more; a plain transfer stays.
// CHECK-LABEL: reprise.program @owner
// CHECK-COUNT-3: exec.send %arg0 to @reader tag 0
// CHECK-NOT: exec.send %arg1
// CHECK: exec.send %{{.*}} to @reader tag 2
// CHECK-COUNT-4: exec.wait
// CHECK-NOT: exec.wait
// CHECK: reprise.return
reprise.program @owner devices [0] (%a: tensor<4xf32> {reprise.name = "a", reprise.role = "parameter"}, %b: tensor<4xf32> {reprise.name = "b", reprise.role = "parameter"}) -> (tensor<4xf32> {reprise.name = "c"}) {
  %0 = exec.send %a to @reader tag 0 : tensor<4xf32>
  %1 = exec.send %b to @reader tag 1 : tensor<4xf32>
  %c = reprise.add %a, %b : tensor<4xf32>
  %2 = exec.send %c to @reader tag 2 : tensor<4xf32>
  exec.wait %0
  exec.wait %1
  exec.wait %2
  reprise.return %c : tensor<4xf32>
}

// CHECK-LABEL: reprise.program @reader
reprise.program @reader devices [1] () -> (tensor<4xf32> {reprise.name = "d"}) {
  %c, %arrived = exec.receive from @owner tag 2 : tensor<4xf32>
  %0 = reprise.pull from @owner tag 0 : tensor<4xf32>
  %1 = reprise.pull from @owner tag 0 {replay = 1 : i64} : tensor<4xf32>
  %2 = reprise.pull from @owner tag 0 {replay = 2 : i64} : tensor<4xf32>
  exec.wait %arrived
  %3 = reprise.add %0, %1 : tensor<4xf32>
  %4 = reprise.add %3, %2 : tensor<4xf32>
  %d = reprise.add %4, %c : tensor<4xf32>
  reprise.return %d : tensor<4xf32>
}
