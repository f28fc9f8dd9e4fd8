// Transfers begin and end beside the pieces.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(pipe-schedule-transfers)" | FileCheck %s
pipe.schedule @order stages 2 microbatches 3 [0F0, 0F1, 0F2, 0B0, 0B1, 0B2] [1F0, 1F1, 1F2, 1B0, 1B1, 1B2]

// A value leaves behind the piece that makes it. The third one waits until the other side has begun to receive the
// first one. What the backward pass reads begins to arrive a piece before.
// CHECK-LABEL: reprise.program @train_0
// CHECK: %[[F0:.*]] = pipe.piece forward stage 0 microbatch 0
// CHECK: %[[S0:.*]] = exec.send %[[F0]] to @train_1 tag 0 : tensor<4xf32>
// CHECK-NEXT: %[[F1:.*]] = pipe.piece forward stage 0 microbatch 1
// CHECK: %[[S1:.*]] = exec.send %[[F1]] to @train_1 tag 0
// CHECK-NEXT: %[[D:.*]], %[[E:.*]] = exec.receive from @train_1 tag 0 : tensor<4xf32>
// CHECK-NEXT: %[[F2:.*]] = pipe.piece forward stage 0 microbatch 2
// CHECK: exec.wait %[[S0]]
// CHECK-NEXT: %[[S2:.*]] = exec.send %[[F2]] to @train_1 tag 0
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: pipe.piece backward stage 0 microbatch 0
// CHECK-NEXT: reprise.neg %[[D]]
// CHECK: exec.wait %[[S1]]
// CHECK-NEXT: exec.wait %[[S2]]
// CHECK-NEXT: return
// CHECK-NOT: pipe.send
// CHECK-NOT: pipe.receive
reprise.program @train_0 devices [0] (%x: tensor<4xf32>) attributes {reprise.entry = "train", pipe.schedule = @order} {
  %f0 = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  pipe.send %f0 as 0 to @train_1 : tensor<4xf32>
  %f1 = pipe.piece forward stage 0 microbatch 1 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  pipe.send %f1 as 1 to @train_1 : tensor<4xf32>
  %f2 = pipe.piece forward stage 0 microbatch 2 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  pipe.send %f2 as 2 to @train_1 : tensor<4xf32>
  %d = pipe.receive 3 from @train_1 : tensor<4xf32>
  pipe.piece backward stage 0 microbatch 0 {
    %a = reprise.neg %d : tensor<4xf32>
  }
  reprise.return
}

// CHECK-LABEL: reprise.program @train_1
// CHECK: exec.receive from @train_0 tag 0
// CHECK-NEXT: exec.receive from @train_0 tag 0
// CHECK-NEXT: exec.wait
// CHECK-NEXT: pipe.piece forward stage 1 microbatch 0
reprise.program @train_1 devices [1] () attributes {reprise.entry = "train", pipe.schedule = @order} {
  %0 = pipe.receive 0 from @train_0 : tensor<4xf32>
  pipe.piece forward stage 1 microbatch 0 {
    %a = reprise.neg %0 : tensor<4xf32>
  }
  %1 = pipe.receive 1 from @train_0 : tensor<4xf32>
  pipe.piece forward stage 1 microbatch 1 {
    %a = reprise.neg %1 : tensor<4xf32>
  }
  %2 = pipe.receive 2 from @train_0 : tensor<4xf32>
  pipe.piece forward stage 1 microbatch 2 {
    %a = reprise.neg %2 : tensor<4xf32>
  }
  %3 = pipe.piece backward stage 1 microbatch 0 -> tensor<4xf32> {
    %a = reprise.neg %2 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  pipe.send %3 as 3 to @train_0 : tensor<4xf32>
  reprise.return
}

// -----

// A send that nobody receives.
pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @a devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-error @below {{no program receives the value}}
  pipe.send %x as 0 to @b : tensor<4xf32>
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  reprise.return
}

// -----

pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @a devices [0] () attributes {pipe.schedule = @order} {
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  // expected-error @below {{no program sends the value}}
  %0 = pipe.receive 0 from @a : tensor<4xf32>
  reprise.return
}

// -----

pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @a devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-note @below {{the other side}}
  pipe.send %x as 0 to @b : tensor<4xf32>
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  // expected-error @below {{the two sides differ in type}}
  %0 = pipe.receive 0 from @a : tensor<8xf32>
  reprise.return
}

// -----

pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @a devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-note @below {{the other one}}
  pipe.send %x as 0 to @b : tensor<4xf32>
  // expected-error @below {{another send has the same number}}
  pipe.send %x as 0 to @b : tensor<4xf32>
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  reprise.return
}

// -----

pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @a devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  pipe.send %x as 0 to @b : tensor<4xf32>
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  // expected-note @below {{the other one}}
  %0 = pipe.receive 0 from @a : tensor<4xf32>
  // expected-error @below {{another receive has the same number}}
  %1 = pipe.receive 0 from @a : tensor<4xf32>
  reprise.return
}

// -----

pipe.schedule @order stages 3 microbatches 1 [0F0, 0B0] [1F0, 1B0] [2F0, 2B0]
reprise.program @a devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-note @below {{the other side}}
  pipe.send %x as 0 to @b : tensor<4xf32>
  reprise.return
}
reprise.program @b devices [1] () attributes {pipe.schedule = @order} {
  reprise.return
}
reprise.program @c devices [2] () attributes {pipe.schedule = @order} {
  // expected-error @below {{the two sides name different programs}}
  %0 = pipe.receive 0 from @a : tensor<4xf32>
  reprise.return
}
