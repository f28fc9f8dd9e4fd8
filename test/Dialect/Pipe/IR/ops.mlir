// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK: module attributes {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 3, 5], makespan = 2.500000e-03 : f64, state = fits>, #pipe.cut<schedule = "gpipe", chunks = 1, units = [0, 2, 5], makespan = 3.000000e-03 : f64, state = refused>]
// CHECK-SAME: pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.000000e-01, 2.500000e-01], backward = [2.000000e+00, 5.000000e-01], weight = [0.000000e+00, 0.000000e+00], replay = [1.000000e-01, 0.000000e+00], from = [0], to = [1], there = [1.000000e-06], back = [1.000000e-06], buffers = 2>}
module attributes {
    pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 3, 5], makespan = 2.5e-03, state = fits>,
                 #pipe.cut<schedule = "gpipe", chunks = 1, units = [0, 2, 5], makespan = 3.0e-03, state = refused>],
    pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [0.1, 0.25],
        backward = [2.0, 0.5], weight = [0.0, 0.0], replay = [0.1, 0.0], from = [0], to = [1], there = [1.0e-06],
        back = [1.0e-06], buffers = 2>} {

// CHECK: pipe.schedule @order stages 2 microbatches 2
// CHECK-NEXT: [0F0, 0F1, 0B0, 0B1]
// CHECK-NEXT: [1F0, 1B0, 1F1, 1B1]
pipe.schedule @order stages 2 microbatches 2 [0F0, 0F1, 0B0, 0B1] [1F0, 1B0, 1F1, 1B1]

// Gradients of weights apart, a gradient of a gradient, two stages on each device of a vee.
// CHECK: pipe.schedule @vee stages 4 microbatches 1 rounds 2
// CHECK-NEXT: [0F0, 3F0, 3I0, 3W0, 0I0, 0W0]
// CHECK-NEXT: [1F0, 2F0, 2I0, 1I0, 2W0, 1W0]
pipe.schedule @vee stages 4 microbatches 1 rounds 2 [0F0, 3F0, 3I0, 3W0, 0I0, 0W0] [1F0, 2F0, 2I0, 1I0, 2W0, 1W0]

// CHECK-LABEL: reprise.program @batch
// CHECK: %[[A:.*]] = pipe.slice %arg0 microbatch 0 of 2 dim 0 : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK: %[[B:.*]] = pipe.slice %arg0 microbatch 1 of 2 dim 0 : tensor<5x4xf32> -> tensor<2x4xf32>
// CHECK: pipe.slice %arg1 microbatch 1 of 2 dim 1 rows 3 : tensor<2x15xf32> -> tensor<2x6xf32>
// CHECK: pipe.accumulate %{{.*}}, %{{.*}} microbatch 1 : tensor<4xf32>
// CHECK: pipe.merge %{{.*}}, %{{.*}} lanes 4 to 6 to 7 : tensor<4xf32>
reprise.program @batch devices [0] (%x: tensor<5x4xf32>, %y: tensor<2x15xf32>) -> tensor<4xf32> {
  %0 = pipe.slice %x microbatch 0 of 2 dim 0 : tensor<5x4xf32> -> tensor<3x4xf32>
  %1 = pipe.slice %x microbatch 1 of 2 dim 0 : tensor<5x4xf32> -> tensor<2x4xf32>
  %2 = pipe.slice %y microbatch 1 of 2 dim 1 rows 3 : tensor<2x15xf32> -> tensor<2x6xf32>
  %3 = reprise.sum %0 dims [0] : (tensor<3x4xf32>) -> tensor<4xf32>
  %4 = reprise.sum %1 dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
  %5 = pipe.accumulate %3, %4 microbatch 1 : tensor<4xf32>
  %6 = pipe.merge %5, %4 lanes 4 to 6 to 7 : tensor<4xf32>
  reprise.return %6 : tensor<4xf32>
}

// CHECK-LABEL: reprise.program @pieces
// CHECK-SAME: {pipe.home = 0 : i64}
// CHECK-SAME: attributes {pipe.schedule = @order}
// CHECK: %[[H:.*]] = pipe.piece before stage 0 -> tensor<4xf32> {
// CHECK-NEXT: %[[E:.*]] = reprise.exp
// CHECK-NEXT: pipe.yield %[[E]] : tensor<4xf32>
// CHECK-NEXT: }
// CHECK: %[[F:.*]]:2 = pipe.piece forward stage 0 microbatch 1 -> tensor<4xf32>, tensor<4xf32> {
// CHECK: pipe.piece backward stage 1 microbatch 1 {
// CHECK-NEXT: }
// CHECK: pipe.piece after stage 1 -> tensor<4xf32> {
reprise.program @pieces devices [0] (%x: tensor<4xf32> {pipe.home = 0 : i64}) -> tensor<4xf32> attributes {pipe.schedule = @order} {
  %0 = pipe.piece before stage 0 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  %1:2 = pipe.piece forward stage 0 microbatch 1 -> tensor<4xf32>, tensor<4xf32> {
    %a = reprise.neg %0 : tensor<4xf32>
    pipe.yield %a, %0 : tensor<4xf32>, tensor<4xf32>
  }
  pipe.piece backward stage 1 microbatch 1 {
  }
  %2 = pipe.piece after stage 1 -> tensor<4xf32> {
    %a = reprise.neg %1#1 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  reprise.return %2 : tensor<4xf32>
}

// The second round of a derivative goes up and down once more.
// CHECK-LABEL: reprise.program @rounds
// CHECK: pipe.piece backward stage 3 microbatch 0 {
// CHECK: pipe.piece forward stage 0 microbatch 0 round 1 {
// CHECK: pipe.piece weight stage 2 microbatch 0 round 1 {
reprise.program @rounds devices [0] () attributes {pipe.schedule = @vee} {
  pipe.piece backward stage 3 microbatch 0 {
  }
  pipe.piece forward stage 0 microbatch 0 round 1 {
  }
  pipe.piece weight stage 2 microbatch 0 round 1 {
  }
  reprise.return
}

// Device programs: pieces in the order of their row.
// CHECK-LABEL: reprise.program @step_0
// CHECK: pipe.send %arg0 as 0 to @step_1 : tensor<4xf32>
// CHECK: pipe.receive 7 from @step_1 : tensor<4xf32>
reprise.program @step_0 devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> attributes {reprise.entry = "step", pipe.schedule = @order} {
  pipe.send %x as 0 to @step_1 : tensor<4xf32>
  pipe.piece forward stage 0 microbatch 0 {
  }
  pipe.piece forward stage 0 microbatch 1 {
  }
  %0 = pipe.receive 7 from @step_1 : tensor<4xf32>
  reprise.return %0 : tensor<4xf32>
}
reprise.program @step_1 devices [1] () attributes {reprise.entry = "step", pipe.schedule = @order} {
  %0 = pipe.receive 0 from @step_0 : tensor<4xf32>
  pipe.send %0 as 7 to @step_0 : tensor<4xf32>
  reprise.return
}

// Two replicas run the rows over their own micro-batches; an op behind all passes has a replica of its own.
// CHECK: pipe.schedule @shared stages 1 microbatches 4 replicas 2
// CHECK-NEXT: [0F0, 0B0, 0F1, 0B1]
pipe.schedule @shared stages 1 microbatches 4 replicas 2
  [0F0, 0B0, 0F1, 0B1]
// CHECK-LABEL: reprise.program @replicas
// CHECK-SAME: {pipe.home = 0 : i64, pipe.replica = 1 : i64}
// CHECK: pipe.piece forward stage 0 replica 1 microbatch 2 {
// CHECK: pipe.piece after stage 0 replica 1 {
reprise.program @replicas devices [0] (%x: tensor<4xf32> {pipe.home = 0 : i64, pipe.replica = 1 : i64}) attributes {pipe.schedule = @shared} {
  pipe.piece forward stage 0 replica 1 microbatch 2 {
  }
  pipe.piece after stage 0 replica 1 {
  }
  reprise.return
}

}
