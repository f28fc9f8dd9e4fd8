// Pieces go to the programs of their devices in the order of the schedule, not in that of the step.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(pipe-split-stages)" | FileCheck %s
pipe.schedule @order stages 2 microbatches 2 [0F0, 0F1, 0B0, 0B1] [1F0, 1B0, 1F1, 1B1]

// Device 0 has the parameter, whose copy it sends, and its next value. What is made of no device's values is made where
// it is read.
// CHECK-LABEL: reprise.program @train_0
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {reprise.name = "x", reprise.position = 0 : i64, reprise.role = "input"}, %[[W:.*]]: tensor<4xf32> {reprise.name = "w", reprise.position = 1 : i64, reprise.role = "parameter"}) -> (tensor<4xf32> {reprise.name = "w", reprise.position = 1 : i64})
// CHECK-SAME: pipe.schedule = @order, reprise.entry = "train"
// CHECK-NEXT: pipe.send %[[W]] as 0 to @train_1
// CHECK-NEXT: %[[F0:.*]] = pipe.piece forward stage 0 microbatch 0
// CHECK: pipe.send %[[F0]] as 1 to @train_1
// CHECK-NEXT: %[[TWO:.*]] = reprise.constant
// CHECK-NEXT: %[[F1:.*]] = pipe.piece forward stage 0 microbatch 1
// CHECK-NEXT: reprise.mul %[[X]], %[[TWO]]
// CHECK: pipe.send %[[F1]] as 2 to @train_1
// CHECK-NEXT: %[[D0:.*]] = pipe.receive 3 from @train_1 : tensor<4xf32>
// CHECK-NEXT: %[[B0:.*]] = pipe.piece backward stage 0 microbatch 0
// CHECK-NEXT: reprise.neg %[[D0]]
// CHECK: %[[D1:.*]] = pipe.receive 4 from @train_1
// CHECK-NEXT: pipe.piece backward stage 0 microbatch 1
// CHECK-NEXT: reprise.add %[[B0]], %[[D1]]
// CHECK: pipe.piece after stage 0
// CHECK-NOT: pipe.send

// Device 1 returns what it makes of the last micro-batch; a value is received once.
// CHECK-LABEL: reprise.program @train_1
// CHECK-SAME: () -> (tensor<4xf32> {reprise.name = "y", reprise.position = 0 : i64})
// CHECK-NEXT: %[[COPY:.*]] = pipe.receive 0 from @train_0
// CHECK-NEXT: %[[A:.*]] = pipe.receive 1 from @train_0
// CHECK-NEXT: pipe.piece forward stage 1 microbatch 0
// CHECK-NEXT: reprise.mul %[[A]], %[[COPY]]
// CHECK: %[[G:.*]] = pipe.piece backward stage 1 microbatch 0
// CHECK: pipe.send %[[G]] as 3 to @train_0
// CHECK-NEXT: %[[B:.*]] = pipe.receive 2 from @train_0
// CHECK-NEXT: %[[Y:.*]] = pipe.piece forward stage 1 microbatch 1
// CHECK-NEXT: reprise.mul %[[B]], %[[COPY]]
// CHECK: pipe.send %{{.*}} as 4 to @train_0
// CHECK: return %[[Y]]
reprise.program @train devices [0] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"},
                 %w: tensor<4xf32> {pipe.home = 0 : i64, reprise.name = "w", reprise.role = "parameter"})
    -> (tensor<4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "w"}) attributes {pipe.schedule = @order} {
  %two = reprise.constant dense<2.0> : tensor<4xf32>
  %f00 = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.mul %x, %w : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %f10 = pipe.piece forward stage 1 microbatch 0 -> tensor<4xf32> {
    %a = reprise.mul %f00, %w : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %b10 = pipe.piece backward stage 1 microbatch 0 -> tensor<4xf32> {
    %a = reprise.neg %f10 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %b00 = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.neg %b10 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %f01 = pipe.piece forward stage 0 microbatch 1 -> tensor<4xf32> {
    %a = reprise.mul %x, %two : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %f11 = pipe.piece forward stage 1 microbatch 1 -> tensor<4xf32> {
    %a = reprise.mul %f01, %w : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %b11 = pipe.piece backward stage 1 microbatch 1 -> tensor<4xf32> {
    %a = reprise.neg %f11 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %b01 = pipe.piece backward stage 0 microbatch 1 -> tensor<4xf32> {
    %a = reprise.add %b00, %b11 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %next = pipe.piece after stage 0 -> tensor<4xf32> {
    %a = reprise.sub %w, %b01 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  reprise.return %f11, %next : tensor<4xf32>, tensor<4xf32>
}
