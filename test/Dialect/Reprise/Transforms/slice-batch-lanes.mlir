// Six micro-batches form lanes: a chain in each lane, and the tree of neighbours over lanes.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=6 lanes=3}))" | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=6 lanes=6}))" | FileCheck %s --check-prefixes=CHECK,SIX
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=6 lanes=1}))" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: not reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=6 lanes=4}))" 2>&1 | FileCheck %s --check-prefix=UNEQUAL

// The third lane has no neighbour of its size, and moves up. A block is added as soon as both halves are there.
// CHECK-LABEL: reprise.program @sum
// THREE: %[[L0:.*]] = pipe.accumulate %{{.*}}, %{{.*}} microbatch 1
// THREE: %[[L1:.*]] = pipe.accumulate %{{.*}}, %{{.*}} microbatch 3
// THREE: %[[L01:.*]] = pipe.merge %[[L0]], %[[L1]] lanes 0 to 1 to 2
// THREE: %[[L2:.*]] = pipe.accumulate %{{.*}}, %{{.*}} microbatch 5
// THREE: %[[ALL:.*]] = pipe.merge %[[L01]], %[[L2]] lanes 0 to 2 to 3
// THREE: return %[[ALL]]

// SIX-NOT: pipe.accumulate
// SIX: %[[L01:.*]] = pipe.merge %{{.*}}, %{{.*}} lanes 0 to 1 to 2
// SIX: %[[L23:.*]] = pipe.merge %{{.*}}, %{{.*}} lanes 2 to 3 to 4
// SIX: %[[L03:.*]] = pipe.merge %[[L01]], %[[L23]] lanes 0 to 2 to 4
// SIX: %[[L45:.*]] = pipe.merge %{{.*}}, %{{.*}} lanes 4 to 5 to 6
// SIX: pipe.merge %[[L03]], %[[L45]] lanes 0 to 4 to 6

// ONE-NOT: pipe.merge
// ONE-COUNT-5: pipe.accumulate

// UNEQUAL: error: expected lanes of equally many micro-batches, got 4 for 6 micro-batches
reprise.program @sum devices [0] (%x: tensor<7x3xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64}, %w: tensor<3x3xf32> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<3xf32> {reprise.name = "y"}) {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<7x3xf32>, tensor<3x3xf32>) -> tensor<7x3xf32>
  %1 = reprise.sum %0 dims [0] : (tensor<7x3xf32>) -> tensor<3xf32>
  reprise.return %1 : tensor<3xf32>
}

// A loop along the batch starts the first lane at the init of the program, and all others at zero.
// THREE-LABEL: reprise.program @groups
// THREE: %[[A:.*]] = reprise.loop 2 (%{{.*}} = %arg1) over
// THREE: %[[B:.*]] = reprise.loop 1 (%{{.*}} = %[[A]]) over
// THREE: %[[ZERO:.*]] = reprise.constant dense<0.000000e+00> : tensor<f32>
// THREE: %[[C:.*]] = reprise.loop 1 (%{{.*}} = %[[ZERO]]) over
// THREE: %[[D:.*]] = reprise.loop 1 (%{{.*}} = %[[C]]) over
// THREE: pipe.merge %[[B]], %[[D]] lanes 0 to 1 to 2
reprise.program @groups devices [0] (%x: tensor<7x3xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64}, %start: tensor<f32> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<f32> {reprise.name = "y"}) {
  %r = reprise.loop 7 (%c = %start) over (%row = %x) : (tensor<f32>, tensor<7x3xf32>) -> tensor<f32> {
    %0 = reprise.sum %row dims [0] : (tensor<3xf32>) -> tensor<f32>
    %1 = reprise.add %c, %0 : tensor<f32>
    reprise.yield %1 : tensor<f32>
  }
  reprise.return %r : tensor<f32>
}
