// A stage's passes over a micro-batch are one unit, which is replayed where the mode says so.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(pipe-label-pieces{checkpoint=except-last})" | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline="builtin.module(pipe-label-pieces{checkpoint=always})" | FileCheck %s --check-prefix=ALWAYS
// RUN: reprise-opt %s --pass-pipeline="builtin.module(pipe-label-pieces{checkpoint=never})" | FileCheck %s --check-prefix=NEVER

// What a policy has labelled stays so; a backward pass is of the unit of its forward pass; what stands around all
// passes is left alone.
// CHECK-LABEL: reprise.program @train
// CHECK: reprise.exp {{.*}}reprise.block = array<i64: 0>, reprise.label = {{.*}}prefer_recompute{{.*}}, reprise.rule = "--checkpoint=except-last"
// CHECK: reprise.neg {{.*}}reprise.block = array<i64: 0>, reprise.label = {{.*}}must_save
// CHECK: reprise.mul {{.*}} {reprise.block = array<i64: 0>}
// CHECK: reprise.exp {{.*}}reprise.block = array<i64: 2>, reprise.label = {{.*}}prefer_save
// CHECK: reprise.sub %arg0, %{{[0-9]*}} : tensor
// ALWAYS: reprise.exp {{.*}}prefer_recompute{{.*}}, reprise.rule = "--checkpoint=always"
// ALWAYS: reprise.exp {{.*}}prefer_recompute
// NEVER: reprise.exp {{.*}}prefer_save
// NEVER: reprise.exp {{.*}}prefer_save
pipe.schedule @order stages 2 microbatches 2 [0F0, 0F1, 0B0, 0B1] [1F0, 1B0, 1F1, 1B1]
reprise.program @train devices [0] (%w: tensor<4xf32>) -> tensor<4xf32> attributes {pipe.schedule = @order} {
  %0:2 = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32>, tensor<4xf32> {
    %a = reprise.exp %w : tensor<4xf32>
    %b = reprise.neg %a {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
    pipe.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  %1 = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.mul %0#0, %0#1 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  pipe.piece forward stage 0 microbatch 1 {
    %a = reprise.exp %w : tensor<4xf32>
  }
  %2 = pipe.piece after stage 0 -> tensor<4xf32> {
    %a = reprise.sub %w, %1 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  reprise.return %2 : tensor<4xf32>
}
