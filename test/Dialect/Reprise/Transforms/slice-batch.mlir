// The batch is cut into micro-batches: 5 samples into 3 and 2.
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=2},pipe-lower-microbatches,reprise-canonicalize,cse))" | FileCheck %s
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(reprise-slice-batch{microbatches=2}))" | FileCheck %s --check-prefix=PIPE

// Before they are lowered, slices and sums name their micro-batches.
// PIPE-LABEL: reprise.program @mean
// PIPE: pipe.slice %arg0 microbatch 0 of 2 dim 0 : tensor<5x2x3xf32> -> tensor<3x2x3xf32>
// PIPE: %[[S0:.*]] = reprise.sum
// PIPE: pipe.slice %arg0 microbatch 1 of 2 dim 0 : tensor<5x2x3xf32> -> tensor<2x2x3xf32>
// PIPE: %[[S1:.*]] = reprise.sum
// PIPE: pipe.accumulate %[[S0]], %[[S1]] microbatch 1 : tensor<f32>

// Rows run apart, a mean adds up as a sum, and is divided behind. A batch folded into another dimension is followed.
// CHECK-LABEL: reprise.program @mean
// CHECK-DAG: %[[N:.*]] = reprise.constant dense<3.000000e+01> : tensor<f32>
// CHECK: %[[X0:.*]] = reprise.slice %arg0 from [0, 0, 0] to [3, 2, 3]
// CHECK: %[[R0:.*]] = reprise.reshape %[[X0]] : (tensor<3x2x3xf32>) -> tensor<6x3xf32>
// CHECK: %[[Y0:.*]] = reprise.dot_general %[[R0]], %arg1 {{.*}} -> tensor<6x3xf32>
// CHECK: %[[S0:.*]] = reprise.sum %[[Y0]] dims [0, 1]
// CHECK: %[[X1:.*]] = reprise.slice %arg0 from [3, 0, 0] to [5, 2, 3]
// CHECK: %[[Y1:.*]] = reprise.dot_general {{.*}} -> tensor<4x3xf32>
// CHECK: %[[S1:.*]] = reprise.sum %[[Y1]] dims [0, 1]
// CHECK: %[[S:.*]] = reprise.add %[[S0]], %[[S1]]
// CHECK: %[[M:.*]] = reprise.div %[[S]], %[[N]]
// CHECK: return %[[M]]
reprise.program @mean devices [0] (%x: tensor<5x2x3xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                %w: tensor<3x3xf32> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<f32> {reprise.name = "loss"}) {
  %0 = reprise.reshape %x : (tensor<5x2x3xf32>) -> tensor<10x3xf32>
  %1 = reprise.dot_general %0, %w contracting [1] x [0] : (tensor<10x3xf32>, tensor<3x3xf32>) -> tensor<10x3xf32>
  %2 = reprise.mean %1 dims [0, 1] : (tensor<10x3xf32>) -> tensor<f32>
  reprise.return %2 : tensor<f32>
}

// Words belong to samples: the second mask begins at sample 3 of the global one. So does a draw that rows read.
// CHECK-LABEL: reprise.program @masks
// CHECK: %[[FROM3:.*]] = reprise.constant dense<[3, 0]>
// CHECK: reprise.dropout {{.*}} : tensor<3x4xf32>
// CHECK: reprise.dropout {{.*}} origin %[[FROM3]] {{.*}}global_shape = array<i64: 5, 4>{{.*}} : tensor<2x4xf32>
// CHECK: reprise.concatenate {{.*}} dim 0
reprise.program @masks devices [0] (%x: tensor<5x4xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                 %seed: tensor<i64> {reprise.role = "seed", reprise.name = "seed"},
                 %offset: tensor<i64> {reprise.role = "offset", reprise.name = "offset"}) -> (tensor<5x4xf32> {reprise.name = "y"}) {
  %0 = "reprise.dropout"(%x, %seed, %offset) <{rate = 5.000000e-01 : f64, stream = 0 : i64, global_shape = array<i64: 5, 4>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<5x4xf32>, tensor<i64>, tensor<i64>) -> tensor<5x4xf32>
  reprise.return %0 : tensor<5x4xf32>
}

// Rows that are returned twice are collected twice.
// CHECK-LABEL: reprise.program @twice
// CHECK: %[[A:.*]] = reprise.concatenate %[[R0:.*]], %[[R1:.*]] dim 1 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
// CHECK: return %[[A]], %[[A]]
reprise.program @twice devices [0] (%x: tensor<2x5xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 1 : i64}) -> (tensor<2x5xf32> {reprise.name = "a"}, tensor<2x5xf32> {reprise.name = "b"}) {
  %0 = reprise.exp %x : tensor<2x5xf32>
  reprise.return %0, %0 : tensor<2x5xf32>, tensor<2x5xf32>
}

// What is made of all rows of an input is sliced where another dimension is the batch: its operands are rows of the
// first one.
// CHECK-LABEL: reprise.program @transposed
// CHECK: %[[P:.*]] = reprise.reshape %{{.*}} : (tensor<2x2xf32>) -> tensor<4xf32>
// CHECK: reprise.slice %arg0 from [0] to [1]
// CHECK: reprise.slice %[[P]] from [0] to [2]
// CHECK: reprise.slice %[[P]] from [2] to [4]
reprise.program @transposed devices [0] (%x: tensor<2xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                      %y: tensor<2x2xf32> {reprise.role = "input", reprise.name = "y", reprise.batch_dim = 1 : i64}) -> (tensor<2x2xf32> {reprise.name = "z"}) {
  %0 = reprise.exp %y : tensor<2x2xf32>
  %1 = reprise.reshape %0 : (tensor<2x2xf32>) -> tensor<4xf32>
  %n = reprise.neg %1 : tensor<4xf32>
  %2 = reprise.reshape %n : (tensor<4xf32>) -> tensor<2x2xf32>
  %3 = reprise.broadcast %x dims [0] : (tensor<2xf32>) -> tensor<2x2xf32>
  %4 = reprise.mul %3, %2 : tensor<2x2xf32>
  reprise.return %4 : tensor<2x2xf32>
}

// A sum of 16-bit values adds up in f32 and is rounded once.
// CHECK-LABEL: reprise.program @narrow
// CHECK: reprise.sum {{.*}} (tensor<3x4xf32>) -> tensor<4xf32>
// CHECK: reprise.sum {{.*}} (tensor<2x4xf32>) -> tensor<4xf32>
// CHECK: %[[S:.*]] = reprise.add {{.*}} : tensor<4xf32>
// CHECK: reprise.cast %[[S]] : tensor<4xf32> to tensor<4xbf16>
reprise.program @narrow devices [0] (%x: tensor<5x4xbf16> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                  %w: tensor<5x4xbf16> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<4xbf16> {reprise.name = "y"}) {
  %p = reprise.mul %x, %w : tensor<5x4xbf16>
  %0 = reprise.sum %p dims [0] : (tensor<5x4xbf16>) -> tensor<4xbf16>
  reprise.return %0 : tensor<4xbf16>
}

// A contraction over the batch keeps its 16-bit operands, since it sums in f32 anyway.
// CHECK-LABEL: reprise.program @narrow_dot
// CHECK: reprise.dot_general {{.*}} : (tensor<3x4xbf16>, tensor<3x2xbf16>) -> tensor<4x2xf32>
// CHECK: reprise.dot_general {{.*}} : (tensor<2x4xbf16>, tensor<2x2xbf16>) -> tensor<4x2xf32>
// CHECK: reprise.cast %{{.*}} : tensor<4x2xf32> to tensor<4x2xbf16>
reprise.program @narrow_dot devices [0] (%x: tensor<5x4xbf16> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                  %y: tensor<5x2xbf16> {reprise.role = "input", reprise.name = "y", reprise.batch_dim = 0 : i64},
                  %w: tensor<4x4xbf16> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<4x2xbf16> {reprise.name = "v"}) {
  %p = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<5x4xbf16>, tensor<4x4xbf16>) -> tensor<5x4xbf16>
  %0 = reprise.dot_general %p, %y contracting [0] x [0] : (tensor<5x4xbf16>, tensor<5x2xbf16>) -> tensor<4x2xbf16>
  reprise.return %0 : tensor<4x2xbf16>
}

// What only inputs go into, such as the number of tokens that count, is made of the whole batch first.
// CHECK-LABEL: reprise.program @masked
// CHECK: %[[COUNT:.*]] = reprise.sum %arg1 dims [0] : (tensor<5xf32>) -> tensor<f32>
// CHECK: reprise.broadcast %[[COUNT]] dims [] : (tensor<f32>) -> tensor<3xf32>
// CHECK: reprise.broadcast %[[COUNT]] dims [] : (tensor<f32>) -> tensor<2xf32>
reprise.program @masked devices [0] (%x: tensor<5xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                  %mask: tensor<5xf32> {reprise.role = "input", reprise.name = "mask", reprise.batch_dim = 0 : i64},
                  %w: tensor<f32> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<f32> {reprise.name = "loss"}) {
  %n = reprise.sum %mask dims [0] : (tensor<5xf32>) -> tensor<f32>
  %all = reprise.broadcast %n dims [] : (tensor<f32>) -> tensor<5xf32>
  %ws = reprise.broadcast %w dims [] : (tensor<f32>) -> tensor<5xf32>
  %0 = reprise.mul %x, %mask : tensor<5xf32>
  %1 = reprise.mul %0, %ws : tensor<5xf32>
  %2 = reprise.div %1, %all : tensor<5xf32>
  %3 = reprise.sum %2 dims [0] : (tensor<5xf32>) -> tensor<f32>
  reprise.return %3 : tensor<f32>
}

// Statistics are those of a micro-batch, and a state goes from one to the next.
// CHECK-LABEL: reprise.program @statistics
// CHECK: %{{.*}}, %[[M0:.*]], %{{.*}} = reprise.batch_norm {{.*}}tensor<3x2x2xf32>
// CHECK: %[[A0:.*]] = reprise.add %arg3, %[[M0]]
// CHECK: %{{.*}}, %[[M1:.*]], %{{.*}} = reprise.batch_norm {{.*}}tensor<2x2x2xf32>
// CHECK: %[[A1:.*]] = reprise.add %[[A0]], %[[M1]]
// CHECK: return %{{.*}}, %[[A1]]
reprise.program @statistics devices [0] (%x: tensor<5x2x2xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                      %w: tensor<2xf32> {reprise.role = "parameter", reprise.name = "w"},
                      %b: tensor<2xf32> {reprise.role = "parameter", reprise.name = "b"},
                      %mean: tensor<2xf32> {reprise.role = "state", reprise.name = "mean"})
    -> (tensor<5x2x2xf32> {reprise.name = "y"}, tensor<2xf32> {reprise.name = "mean"}) {
  %y, %m, %v = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-05 : f64} : (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %next = reprise.add %mean, %m : tensor<2xf32>
  reprise.return %y, %next : tensor<5x2x2xf32>, tensor<2xf32>
}

// What they add to running ones has the count of the micro-batch: 6 and 4 elements.
// CHECK-LABEL: reprise.program @running
// CHECK-DAG: %[[N0:.*]] = reprise.constant dense<6.000000e+00>
// CHECK-DAG: %[[N1:.*]] = reprise.constant dense<4.000000e+00>
// CHECK-DAG: %[[L0:.*]] = reprise.constant dense<5.000000e+00>
// CHECK-DAG: %[[L1:.*]] = reprise.constant dense<3.000000e+00>
// CHECK: reprise.batch_norm {{.*}}tensor<3x2x2xf32>
// CHECK: %[[S0:.*]] = reprise.mul %{{.*}}, %[[N0]]
// CHECK: %[[V0:.*]] = reprise.div %[[S0]], %[[L0]]
// CHECK: %[[A0:.*]] = reprise.add %arg3, %[[V0]]
// CHECK: %[[S1:.*]] = reprise.mul %{{.*}}, %[[N1]]
// CHECK: %[[V1:.*]] = reprise.div %[[S1]], %[[L1]]
// CHECK: %[[A1:.*]] = reprise.add %[[A0]], %[[V1]]
// CHECK: return %{{.*}}, %[[A1]]
reprise.program @running devices [0] (%x: tensor<5x2x2xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                   %w: tensor<2xf32> {reprise.role = "parameter", reprise.name = "w"},
                   %b: tensor<2xf32> {reprise.role = "parameter", reprise.name = "b"},
                   %variance: tensor<2xf32> {reprise.role = "state", reprise.name = "variance"})
    -> (tensor<5x2x2xf32> {reprise.name = "y"}, tensor<2xf32> {reprise.name = "variance"}) {
  %y, %m, %v = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-05 : f64} : (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %wm, %wv = reprise.batch_statistics %m, %v count 10 : tensor<2xf32>
  %next = reprise.add %variance, %wv : tensor<2xf32>
  reprise.return %y, %next : tensor<5x2x2xf32>, tensor<2xf32>
}

// Deferred ones are those of the batch: d is how far the means are apart, and what reads them runs once.
// CHECK-LABEL: reprise.program @deferred
// CHECK-DAG: %[[A:.*]] = reprise.constant dense<6.000000e-01> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = reprise.constant dense<4.000000e-01> : tensor<2xf32>
// CHECK-DAG: %[[AB:.*]] = reprise.constant dense<2.400000e-01> : tensor<2xf32>
// CHECK-DAG: %[[N:.*]] = reprise.constant dense<1.000000e+01>
// CHECK-DAG: %[[L:.*]] = reprise.constant dense<9.000000e+00>
// CHECK: %{{.*}}, %[[M0:.*]], %[[V0:.*]] = reprise.batch_norm {{.*}}tensor<3x2x2xf32>
// CHECK: %{{.*}}, %[[M1:.*]], %[[V1:.*]] = reprise.batch_norm {{.*}}tensor<2x2x2xf32>
// CHECK: %[[D:.*]] = reprise.sub %[[M1]], %[[M0]]
// CHECK: %[[W0:.*]] = reprise.mul %[[V0]], %[[A]]
// CHECK: %[[W1:.*]] = reprise.mul %[[V1]], %[[B]]
// CHECK: %[[W:.*]] = reprise.add %[[W0]], %[[W1]]
// CHECK: %[[DD:.*]] = reprise.mul %[[D]], %[[D]]
// CHECK: %[[BETWEEN:.*]] = reprise.mul %[[DD]], %[[AB]]
// CHECK: %[[V:.*]] = reprise.add %[[W]], %[[BETWEEN]]
// CHECK: %[[DB:.*]] = reprise.mul %[[D]], %[[B]]
// CHECK: %[[M:.*]] = reprise.add %[[M0]], %[[DB]]
// CHECK: %[[S:.*]] = reprise.mul %[[V]], %[[N]]
// CHECK: %[[U:.*]] = reprise.div %[[S]], %[[L]]
// CHECK: %[[NM:.*]] = reprise.add %arg3, %[[M]]
// CHECK: %[[NV:.*]] = reprise.add %arg4, %[[U]]
// CHECK: return %{{.*}}, %[[NM]], %[[NV]]
reprise.program @deferred devices [0] (%x: tensor<5x2x2xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                    %w: tensor<2xf32> {reprise.role = "parameter", reprise.name = "w"},
                    %b: tensor<2xf32> {reprise.role = "parameter", reprise.name = "b"},
                    %mean: tensor<2xf32> {reprise.role = "state", reprise.name = "mean"},
                    %variance: tensor<2xf32> {reprise.role = "state", reprise.name = "variance"})
    -> (tensor<5x2x2xf32> {reprise.name = "y"}, tensor<2xf32> {reprise.name = "mean"}, tensor<2xf32> {reprise.name = "variance"}) {
  %y, %m, %v = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-05 : f64} : (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %wm, %wv = reprise.batch_statistics %m, %v count 10 deferred : tensor<2xf32>
  %nm = reprise.add %mean, %wm : tensor<2xf32>
  %nv = reprise.add %variance, %wv : tensor<2xf32>
  reprise.return %y, %nm, %nv : tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A sum over iterations goes on from what the micro-batch before added up; rows of a stack add up.
// CHECK-LABEL: reprise.program @loop
// CHECK: %[[L0:.*]]:2 = reprise.loop 4 (%{{.*}} = %[[ZERO:.*]]) over (%{{.*}} = %{{.*}}) : (tensor<f32>, tensor<4x3xf32>) -> (tensor<f32>, tensor<4xf32>)
// CHECK: %[[L1:.*]]:2 = reprise.loop 4 (%{{.*}} = %[[L0]]#0) over (%{{.*}} = %{{.*}}) : (tensor<f32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4xf32>)
// CHECK: %[[ROWS:.*]] = reprise.add %[[L0]]#1, %[[L1]]#1
// CHECK: return %[[L1]]#0, %[[ROWS]]
reprise.program @loop devices [0] (%x: tensor<4x5xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 1 : i64},
                %w: tensor<4xf32> {reprise.role = "parameter", reprise.name = "w"}) -> (tensor<f32> {reprise.name = "a"}, tensor<4xf32> {reprise.name = "b"}) {
  %zero = reprise.constant dense<0.0> : tensor<f32>
  %ws = reprise.broadcast %w dims [0] : (tensor<4xf32>) -> tensor<4x5xf32>
  %xs = reprise.mul %x, %ws : tensor<4x5xf32>
  %r:2 = reprise.loop 4 (%c = %zero) over (%row = %xs) : (tensor<f32>, tensor<4x5xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %s = reprise.sum %row dims [0] : (tensor<5xf32>) -> tensor<f32>
    %n = reprise.add %c, %s : tensor<f32>
    reprise.yield %n, %s : tensor<f32>, tensor<f32>
  }
  reprise.return %r#0, %r#1 : tensor<f32>, tensor<4xf32>
}

// A summand inside a loop may be moved, negated and widened: it is one of the sum behind the loop.
// CHECK-LABEL: reprise.program @moved_summands
// CHECK: %[[S0:.*]] = reprise.loop 4
// CHECK:   %[[D0:.*]] = reprise.cast %{{.*}} : tensor<2x3xf32> to tensor<2x3xbf16>
// CHECK:   %[[T0:.*]] = reprise.transpose %[[D0]] [1, 0]
// CHECK:   %[[N0:.*]] = reprise.neg %[[T0]]
// CHECK:   %[[C0:.*]] = reprise.cast %[[N0]] : tensor<3x2xbf16> to tensor<3x2xf32>
// CHECK:   reprise.reshape %[[C0]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK: %[[S1:.*]] = reprise.loop 4
// CHECK: %[[SUM:.*]] = reprise.add %[[S0]], %[[S1]] : tensor<4x6xf32>
// CHECK: return %[[SUM]]
reprise.program @moved_summands devices [0] (%x: tensor<5x2xbf16> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
    %y: tensor<4x5x3xbf16> {reprise.role = "input", reprise.name = "y", reprise.batch_dim = 1 : i64}) -> tensor<4x6xf32> {
  %r = reprise.loop 4 () over (%row = %y) : (tensor<4x5x3xbf16>) -> tensor<4x6xf32> {
    %d = reprise.dot_general %x, %row contracting [0] x [0] : (tensor<5x2xbf16>, tensor<5x3xbf16>) -> tensor<2x3xbf16>
    %t = reprise.transpose %d [1, 0] : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
    %n = reprise.neg %t : tensor<3x2xbf16>
    %c = reprise.cast %n : tensor<3x2xbf16> to tensor<3x2xf32>
    %f = reprise.reshape %c : (tensor<3x2xf32>) -> tensor<6xf32>
    reprise.yield %f : tensor<6xf32>
  }
  reprise.return %r : tensor<4x6xf32>
}

// A loop along the batch couples what it wants within an iteration: micro-batches share out its iterations, 3 and 2. What
// it captures is the same for all, sums over it go on, and a stack that is known as a whole is sliced.
// CHECK-LABEL: reprise.program @samples
// CHECK: %[[X0:.*]] = reprise.slice %arg0 from [0, 0] to [3, 4]
// CHECK: %[[K0:.*]] = reprise.slice %arg2 from [0] to [3]
// CHECK: %[[L0:.*]]:2 = reprise.loop 3 (%{{.*}} = %[[ZERO:.*]]) over (%{{.*}} = %[[X0]], %{{.*}} = %[[K0]]) : (tensor<4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: reprise.softmax
// CHECK: %[[L1:.*]]:2 = reprise.loop 2 (%{{.*}} = %[[L0]]#0) over (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2x4xf32>)
// CHECK: %[[Y:.*]] = reprise.concatenate %[[L0]]#1, %[[L1]]#1 dim 0
// CHECK: return %[[Y]], %[[L1]]#0
reprise.program @samples devices [0] (%x: tensor<5x4xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64},
                   %w: tensor<4xf32> {reprise.role = "parameter", reprise.name = "w"},
                   %k: tensor<5xf32> {reprise.role = "input", reprise.name = "k"}) -> (tensor<5x4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "sum"}) {
  %zero = reprise.constant dense<0.0> : tensor<4xf32>
  %r:2 = reprise.loop 5 (%c = %zero) over (%row = %x, %each = %k) : (tensor<4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
    %m = reprise.mul %row, %w : tensor<4xf32>
    %p = reprise.softmax %m : tensor<4xf32>
    %q = reprise.mul %p, %each : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %s = reprise.add %c, %q : tensor<4xf32>
    reprise.yield %s, %p : tensor<4xf32>, tensor<4xf32>
  }
  reprise.return %r#1, %r#0 : tensor<5x4xf32>, tensor<4xf32>
}
